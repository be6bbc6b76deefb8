/* SPDX-License-Identifier: Apache-2.0 */
#include "wan/wan_sections.h"

#include "wan/net_words.h"
#include "wan/training.h"
#include "wan/wan_audit_rules.h"

#define WORDS(table) table, sizeof(struct wl_param)

const struct wan_words wan_words[] = {
    {"sites", "NAME = gpus=2 up=1Gbit/s …", WORDS(wan_site_words)},
    {"links", NULL, WORDS(wan_link_words)},
    {"links", NULL, WORDS(wan_links_words)},
    {"links",
     "A-B = rate=… rtt=… … sets one link in both directions, A>B = … in one direction, with the "
     "keys above. shared.NAME = rate=… links=A-B,C-D is a line that several links share:",
     WORDS(wan_line_words)},
    {"link", NULL, WORDS(wan_link_words)},
    {"model", NULL, WORDS(wan_training_words)},
    {"model", "alt.NAME = gpus=8 nodes=2 … is alternative hardware:", WORDS(wan_alternative_words)},
    {"model",
     "claim.NAME = VALUE or LOW..HIGH is a published claim, which check and model compare with "
     "what is possible. claim.NAME.source, or source for all, names the publication. NAME:",
     &wan_rules[0].claim, sizeof(struct wan_rule)},
    {0}};

const struct wl_param *wan_words_next(const struct wan_words *w, const struct wl_param *p)
{
    return (const void *)((const char *)p + w->stride);
}
