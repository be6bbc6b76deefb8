/* SPDX-License-Identifier: Apache-2.0
 *
 * The answer of one query of a definition (define.h): the value, and the admissible rows behind it.
 */
#pragma once

#include "publish/admissibility.h"
#include "publish/define.h"

struct answer {
    const struct macro *macro;
    char *text;  /* as printed, UTF-8 (format.h) */
    char *plain; /* the first value as in the table, for '@NAME' */
    double v[3];
    size_t n_v;
    const struct grid *grid; /* NULL: calculated only from other answers */
    struct chosen rows;      /* of the grid */
    struct answer **parts;   /* the answers from which it was calculated or chosen */
    size_t n_parts;
    size_t left_out; /* rows that were refused (publish/admissibility.h) */
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
    struct sql sql;
    struct answer *v; /* one per definition */
    size_t n;
};

/* Adds another answer from which `a` was calculated; its gap is a gap of `a`. */
void answer_part(struct answer *a, struct answer *part);

/* Fills v and plain, or gap, from a query whose parameters ?1, ?2 are other numbers. GS_OK, or
 * GS_USAGE, reported. */
int answer_query(struct numbers *b, struct answer *a, const char *query,
                 const struct sql_values *in);
