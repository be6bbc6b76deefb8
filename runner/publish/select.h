/* SPDX-License-Identifier: Apache-2.0
 *
 * Which rows of a table are meant: clauses between semicolons, all of which hold.
 *   KEY=TEXT   KEY!=TEXT   KEY~GLOB     KEY as in grid.h; a row without it has ""
 */
#ifndef GS_PAPER_SELECT_H
#define GS_PAPER_SELECT_H

#include "publish/grid.h"

struct place { /* of a definition, for messages */
    const char *file;
    int line;
};

struct chosen {
    size_t *rows;
    size_t n;
};

/* GS_OK; GS_USAGE, reported at the place: no clause, a key that no row of the table has. */
int select_rows(struct chosen *out, const struct grid *g, const char *where, struct place at);
void chosen_free(struct chosen *c);

/* GS_OK, or GS_USAGE, reported with the nearest name: neither column nor parameter of any row. */
int select_key(const struct grid *g, const char *key, struct place at);

#endif
