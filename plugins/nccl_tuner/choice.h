/* SPDX-License-Identifier: Apache-2.0
 *
 * A choice of algorithm, protocol and channels, or of how much to communicate; its text form, and
 * its effect on NCCL's cost table.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* How much of a collective to communicate: for the price of communication (plugins/price). */
enum choice_part { PART_ALL, PART_HALF, PART_ONE, PART_NONE };
#define CHOICE_PARTS 4

struct choice {
    int algo, proto; /* -1: NCCL's choice */
    int channels;    /* 0: NCCL's choice */
    int part;        /* enum choice_part; the tuner cannot change it */
};

/* What NCCL asks the tuner about, and the answer so far. */
struct call {
    int func;
    size_t bytes;
    int ranks;    /* of the communicator */
    float *costs; /* [algos][protos] */
    int algos, protos;
    int *channels;
};

/* Names as in NVIDIA's example tuner and gradsync; case does not matter, and '-' equals '_'. -1:
 * unknown. */
int choice_algo(const char *name);
int choice_proto(const char *name);
const char *choice_algo_name(int algo);
const char *choice_proto_name(int proto);
const char *choice_part_name(int part);

/* "auto"; or none, one or half, of the elements; or parts joined by '/': an algorithm, a protocol,
 * ctas=N. False: the text is not a choice. */
bool choice_parse(struct choice *c, const char *text);

/* Of the available pairs that the choice allows, makes the cheapest one the cheapest of the table,
 * and sets the channels of the choice, but never more than NCCL's own rule for a call of this size.
 * Calls on CollNet keep NCCL's number, because NCCL does not check it there. False, and no change,
 * if there is no pair. */
bool choice_limit(const struct choice *c, const struct call *call);
/* The pair that NCCL will take from the table: algorithm * NCCL_PROTOS + protocol; -1: none
 * that has a name here. */
int choice_taken(const struct call *call);
