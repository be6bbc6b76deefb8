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
     "A-B = rate=… rtt=… … (both directions), A>B = … (one), with the words above; "
     "shared.NAME = rate=… links=A-B,C-D",
     WORDS(wan_line_words)},
    {"link", NULL, WORDS(wan_link_words)},
    {"model", NULL, WORDS(wan_training_words)},
    {"model", "alt.NAME = gpus=8 nodes=2 …: what else could be done", WORDS(wan_alternative_words)},
    {"model",
     "claim.NAME = VALUE or LOW..HIGH, claim.NAME.source or source = where from: what somebody "
     "says "
     "of it, which check and model hold against what is possible",
     &wan_rules[0].claim, sizeof(struct wan_rule)},
    {0}};

const struct wl_param *wan_words_next(const struct wan_words *w, const struct wl_param *p)
{
    return (const void *)((const char *)p + w->stride);
}
