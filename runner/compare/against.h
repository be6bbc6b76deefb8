/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside a group of a run: which config the others of a mode are held against, and the blocks that
 * two series share.
 */
#ifndef GS_VERDICT_AGAINST_H
#define GS_VERDICT_AGAINST_H

#include "compare/origin.h"
#include "compare/within_run.h"

struct group_pass {
    struct comparison *c;
    const struct recorded *r;
    const struct origins *origins;
    const struct rules *rules;
    size_t group;
    const struct gathered *g;
    const char *best_of; /* a mode, or NULL */
};

const char *pass_config(const struct group_pass *p, const struct series *s);
const char *pass_mode(const struct group_pass *p, const struct series *s);

/* log(b / a) of the blocks of one origin that both have, added to out; how many had a time of 0. */
size_t pass_pairs(const struct group_pass *p, const struct series *a, const struct series *b,
                  size_t origin, struct values *out);

/* Of the mode: the config that has a second copy, or that the config file names, or the first;
 * NULL: none, as of cells without a config, which depend on none. */
const struct series *pass_baseline(const struct group_pass *p, const char *mode);

/* The baseline; or, with best_of, the config that is fastest in that mode: then NULL for the mode
 * itself, and where there is none. */
const struct series *pass_against(const struct group_pass *p, const char *mode);

#endif
