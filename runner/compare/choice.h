/* SPDX-License-Identifier: Apache-2.0
 *
 * A choice of NCCL's algorithm, protocol and channels, as recordings name it: "auto", "ring/LL128/ctas=8".
 */
#pragma once

#include <stdbool.h>

struct choice {
    int algo, proto; /* -1: NCCL's choice */
    int channels;    /* 0: NCCL's choice */
};

/* Names as in NVIDIA's example tuner and gradsync; case does not matter, and '-' equals '_'. -1:
 * unknown. */
int choice_algo(const char *name);
int choice_proto(const char *name);
const char *choice_algo_name(int algo);
const char *choice_proto_name(int proto);

/* "auto"; or parts joined by '/': an algorithm, a protocol, ctas=N. False: the text is not a choice. */
bool choice_parse(struct choice *c, const char *text);
