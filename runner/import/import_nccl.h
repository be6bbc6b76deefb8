/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads the text of nccl-tests: import_nccl.c its comments, import_nccl_rows.c its rows,
 * import_nccl_devices.c its lists of devices.
 */
#pragma once

#include "base/text.h"
#include "import/import.h"
#include "import/import_table.h"

#define MIXED "the output of several processes is mixed"

struct nccl {
    struct import *imp;
    struct import_lines *in;
    char version[32], nccl[32], program[128]; /* of the next test */
    bool open;                                /* the last test has not ended */
    struct table table;
    bool tabled;                               /* the open test has had its header */
    int64_t iters, max_B, step_B, step_factor; /* of the open test */
    int64_t ranks;                             /* of a communicator, from the list of devices */
    int64_t size_B;                            /* of the last row; -1: none */
    char type[IMP_WORD], op[IMP_WORD];         /* of it */
    int64_t root;
    size_t short_row;  /* the line of a row whose last fields are missing; 0: none */
    bool bus;          /* a row has a bus bandwidth */
    bool moved;        /* a row has an algorithm bandwidth so large that its bus bandwidth shows */
    struct text carry; /* the start of a line that a message of NCCL interrupted */
};

static inline struct imp_test *nccl_test(const struct nccl *r)
{
    return &r->imp->tests[r->imp->n_tests - 1];
}

/* All return GS_OK or refuse the file. */

/* Takes a device of the open test: "0 Group 0 Pid …", the rest of a "# Rank" line. */
int nccl_device(struct nccl *r, const char *s);
/* Takes a line that looks like a row. */
int nccl_row(struct nccl *r, const char *line);
/* Ends the open test, if there is one. */
int nccl_end(struct nccl *r, const char *rest);
