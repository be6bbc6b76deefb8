/* SPDX-License-Identifier: Apache-2.0
 *
 * What a file does not say about its measurement and its user does: by --set KEY=VALUE for every
 * file, or by a pattern of their paths, "{platform}_results/{config}/run{replicate}*.txt". A name
 * in braces stands for as few characters as match, one at least, '*' for any number of them, and
 * neither for a '/'; the pattern is held against the end of a path, from a whole component on.
 */
#ifndef GS_IMPORT_FACTS_H
#define GS_IMPORT_FACTS_H

#include "import/import.h"

enum fact {
    FACT_PLATFORM,
    FACT_CONFIG,
    FACT_ALGORITHM,
    FACT_PROTOCOL,
    FACT_CTAS,
    FACT_MEMORY,
    FACT_CONTENTION,
    FACT_MODE,
    FACT_SIZE,
    FACT_RANKS,
    FACT_NODES,
    FACT_REPLICATE,
    FACTS
};
extern const char *const fact_names[FACTS + 1]; /* ends with NULL */

struct facts {
    char *value[FACTS]; /* NULL: not said */
};

/* GS_OK or GS_USAGE, reported: no such key, said twice, no such value. */
int facts_set(struct facts *f, const char *key, size_t n, const char *value, size_t value_n);
int facts_set_word(struct facts *f, const char *word); /* "key=value" */
/* Adds what the pattern finds in the path. */
int facts_from_path(struct facts *f, const char *pattern, const char *path);
void facts_copy(struct facts *to, const struct facts *from);
void facts_free(struct facts *f);

/* The label of the config ("ring/LL128", "auto"), from the facts and what the output itself says;
 * "unstated" when neither does. Algorithm and protocol are set in *f where the label has them.
 * GS_OK, or GS_USAGE, reported: the two disagree. The caller frees the label. */
int facts_config(struct facts *f, const struct imp_test *t, const char *path, char **label);

#endif
