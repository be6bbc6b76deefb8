/* SPDX-License-Identifier: Apache-2.0
 *
 * The paper's numbers: each definition with the value that the tables give it, worked out when it
 * is first asked for, and the rows that stand behind it.
 */
#ifndef GS_PAPER_BOOK_H
#define GS_PAPER_BOOK_H

#include "publish/admissibility.h"
#include "publish/define.h"

struct answer {
    const struct macro *macro;
    char *text;  /* as printed, UTF-8 (format.h) */
    char *plain; /* the first field as it stands in the table, or the number: what @NAME is */
    double v[3];
    size_t n_v;
    const struct grid *grid; /* NULL: worked out from others alone */
    struct chosen rows;      /* of the grid */
    struct answer **parts;   /* those that it was worked out from, or chosen by */
    size_t n_parts;
    size_t left_out; /* rows that were refused (publish/admissibility.h) */
    bool none;       /* no row is meant, and ELSE stands there */
    char *gap;       /* why there is no value; NULL: there is one */
    size_t fault;    /* in gate.v, of the gap; SIZE_MAX: of none */
    enum { ANSWER_NEW, ANSWER_BUSY, ANSWER_DONE } state;
};

struct book {
    struct shelf shelf;
    struct gate gate;
    struct definitions d;
    struct answer *v; /* one a definition */
    size_t n;
};

/* The folders are lent. GS_OK or reported. */
int book_open(struct book *b, const char *path, struct shelf shelf);
/* After the last definitions_add. */
void book_close(struct book *b);

/* GS_OK with *out, whose `gap` says what data is wanting; GS_USAGE, reported: a definition that is
 * wrong, a name that is none (with the nearest), numbers that refer to each other in a circle. */
int book_answer(struct book *b, const char *name, struct answer **out);

/* One more of the answers that `a` was worked out from or chosen by; its gap is a gap of `a`. */
void book_part(struct answer *a, struct answer *part);

/* "a, b" of the keys in which the rows of a choice differ, for messages; the caller frees it. */
char *book_differences(const struct grid *g, const struct chosen *rows);

#endif
