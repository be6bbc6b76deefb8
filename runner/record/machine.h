/* SPDX-License-Identifier: Apache-2.0
 *
 * Where and with what a run was measured, from the header and the notes of its first recording.
 */
#pragma once

#include "base/text.h"

#include <stdbool.h>

enum machine_fact {
    FACT_RUN,
    FACT_PLATFORM,
    FACT_WORKLOAD,
    FACT_LABEL,
    FACT_STARTED,
    FACT_DATE,
    FACT_RANKS,
    FACT_NODES,
    FACT_HOST,
    FACT_CPU,
    FACT_CORES,
    FACT_KERNEL,
    FACT_GPU,
    FACT_UUID,
    FACT_DRIVER,
    FACT_CUDA,
    FACT_NCCL,
    FACT_CUBLAS,
    FACT_MPI,
    FACT_GRADSYNC,
    FACT_PLUGIN,
    FACT_COMMIT,
    MACHINE_FACTS
};
extern const char *const machine_facts[MACHINE_FACTS]; /* "platform", "gpu", … */

struct machine {
    char *facts[MACHINE_FACTS]; /* owned; NULL: the recording does not say */
    int files, launches;   /* recordings; launches that have one */
};

/* Names a log, a folder or a version of NCCL, which change nothing that it runs. */
bool machine_ignores(const char *name);

/* Reads no line behind these. GS_OK or reported; files is 0 when the folder has no line recorded
 * yet. */
int machine_of_run(struct machine *m, const char *dir);
void machine_free(struct machine *m);

/* "3 pairs of GPUs" if the launches of these runs were measured on several; the caller frees it. NULL:
 * on one, or unknown. */
char *machine_gpu_sets(const char *const *dirs, size_t n);
