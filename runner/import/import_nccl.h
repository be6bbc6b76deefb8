/* SPDX-License-Identifier: Apache-2.0
 *
 * What the readers of nccl-tests' text (import_nccl.c), of its rows and of its devices share.
 */
#ifndef GS_IMPORT_NCCL_H
#define GS_IMPORT_NCCL_H

#include "base/text.h"
#include "import/import.h"
#include "import/import_lines.h"
#include "import/import_table.h"

#define MIXED "the output of several processes is mixed in it"

struct nccl {
    struct import *imp;
    struct lines *in;
    char version[32], nccl[32], program[128]; /* said before the test that they are of */
    bool open;                                /* the last test has begun and not ended */
    struct table table;
    bool tabled;
    int64_t iters, max_B, step_B, step_factor; /* of the open test */
    int64_t ranks;                             /* a communicator, by its list of devices */
    int64_t size_B;                            /* of the last row; -1: none */
    char type[IMP_WORD], op[IMP_WORD];         /* of it */
    int64_t root;
    size_t short_row; /* the line of a row that lacks fields */
    bool bus;         /* some row has a bus bandwidth */
    bool moved;       /* some row has an algorithm bandwidth that must show in it */
    struct text carry;
};

static inline struct imp_test *nccl_test(const struct nccl *r)
{
    return &r->imp->tests[r->imp->n_tests - 1];
}

/* "0 Group 0 Pid …", behind "# Rank": a device of the open test. GS_OK or refused. */
int nccl_device(struct nccl *r, const char *s);
/* A line that looks like a row. GS_OK or refused. */
int nccl_row(struct nccl *r, const char *line);
/* The end of the open test, if one is. GS_OK or refused. */
int nccl_end(struct nccl *r, const char *rest);

#endif
