/* SPDX-License-Identifier: Apache-2.0 */
#include "wan/wan_audit.h"

#include "base/err.h"
#include "wan/bound.h"
#include "wan/wan_words.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- reading ---- */

static int unknown_claim(const struct config_entry *e)
{
    struct words names = {0};
    for (const struct wan_rule *r = wan_rules; r->claim.name; r++)
        words_add(&names, r->claim.name);
    const char *near =
        text_nearest(e->key + strlen("claim."), (const char *const *)names.v, names.n);
    struct text all = {0};
    for (size_t i = 0; i < names.n; i++)
        text_addf(&all, "%s%s", i ? ", " : "", names.v[i]);
    int code = near ? config_error(e, "unknown claim%s", DID_YOU_MEAN_IN("'claim.", near, "'"))
                    : config_error(e, "unknown claim; use claim. and one of %s", all.s);
    text_free(&all);
    words_free(&names);
    return code;
}

/* "20s..30s" or "30s". */
static int read_range(const struct config_entry *e, const struct wan_rule *r, struct wan_finding *f)
{
    const char *dots = strstr(e->value, "..");
    char why[512], *low = xstrfmt("%.*s", dots ? (int)(dots - e->value) : 1000, e->value);
    bool ok = wan_param_parse(&r->claim, low, &f->low, why, sizeof why) &&
              wan_param_parse(&r->claim, dots ? dots + 2 : low, &f->high, why, sizeof why);
    free(low);
    if (ok && f->low > f->high)
        return config_error(e, "%s: write the lower value first", e->value);
    return ok ? GS_OK : config_error(e, "%s", why);
}

static bool beyond(const struct wan_finding *f, double best)
{
    return f->high_is_good ? f->low > best * (1 + WAN_CLAIM_TOLERANCE)
                           : f->high < best * (1 - WAN_CLAIM_TOLERANCE);
}

static int judge(const struct wan_ground *g, const struct config_entry *e, struct wan_finding *f)
{
    const struct wan_rule *r = wan_rules;
    while (r->claim.name && strcmp(r->claim.name, e->key + strlen("claim.")))
        r++;
    if (!r->claim.name)
        return unknown_claim(e);
    *f = (struct wan_finding){.entry = e,
                              .name = r->claim.name,
                              .unit = r->claim.unit,
                              .what = r->claim.help,
                              .high_is_good = r->high_is_good};
    int code = read_range(e, r, f);
    if (code)
        return code;
    f->possible = r->best(g, &g->physics);
    f->reached = r->best(g, &g->reached);
    f->verdict = beyond(f, f->possible)  ? WAN_IMPOSSIBLE
                 : beyond(f, f->reached) ? WAN_UNREACHED
                                         : WAN_POSSIBLE;
    r->why(g, f);
    return GS_OK;
}

/* A compute time that was measured is a fact. One that was computed rests on the plan's mfu; the
 * GPUs' peak is the limit then, and any share of compute in a step is possible. */
static struct wan_reach physics_of(const struct wan_map *m, const struct wan_training *t,
                                   double bytes)
{
    struct wan_reach p = {.compute_s = t->compute_s, .sync_s = wan_map_bound_s(m, bytes)};
    if (p.compute_s <= 0)
        p.compute_s = wan_training_compute_s(t) * t->mfu;
    p.step_s = fmax(p.compute_s, p.sync_s / t->every);
    p.efficiency = t->compute_s > 0 ? p.compute_s / p.step_s : 1;
    return p;
}

static struct wan_ground ground_of(const struct config *c, const struct wan_map *m,
                                   const struct wan_training *t)
{
    struct wan_ground g = {.config = c, .map = m, .t = t, .plan = wan_case_of(m, t)};
    struct wan_view v;
    struct wan_outcome o = wan_evaluate(&g.plan);
    g.reached = (struct wan_reach){wan_training_compute_s(t), o.sync_s, o.step_s, o.efficiency};
    g.bytes = wan_training_bytes(t, t->bits);
    g.physics = physics_of(m, t, g.bytes);
    wan_view_make(&v, m, WAN_DIRECT, 1);
    g.rtt_low = v.nearest_rtt_s;
    g.rtt_high = v.farthest_rtt_s;
    wan_view_free(&v);
    return g;
}

/* claim.NAME.source of a claim that is there; of any other the name is judged, and unknown. */
static bool is_source_of(const struct config *c, const struct config_entry *e)
{
    const char *dot = strrchr(e->key, '.');
    char *claim = xstrfmt("%.*s", (int)(dot - e->key), e->key);
    bool is = !strcmp(dot, ".source") && config_find(c, "model", claim);
    free(claim);
    return is;
}

struct wan_finding *wan_audit(const struct config *c, const struct wan_map *m,
                              const struct wan_training *t, size_t *n)
{
    struct wan_finding *f = xcalloc(c->n + 1, sizeof *f);
    struct wan_ground g = ground_of(c, m, t);
    int code = GS_OK;
    *n = 0;
    for (size_t i = 0; i < c->n; i++) {
        const struct config_entry *e = &c->entries[i];
        if (strcmp(e->section, "model") || strncmp(e->key, "claim.", strlen("claim.")) ||
            is_source_of(c, e))
            continue;
        if (judge(&g, e, &f[*n]))
            code = GS_USAGE;
        else
            ++*n;
    }
    if (!code)
        return f;
    wan_findings_free(f, *n);
    return NULL;
}

void wan_findings_free(struct wan_finding *f, size_t n)
{
    for (size_t i = 0; f && i < n; i++)
        text_free(&f[i].why);
    free(f);
}

/* ---- check ---- */

static int check_training(const struct config *c, const struct wan_map *m)
{
    struct wan_training t;
    size_t n, n_alternatives;
    int code = wan_training_read(&t, c, m);
    struct wan_alternative *alternatives = wan_alternatives_read(c, &n_alternatives);
    free(alternatives);
    if (code)
        return code;
    struct wan_finding *f = wan_audit(c, m, &t, &n);
    for (size_t i = 0; f && i < n; i++)
        if (f[i].verdict != WAN_POSSIBLE)
            fail_at(GS_OK, f[i].entry->file, f[i].entry->line, "warning: key '%s': %s",
                    f[i].entry->key, f[i].why.s);
    wan_findings_free(f, n);
    return f && alternatives ? GS_OK : GS_USAGE;
}

int wan_config_check(const struct config *c)
{
    bool model = config_section(c, "model");
    if (!model && !config_section(c, "sites"))
        return GS_OK;
    struct wan_map m;
    int code = wan_map_read(&m, c);
    if (!code && model)
        code = check_training(c, &m);
    wan_map_free(&m);
    return code;
}
