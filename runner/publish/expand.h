/* SPDX-License-Identifier: Apache-2.0
 *
 * The variables <VAR> of the definitions (define.h): their values, and texts with the values filled
 * in.
 */
#pragma once

#include "base/text.h"
#include "publish/sql.h"

#define VARS 8 /* in one name */

struct set {
    char *name;
    struct words values;
};

struct reading {
    struct sql *sql;
    struct sql_source at; /* the line that is being read */
    struct set *sets;
    size_t n_sets;
};

/* The variables of a definition, and their present values. */
struct bound {
    const struct set *set[VARS];
    const char *value[VARS];
    size_t n;
};

/* "FILE:LINE: WHAT 'WORD'; …"; returns GS_USAGE. */
int expand_wrong(const struct reading *r, const char *what, const char *word);

/* Adds a set with the values of "A, B" or of a query. GS_OK or reported. */
int expand_set(struct reading *r, const char *name, const char *values);
const struct set *expand_find(const struct reading *r, const char *name, size_t n); /* or NULL */
void expand_free(struct reading *r);

/* Adds the variables of a text to the bound ones. GS_OK or reported: a variable has no set. */
int expand_bind(const struct reading *r, struct bound *b, const char *text);
/* The text with its variables replaced; the caller frees it. NULL, reported: one is not bound. */
char *expand_text(const struct reading *r, const struct bound *b, const char *text);

/* Calls `each` for every combination of the variables from `depth` to before `end`; the last one
 * changes fastest. The first code that is not GS_OK ends it and is returned. */
typedef int expand_visit(const struct reading *r, const struct bound *b, void *ctx);
int expand_each(const struct reading *r, struct bound *b, size_t depth, size_t end,
                expand_visit *each, void *ctx);
