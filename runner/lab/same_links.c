/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/same_links.h"

#include "base/err.h"
#include "base/jsontext.h"
#include "base/text.h"
#include "lab/facts.h"
#include "lab/probe.h"
#include "wan/net.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What tables and the model use of a site or a pair. The length of a queue is not among it. */
static const struct quantity {
    const char *fact, *name, *unit;
    double scale, share, plus; /* share, plus: equal within this share, and so much more */
} quantities[] = {
    {"up_Bps", "uplink", " Mbit/s", 8e-6, PROBE_RATE_BY, 0},
    {"down_Bps", "downlink", " Mbit/s", 8e-6, PROBE_RATE_BY, 0},
    {"rate_Bps", "rate", " Mbit/s", 8e-6, PROBE_RATE_BY, 0},
    {"delay_s", "RTT", " ms", 2e3, PROBE_RTT_BY, PROBE_RTT_PLUS_S / 2},
    {"loss", "loss", "%", 100, 0, 0},
    {"burst", "burst", " packets", 1, 0, 0},
    {"jitter_s", "jitter", " ms", 1e3, 0, 0},
    {"reorder", "reorder", "%", 100, 0, 0},
    {"cross_Bps", "cross traffic", " Mbit/s", 8e-6, 0, 0},
    {"mtu_B", "mtu", " bytes", 1, 0, 0},
};

static bool differ(const struct quantity *q, double lab, double config)
{
    return fabs(lab - config) > q->share * fmax(lab, config) + q->plus + 1e-6 * fabs(lab);
}

static void compare_values(struct text *t, const json_t *lab, const json_t *config,
                           const char *where)
{
    for (size_t i = 0; i < sizeof quantities / sizeof *quantities && !t->len; i++) {
        const struct quantity *q = &quantities[i];
        double is = json_number_value(json_object_get(lab, q->fact));
        double said = json_number_value(json_object_get(config, q->fact));
        if (differ(q, is, said))
            text_addf(t, "%s%s is %.4g%s in this lab, and %.4g%s in the config", q->name, where,
                      q->scale * is, q->unit, q->scale * said, q->unit);
    }
}

static void compare_sites(struct text *t, const json_t *lab, const json_t *config)
{
    const json_t *one;
    size_t i;
    if (json_array_size(lab) != json_array_size(config))
        text_addf(t, "this lab has %zu sites, and the config has %zu", json_array_size(lab),
                  json_array_size(config));
    json_array_foreach(config, i, one)
    {
        const json_t *other = json_array_get(lab, i);
        const char *name = json_text_of(one, "name"), *is = json_text_of(other, "name");
        AUTO_FREE char *where = xstrfmt(" of %s", name);
        if (!t->len && strcmp(name, is) != 0)
            text_addf(t, "site %zu is %s in this lab, and %s in the config", i + 1, is, name);
        if (!t->len)
            compare_values(t, other, one, where);
    }
}

static void compare_pairs(struct text *t, const json_t *lab, const json_t *config)
{
    const json_t *one;
    size_t i;
    json_array_foreach(config, i, one)
    {
        AUTO_FREE char *where =
            xstrfmt(" of %s>%s", json_text_of(one, "from"), json_text_of(one, "to"));
        if (!t->len)
            compare_values(t, json_array_get(lab, i), one, where);
    }
}

/* In place of the pairs' own rates: what they can have. */
static void limit_rates(json_t *facts)
{
    json_t *pair;
    size_t i;
    json_array_foreach(json_object_get(facts, "pairs"), i, pair)
    {
        double rate = facts_line_Bps(facts, json_text_of(pair, "from"), json_text_of(pair, "to"));
        json_object_set_new(pair, "rate_Bps", json_real(rate));
    }
}

static void compare(struct text *t, const json_t *lab, const json_t *config)
{
    const char *is = json_text_of(lab, "congestion"), *said = json_text_of(config, "congestion");
    compare_sites(t, json_object_get(lab, "sites"), json_object_get(config, "sites"));
    if (!t->len)
        compare_pairs(t, json_object_get(lab, "pairs"), json_object_get(config, "pairs"));
    if (!t->len)
        compare_values(t, lab, config, "");
    if (!t->len && strcmp(is, said) != 0)
        text_addf(t, "congestion is %s in this lab, and %s in the config", is, said);
    if (!t->len && !json_equal(json_object_get(lab, "lines"), json_object_get(config, "lines")))
        text_add(t, "the shared lines of this lab are not those of the config");
}

int same_links_check(const struct plan *p)
{
    AUTO_JSON json_t *lab = NULL, *config = NULL;
    AUTO(lab_spec_free) struct lab_spec spec = {0};
    AUTO_TEXT struct text why = {0};
    const pid_t nobody[LAB_SITES_MAX] = {0};
    bool rated = false;
    int code = facts_read(&lab);
    if (!code && lab && strcmp(p->workload, "wan_links") != 0)
        code = wan_map_check_words(p->config, &rated);
    if (!code && rated)
        code = lab_spec_read(&spec, p->config);
    if (code || !rated)
        return code;
    config = facts_make(&spec, 0, nobody, "");
    limit_rates(lab);
    limit_rates(config);
    compare(&why, lab, config);
    return why.len ? fail_at(GS_USAGE, p->config->path, 0,
                             "%s: tables and figures would take the config's; give gradsync lab "
                             "and this command the same config and --set",
                             why.s)
                   : GS_OK;
}
