/* SPDX-License-Identifier: Apache-2.0
 *
 * Facts about a measurement that its file lacks. The user gives them with --set KEY=VALUE for all
 * files.
 */
#pragma once

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
    FACT_COLLECTIVE,
    FACT_UNIT, /* of the times of a list; a name of train_units */
    FACTS
};
extern const char *const fact_names[FACTS + 1]; /* ends with NULL */

struct facts {
    char *value[FACTS]; /* NULL: unknown */
};

/* GS_OK; or GS_USAGE, reported: unknown key, key given twice, invalid value. */
int facts_set(struct facts *f, const char *key, size_t n, const char *value, size_t value_n);
int facts_set_word(struct facts *f, const char *word); /* "key=value" */
/* Does a fact have the variable: NCCL_ALGO, NCCL_PROTO? */
bool facts_has(const char *setting);
void facts_copy(struct facts *to, const struct facts *from);
void facts_free(struct facts *f);

/* The label of the config ("ring/LL128", "auto"), from the facts and the output; "unstated" when
 * neither names it. Sets the algorithm and the protocol in *f where the label has them. The caller
 * frees the label. GS_OK; or GS_USAGE, reported: facts and output disagree. */
int facts_config(struct facts *f, const struct imp_test *t, const char *path, char **label);
