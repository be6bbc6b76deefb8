/* SPDX-License-Identifier: Apache-2.0
 *
 * A choice of algorithm, protocol and channels, its text form, and its effect on NCCL's cost table.
 */
#ifndef GS_TUNER_CHOICE_H
#define GS_TUNER_CHOICE_H

#include <stdbool.h>
#include <stddef.h>

struct choice {
    int algo, proto; /* -1: NCCL's choice */
    int channels;    /* 0: NCCL's choice */
};

/* One question of NCCL: what it wants to run, and the answer so far. */
struct call {
    int func;
    size_t bytes;
    int pipe_ops, reg_buff; /* reg_buff -1: this NCCL does not say */
    int ranks, nodes;       /* of the communicator */
    float *costs;           /* [algos][protos] */
    int algos, protos;
    int *channels;
};

/* Names as NVIDIA's example tuner and gradsync write them; case and '-' against '_' do not matter.
 * -1: unknown. */
int choice_func(const char *name);
int choice_algo(const char *name);
int choice_proto(const char *name);
const char *choice_func_name(int func);
const char *choice_algo_name(int algo);
const char *choice_proto_name(int proto);

/* "auto", or parts joined by '/': an algorithm, a protocol, ctas=N. False: it is none. */
bool choice_parse(struct choice *c, const char *text);

/* Makes the cheapest available pair that the choice allows the cheapest of the table. False, and
 * nothing is changed, when the table has none. Channels are those of the choice. */
bool choice_apply(const struct choice *c, const struct call *call);
/* The same, but channels are never more than NCCL's own rule gives a call of this size, and calls
 * that will run on CollNet keep NCCL's, which does not check the number there. */
bool choice_limit(const struct choice *c, const struct call *call);
/* The pair that NCCL will take from the table: algorithm * NCCL_PROTOS + protocol; -1: none
 * that has a name here. */
int choice_taken(const struct call *call);

#endif
