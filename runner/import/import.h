/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads another program's output into tests, one for each start of that program, and their cells
 * with their times. A row whose numbers contradict each other refuses the file, with its line. A
 * torn row is left out, and the test says that it is truncated. Files are read into memory; those
 * above IMPORT_FILE_MAX are refused (import_text.h). The JSON of a file takes about eight times
 * its size in memory.
 */
#pragma once

#include "import/import_text.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define IMP_WORD 64     /* bytes of a short text, terminator included */
#define IMP_TESTS 10000 /* tests of a file at most */
#define IMP_CELLS 4096  /* cells of a test at most */

struct imp_cell {
    char dtype[IMP_WORD], op[IMP_WORD]; /* gradsync's names; "": unknown */
    int64_t root;                       /* -1: none */
    int in_place;                       /* 0 or 1; -1: unknown */
    int64_t size_B;                     /* 0: unknown */
    uint64_t iters;                     /* iterations of each sample */
    uint64_t *time_ns;                  /* of all iterations of a sample; in the file's order */
    size_t n_samples;
    const char *kind; /* of a fail line: "wrong" or "failed"; NULL: no fault */
    char why[160];
};

struct imp_test {
    const char *workload;   /* "nccl_allreduce" */
    const char *metric;     /* which time was measured: "T_ss", … */
    const char *collective; /* of the workload; NULL or "": its default */
    bool size_of_block;     /* the size column gives the block of one rank */
    char tool[IMP_WORD];    /* "nccl-tests 2.17.9"; "": unknown */
    char nccl[IMP_WORD];    /* "2.29.2"; "": unknown */
    json_t *settings;       /* {"NCCL_PROTO": "LL"}: those that the file shows; NULL: none */
    char started[IMP_WORD]; /* as in the file; "": unknown */
    int64_t ranks, nodes;   /* 0: unknown */
    int64_t gpus;           /* of the ranks; 0: unknown */
    enum imp_factor { IMP_NONE, IMP_ALLREDUCE, IMP_SHARE, IMP_ONE } factor;
    bool graph;
    bool unverified;  /* the program did not check its results */
    json_t *hosts;    /* [{rank, host, device, index, bus}]; NULL: unknown */
    size_t line;      /* where the test begins */
    char missing[96]; /* why the test is truncated; "": it is whole */
    struct imp_cell *cells;
    size_t n_cells, last; /* last: the cell that was found last */
};

struct import {
    char *path;
    const char *name;       /* the last component of path */
    const char *format;     /* one of import_formats */
    const char *unit;       /* of the times of a list: one of train_units */
    const char *collective; /* that the user names; NULL: none */
    int64_t ranks;          /* that the user names; 0: none */
    char sha256[65];
    struct imp_test *tests;
    size_t n_tests;
    uint64_t samples; /* of all cells */
};

#define IMPORT_TIMES "iteration" /* the format of a list of times */
/* Names of the formats; ends with NULL. */
extern const char *const import_formats[];

/* What the user says about a file; NULL or 0: nothing. */
struct import_known {
    const char *format;     /* one of import_formats; NULL: recognise it from the contents */
    const char *unit;       /* of the times of a list, one of train_units; NULL: milliseconds */
    const char *collective; /* "allgather" */
    int64_t ranks;
};
/* GS_OK; or reported, and *out is NULL: the file cannot be read, has no known format, has no times
 * or contradicts itself. */
int import_read(struct import **out, const char *path, const struct import_known *known);
void import_free(struct import *imp);

/* "milliseconds": the unit of a list of times. */
const char *import_unit_name(const struct import *imp);

/* Bus bandwidth divided by algorithm bandwidth; 0: undefined. */
double import_factor(enum imp_factor factor, int64_t ranks);

/* ---- for the readers of the formats ---- */

struct import_format {
    const char *name;
    /* Where the text of the format begins in a line that only it has, or NULL. The format of a
     * prefix is looked for in all lines first. */
    const char *(*anchor)(const char *line);
    bool prefix; /* other programs may put a prefix before each line */
    int (*read)(struct import *imp, struct import_lines *in);
};
extern const struct import_format import_nccl, import_nccl_json, import_osu;

/* A new test that begins at the current line. NULL, reported: more than IMP_TESTS. */
struct imp_test *import_add_test(struct import *imp, const struct import_lines *in,
                                 const char *workload);
/* The cell with the coordinates of `like`; added if the test lacks it. NULL, reported: more than
 * IMP_CELLS, or its samples have another number of iterations. */
struct imp_cell *import_cell(const struct import_lines *in, struct imp_test *t,
                             const struct imp_cell *like);
/* Adds a sample of cell->iters iterations of `each_ns`. A time of 0, or an overflow, becomes the
 * fault of the cell. */
void import_sample(struct import *imp, const struct import_lines *in, struct imp_cell *c,
                   uint64_t each_ns);
/* Adds a sample from a number of microseconds, printed as `text`. A number that is not finite
 * becomes the fault of the cell. */
void import_sample_us(struct import *imp, const struct import_lines *in, struct imp_cell *c,
                      const struct number *us, const struct word *text);
/* Marks the cell as "wrong" or "failed"; "wrong" replaces "failed". */
void import_fault(struct imp_cell *c, const char *kind, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Reports "FILE:LINE: refused: …"; returns GS_FAILED. */
int import_refuse(const struct import_lines *in, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
