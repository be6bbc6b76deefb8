/* SPDX-License-Identifier: Apache-2.0
 *
 * The configs that `gradsync suspects` measures: all pairs in rounds, then those that stand out alone.
 */
#pragma once

#include "base/text.h"
#include "suspects/judge.h"

/* The ranks of rounds in which all pairs run at once: text of an .ini file. */
void suspects_config(struct text *t, size_t ranks, bool cuda);

/* The links among the suspects, each with other links of its kind, alone. False: there is none, or
 * every pair was alone already. */
bool suspects_config_alone(struct text *t, const struct suspects_data *d, const struct verdicts *v,
                           bool cuda);

struct suspects_launch {
    size_t ranks;
    bool device; /* the platform names a GPU */
};

/* Adds the [platform] and [launch] of a user's config as "section:key=value". GS_OK or reported. */
int suspects_config_launch(struct words *overrides, struct suspects_launch *launch,
                           const char *path);
