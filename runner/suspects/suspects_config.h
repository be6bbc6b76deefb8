/* SPDX-License-Identifier: Apache-2.0
 *
 * The configs that `gradsync suspects` measures: first all pairs, in rounds; then the pairs that stand
 * out, one at a time.
 */
#pragma once

#include "base/text.h"
#include "suspects/judge.h"

/* Adds a config as .ini text. Each rank has one partner a round; all pairs of a round run at once. */
void suspects_config(struct text *t, size_t ranks, bool cuda);

/* Adds a config that measures each suspected link, and others of its kind, alone. False: no link is a
 * suspect, or every pair was alone already. */
bool suspects_config_alone(struct text *t, const struct suspects_data *d, const struct verdicts *v,
                           bool cuda);

struct suspects_launch {
    size_t ranks;
    bool device; /* the platform names a GPU */
};

/* Adds the [platform] and [launch] of a user's config as "section:key=value". GS_OK or reported. */
int suspects_config_launch(struct words *overrides, struct suspects_launch *launch,
                           const char *path);
