/* SPDX-License-Identifier: Apache-2.0
 *
 * Other programs' output as it stands in a file: tests (one process launch each) of cells with
 * their times. A file is read once, line by line, in memory that its samples bound and its length
 * does not. What cannot be true is refused with its line; what is torn off is left out, and said.
 */
#ifndef GS_IMPORT_H
#define GS_IMPORT_H

#include "import/import_samples.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define IMP_WORD 64     /* bytes of a short text, terminator included */
#define IMP_TESTS 10000 /* a file's tests at most */
#define IMP_CELLS 4096  /* a test's cells at most */

struct imp_cell {
    char dtype[IMP_WORD], op[IMP_WORD]; /* gradsync's names; "": the file does not say */
    int64_t root;                       /* -1: none */
    int in_place;                       /* 0, 1; -1: the file does not say */
    int64_t size_B;                     /* 0: the file does not say */
    uint64_t iters;                     /* of each sample */
    struct samples samples;             /* ns of all the iterations of each, in the file's order */
    const char *kind;                   /* of a fail line: "wrong", "failed"; NULL: none */
    char why[160];
};

struct imp_test {
    const char *workload;                         /* "nccl_allreduce" */
    const char *metric;                           /* what a time is: "T_ss", … */
    char tool[IMP_WORD];                          /* "nccl-tests 2.17.9"; "" */
    char nccl[IMP_WORD];                          /* "2.29.2"; "" */
    char algorithm[IMP_WORD], protocol[IMP_WORD]; /* as the output says them; "": it does not */
    char started[IMP_WORD];                       /* as the file writes it; "" */
    int64_t ranks, nodes;                         /* 0: the file does not say */
    enum imp_factor { IMP_NONE, IMP_ALLREDUCE, IMP_SHARE, IMP_ONE } factor;
    bool graph;
    bool unverified;  /* results were not checked */
    json_t *hosts;    /* [{rank, host, device, bus}]; NULL: none */
    size_t line;      /* where it begins */
    char missing[96]; /* why it is not whole; "": it is */
    struct imp_cell *cells;
    size_t n_cells, last; /* the cell that was last found */
};

struct import {
    char *path;
    const char *name;   /* path's last component */
    const char *format; /* of import_formats */
    char sha256[65];
    struct imp_test *tests;
    size_t n_tests;
    uint64_t samples; /* of all cells */
    struct spill spill;
};

/* Names of the formats, ending with NULL. */
extern const char *const import_formats[];

/* format: one of the names, or NULL to tell it from the contents. GS_OK, or GS_FAILED, reported:
 * cannot be read, no known format, nothing in it, not true. *out is NULL then. */
int import_read(struct import **out, const char *path, const char *format);
void import_free(struct import *imp);

/* Of bus to algorithm bandwidth; 0 without. */
double import_factor(enum imp_factor factor, int64_t ranks);

/* ---- for the formats' readers ---- */

struct lines; /* import_lines.h */

struct import_format {
    const char *name;
    bool (*claims)(const char *line); /* a line that no other format has */
    int (*read)(struct import *imp, struct lines *in);
};
extern const struct import_format import_nccl, import_nccl_json, import_iteration, import_osu;

/* One that begins where `in` is; NULL, reported, past IMP_TESTS. */
struct imp_test *import_add_test(struct import *imp, const struct lines *in, const char *workload);
/* The cell with these coordinates, made when there is none; NULL, reported, past IMP_CELLS. */
struct imp_cell *import_cell(struct import *imp, struct lines *in, struct imp_test *t,
                             const struct imp_cell *like);
/* Adds a sample of cell->iters iterations of `each_ns`. GS_OK, or reported: a full disk. A
 * time that is none (0, overflow) becomes the cell's fault. */
int import_sample(struct import *imp, struct lines *in, struct imp_cell *c, uint64_t each_ns);
void import_fault(struct imp_cell *c, const char *kind, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* "FILE:LINE: refused: …"; returns GS_FAILED. */
int import_refuse(const struct lines *in, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

#endif
