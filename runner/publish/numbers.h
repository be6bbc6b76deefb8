/* SPDX-License-Identifier: Apache-2.0
 *
 * The paper's numbers: each definition (definitions.h) with its value and the admissible rows behind it,
 * calculated on first use. They are written for TeX, and `gradsync why NUMBER` prints the rows, runs,
 * files and lines behind one.
 */
#pragma once

#include "publish/definitions.h"
#include "publish/evidence.h"

/* The answer of one query of a definition. */
struct answer {
    const struct macro *macro;
    char *text;  /* as printed, UTF-8 (definitions.h) */
    char *plain; /* the first value as in the table, for '@NAME' */
    double v[3];
    size_t n_v;
    const struct grid *grid; /* NULL: calculated only from other answers */
    struct chosen rows;      /* of the grid */
    struct answer **parts;   /* the answers from which it was calculated or chosen */
    size_t n_parts;
    size_t left_out; /* rows that were refused (publish/evidence.h) */
    bool skipped;    /* every row is a skipped cell: measuring again gives no value */
    bool none;       /* no value; `else` is printed */
    char *gap;       /* why there is no value; NULL: there is one */
    size_t fault;    /* index of the gap in admissibility.v; SIZE_MAX: none */
    enum { ANSWER_NEW, ANSWER_BUSY, ANSWER_DONE } state;
};

struct numbers {
    struct paper_tables tables;
    struct admissibility admissibility;
    struct definitions d;
    struct answer *v; /* one per definition */
    size_t n;
};

/* Keeps pointers to the folder names of `tables`, which the caller owns. GS_OK or reported. */
int numbers_open(struct numbers *b, const char *path, struct paper_tables tables);
void numbers_close(struct numbers *b);

/* Call it after the last definitions_add. GS_OK with *out; its `gap` says which data is missing. GS_USAGE, reported: a wrong definition, an
 * unknown name (with the nearest), or numbers that refer to each other in a circle. */
int numbers_answer(struct numbers *b, const char *name, struct answer **out);

/* Writes the numbers for TeX. \val{NAME} prints gs@v@NAME, and \rows{NAME} prints gs@rows@NAME, the
 * body of a table. Conditionals compare gs@p@NAME, the value as it is in the table.
 * Writes DIR/macros.tex. GS_OK or reported; writes nothing when a number is missing. */
int tex_write(struct numbers *b, const char *dir);

/* Traces at most `most` rows and prints how many more there are. */
int trace_print(struct numbers *b, const struct answer *a, size_t most);

/* Traces the row on this line of CSV/TABLE.csv, admissible or not. GS_OK, or reported: no such
 * table, no row on that line. */
int trace_line(struct numbers *b, const char *table, long line);
