/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text.h"
#include "base/text_table.h"
#include "wan/links.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void add_mbit(struct words *w, double rate_Bps)
{
    if (isnan(rate_Bps))
        words_add(w, "-");
    else
        words_addf(w, "%.*f", rate_Bps < 12.5e6 ? 2 : 1, rate_Bps * 8e-6);
}

static void add_row(struct words *w, const struct links *l, size_t from, size_t to)
{
    size_t at = from * l->n + to;
    words_addf(w, "%s>%s", l->names[from], l->names[to]);
    words_addf(w, "%.1f +%.1f", 1e3 * l->rtt_s[at], 1e3 * l->spread_s[at]);
    words_addf(w, "%.2g%%", 100 * links_loss(l, from, to));
    words_addf(w, "%.0f", l->mtu_B[at]);
    for (size_t i = 0; i < l->n_configs; i++)
        add_mbit(w, l->configs[i].alone[at]);
    add_mbit(w, links_rate(l, false, from, to));
}

/* With both directions busy, which is what an all-reduce does. */
static void add_shares(struct words *w, const struct links *l)
{
    words_add(w, "both, worst");
    for (int i = 0; i < 3; i++)
        words_add(w, "");
    for (size_t i = 0; i < l->n_configs; i++)
        words_addf(w, "%.0f%%", 100 * links_share(l, &l->configs[i], true));
    words_add(w, "");
}

/* Which config a plan takes, and which others it could have taken. */
static void print_best(const struct links *l)
{
    const struct links_config *best = links_best(l);
    double margin, enough = links_share_enough(l, &margin);
    const char *between = ". Not distinguishable from it: ";
    printf("Choose streams = %d, congestion = %s%s", best->streams, best->congestion,
           strcmp(best->congestion, l->usual) ? "" : " (the kernel's own)");
    for (size_t i = 0; i < l->n_configs; i++) {
        const struct links_config *c = &l->configs[i];
        if (c == best || links_share(l, c, true) < enough)
            continue;
        printf("%s%s/%d", between, c->congestion, c->streams);
        between = ", ";
    }
    bool alone = *between == '.';
    if (alone)
        printf(". No other setting is %s", margin > 0 ? "near the best" : "as fast");
    if (margin > 0)
        printf(" (within %.0f%%, as each was measured once)", 100 * margin);
    printf(".\n");
}

void links_print(const struct links *l)
{
    AUTO_WORDS struct words w = {0};
    size_t columns = 5 + l->n_configs;
    words_add(&w, "direction");
    words_add(&w, "RTT ms");
    words_add(&w, "loss");
    words_add(&w, "MTU");
    for (size_t i = 0; i < l->n_configs; i++)
        words_addf(&w, "%s/%d", l->configs[i].congestion, l->configs[i].streams);
    words_add(&w, "both");
    for (size_t from = 0; from < l->n; from++)
        for (size_t to = 0; to < l->n; to++)
            if (links_rate(l, true, from, to) > 0)
                add_row(&w, l, from, to);
    add_shares(&w, l);
    text_table_print(&w, columns, 0, NULL);
    printf("RTT: shortest idle round trip + to its 90th percentile. cubic/1 ...: Mbit/s of IP "
           "packets\n"
           "alone, by congestion control and streams; both: while the other direction is busy, and "
           "the\n"
           "share of it that each reaches in its worst direction.\n");
    for (size_t i = 0; i < l->n && !isnan(l->up_Bps[0]); i++)
        printf("%s%s: up %.1f, down %.1f Mbit/s%s", i ? "; " : "All to all at once: ", l->names[i],
               links_end(l, i, true) * 8e-6, links_end(l, i, false) * 8e-6,
               i + 1 == l->n ? ".\n" : "");
    if (l->above > 0)
        printf("Rates up to %.2g%% above the line of the lab are cut to it: acknowledgements come "
               "in bursts.\n",
               100 * l->above);
    print_best(l);
}
