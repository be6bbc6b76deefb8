/* SPDX-License-Identifier: Apache-2.0
 *
 * <VAR> in the definitions (define.h): what it runs over, and what it stands for just now.
 */
#ifndef GS_PAPER_EXPAND_H
#define GS_PAPER_EXPAND_H

#include "base/text.h"
#include "publish/define.h"

#define VARS 8 /* in one name */

struct set {
    char *name;
    struct words values;
};

struct reading {
    struct definitions *d;
    struct shelf *shelf;
    struct set *sets;
    size_t n_sets;
    int line;
};

/* What the variables stand for just now. */
struct binding {
    const struct set *set[VARS];
    const char *value[VARS];
    size_t n;
};

/* "FILE:LINE: WHAT 'WORD'; …"; returns GS_USAGE. */
int expand_wrong(const struct reading *r, const char *what, const char *word);

/* A line "set | VAR | …": one more of the sets. GS_OK or reported. */
int expand_set(struct reading *r, const struct words *w);
const struct set *expand_find(const struct reading *r, const char *name, size_t n); /* or NULL */
void expand_free(struct reading *r);

/* Adds the variables of a text to those that are bound. GS_OK or reported: one without a set. */
int expand_bind(const struct reading *r, struct binding *b, const char *text);
/* The text with values for variables; the caller frees it. NULL, reported: one is not bound. */
char *expand_text(const struct reading *r, const struct binding *b, const char *text);

/* Calls `each` for every combination of the variables from `depth` to before `end`, the last one
 * running fastest. The first code that is not GS_OK ends it and is returned. */
typedef int expand_visit(struct reading *r, const struct binding *b, const struct words *w,
                         void *ctx);
int expand_each(struct reading *r, struct binding *b, size_t depth, size_t end,
                const struct words *w, expand_visit *each, void *ctx);

#endif
