/* SPDX-License-Identifier: Apache-2.0
 *
 * A choice of NCCL's algorithm, protocol and channels, or of how much to communicate, as recordings name it:
 * "auto", "none", "ring/LL128/ctas=8".
 */
#pragma once

#include <stdbool.h>

/* How much of a collective to communicate. */
enum choice_part { PART_ALL, PART_HALF, PART_ONE, PART_NONE };
#define CHOICE_PARTS 4

struct choice {
    int algo, proto; /* -1: NCCL's choice */
    int channels;    /* 0: NCCL's choice */
    int part;        /* enum choice_part */
};

/* Names as in NVIDIA's example tuner and gradsync; case does not matter, and '-' equals '_'. -1:
 * unknown. */
int choice_algo(const char *name);
int choice_proto(const char *name);
const char *choice_algo_name(int algo);
const char *choice_proto_name(int proto);

/* "auto"; or none, one or half, of the elements; or parts joined by '/': an algorithm, a protocol,
 * ctas=N. False: the text is not a choice. */
bool choice_parse(struct choice *c, const char *text);
