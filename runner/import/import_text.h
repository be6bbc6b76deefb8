/* SPDX-License-Identifier: Apache-2.0
 *
 * The text of other programs: its lines, their words and numbers, and what launchers and NCCL add to
 * them.
 *
 * Reads another program's output into tests, one for each start of that program, and their cells
 * with their times. A row whose numbers contradict each other refuses the file, with its line. A
 * torn row is left out, and the test says that it is truncated. Files are read into memory; those
 * above IMPORT_FILE_MAX are refused. The JSON of a file takes about eight times
 * its size in memory.
 */
#pragma once

#include "base/text.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define IMPORT_LINE_MAX ((size_t)64 << 10) /* bytes of a line that are given out */
#define IMP_LEVELS 8                       /* of headings */
#define IMPORT_FILE_MAX ((size_t)1 << 30)  /* bytes of a file; larger files are refused */

struct import_lines {
    const char *path;
    struct text text;
    size_t at;     /* where the next line begins */
    size_t number; /* of the line last given out */
    bool torn;     /* the line last given out has no newline */
    bool cut;      /* the line last given out is longer than IMPORT_LINE_MAX; this is its start */
    char *stop;    /* where the line last given out is terminated, and the byte that was there */
    char stopped;
    char sha256[65]; /* of the file */
    /* What other programs put before each line of a table: "[1,0]<stdout>:", a time, a pod. */
    char prefix[256];
    /* Returns where the text of a table begins in a line that only such output has, or NULL. The text
     * before it is the prefix. Digits of a prefix may differ from line to line. */
    const char *(*anchor)(const char *line);
};

/* GS_OK; or reported: the file cannot be opened, is not a regular file, is compressed, empty, too large,
 * or contains a NUL byte. The caller frees in->text in both cases. */
int import_lines_open(struct import_lines *in, const char *path);
/* The next line, terminated, without its LF or CRLF and without its prefix; false at the end. Valid
 * until the next call. */
bool import_lines_next(struct import_lines *in, char **line);
/* Where the text at `at` begins with its '#', if it has one. */
const char *import_anchor(const char *line, const char *at);
void import_lines_rewind(struct import_lines *in);

/* A decimal number as it was printed. */
struct number {
    bool finite; /* false: nan or inf */
    bool negative;
    double value;
    int last; /* its last digit counts 10^last */
};
/* Reads the number at s, up to a blank, a NUL or `end`; false: there is none. */
bool number_read(struct number *out, const char *s, const char *end);
/* |value| x factor, rounded; false: not finite, or not below 10^18. */
bool number_scaled(const struct number *x, double factor, uint64_t *out);

struct word {
    const char *s;
    size_t n;
};
/* The words between blanks, `max` of them at most into out; returns how many there are, or max + 1:
 * there are more. */
size_t words_of(const char *line, struct word *out, size_t max);
bool word_is(const struct word *w, const char *text);
bool word_integer(const struct word *w, int64_t *out); /* digits, with or without a sign */
bool word_number(const struct word *w, struct number *out);
bool text_plain(const char *s, size_t n); /* 1 to 31 letters, digits and '_' */
const char *word_copy(char *buf, size_t n, const struct word *w);

/* Where a message of NCCL begins, "[TIME] HOST:PID:TID [DEVICE] NCCL INFO …"; NULL: the line has
 * none. A message may follow the last field of a row without a blank. */
char *import_message_in(char *line);

struct imp_test;

/* The settings that a log shows: in command lines, "export" lines and lines such as "NCCL_PROTO=LL".
 * Those of a command hold until the next command, those of a heading until the next heading, the others
 * until they change. And what tells its tests apart: headings, and the commit that was tested. */
struct import_log {
    json_t *exported, *command, *traced, *headed; /* name: value */
    char *headings[IMP_LEVELS];                   /* those that hold, by level; NULL: none */
    char commit[48];
    char *before;     /* the line before, which a line of dashes makes a heading */
    int fences;       /* lines ``` so far: odd inside of a block of code */
    char program[64]; /* of the last command that names a benchmark; "": none */
    struct text part; /* a command that goes on in the next line */
};
void import_log_line(struct import_log *log, const char *line);
/* Sets the settings of the test, its heading and its commit to those that hold now. */
void import_log_test(struct import_log *log, struct imp_test *t);
void import_log_free(struct import_log *log);
/* Adds a setting, unless it changes no time, as NCCL_DEBUG. */
void import_setting(json_t *to, const char *name, size_t n, const char *value, size_t value_n);

/* ---- tests and cells, which the readers of the formats fill ---- */

#define IMP_WORD 64    /* bytes of a short text, terminator included */
#define IMP_CELLS 4096 /* cells of a test at most */

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
    char *heading;          /* "Results / After the update"; NULL or "": none */
    char commit[48];        /* "": unknown */
    int64_t ranks, nodes;   /* 0: unknown */
    int64_t gpus;           /* of the ranks; 0: unknown */
    int64_t hidden;         /* GPUs of a rank's process beside the one that is named */
    enum imp_factor { IMP_NONE, IMP_ALLREDUCE, IMP_SHARE, IMP_ONE } factor;
    bool graph;
    bool unverified;  /* the program did not check its results */
    json_t *hosts;    /* [{rank, host, device, index, bus}]; NULL: unknown */
    size_t line;      /* where the test begins */
    char missing[96]; /* why the test is truncated; "": it is whole */
    struct imp_cell *cells;
    size_t n_cells, last; /* last: the cell that was found last */
};

/* What the user says about a file; NULL or 0: nothing. */
struct import_known {
    const char *unit;       /* of the times of a list, s, ms or us; NULL: milliseconds */
    const char *collective; /* "allgather" */
    int64_t ranks;
};

struct import {
    char *path;
    const char *name;   /* the last component of path */
    const char *format; /* its name */
    struct import_known known;
    char sha256[65];
    struct imp_test *tests;
    size_t n_tests;
    uint64_t samples; /* of all cells */
};

/* Bus bandwidth divided by algorithm bandwidth; 0: undefined. */
double import_factor(enum imp_factor factor, int64_t ranks);

struct import_format {
    const char *name;
    /* Where the text of the format begins in a line that only it has, or NULL. The format of a
     * prefix is looked for in all lines first. */
    const char *(*anchor)(const char *line);
    bool prefix; /* other programs may put a prefix before each line */
    int (*read)(struct import *imp, struct import_lines *in);
};
extern const struct import_format import_nccl, import_nccl_json;
/* Is it a name such as "allgather" or "all_gather"? */
bool import_is_collective(const char *name);

/* A new test that begins at the current line. */
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

/* ---- a file ---- */

#define IMPORT_TIMES "iteration" /* the format of a list of times */

/* GS_OK; or reported, and *out is NULL: the file cannot be read, has no known format, has no times
 * or contradicts itself. */
int import_read(struct import **out, const char *path, const struct import_known *known);
void import_free(struct import *imp);

/* "milliseconds": the unit of a list of times. */
const char *import_unit_name(const struct import *imp);
