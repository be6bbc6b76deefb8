/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes the operations of a list of layers, as DDP or FSDP issues them.
 */
#pragma once

#include "import/import_step.h"

enum layer_op { LINEAR, LINEAR_NOBIAS, MATMUL, NORM, KERNEL, EMBEDDING };

struct layer {
    enum layer_op op;
    unsigned unit;                           /* 0: the root of FSDP */
    struct step_number rows, in, out, count; /* out: a norm's parameters */
};

struct layers {
    enum step_dtype dtype, gradients;
    struct layer *v;
    size_t n, cap;
    unsigned units;
};

uint64_t layers_parameters(const struct layers *l);
/* The forward pass in the order of the layers, the backward pass in the reverse order. */
void layers_write_ddp(const struct layers *l, struct step_draft *d);
/* Each unit is gathered before its layers, while the one before it is computed. */
void layers_write_fsdp(const struct layers *l, struct step_draft *d);
