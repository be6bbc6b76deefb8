/* SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"
#include "base/jsontext.h"
#include "base/text.h"
#include "lab/probe.h"

#include <math.h>
#include <stdio.h>

#define SIGMAS 5       /* of the binomial, by which losses may differ from what they should be */
#define SPARE_LOSSES 3 /* and so many */

/* Bits, as lines are named. */
static const char *bits(char *buf, size_t n, double Bps)
{
    double bps = 8 * Bps;
    bool giga = bps >= 1e10;
    snprintf(buf, n, "%.4g %s", bps / (giga ? 1e9 : 1e6), giga ? "Gbit/s" : "Mbit/s");
    return buf;
}

static int judge_rate(const struct probe_rate *r, double most_Bps, const char *site,
                      const char *what, char *why, size_t size)
{
    char is[32], should[32];
    double by = PROBE_RATE_BY + r->chance;
    bool less = r->Bps < r->limit_Bps * (1 - by);
    bool more = r->Bps > most_Bps * (1 + by);
    if (!less && !more)
        return GS_OK;
    snprintf(why, size, "site %s %s %s instead of %s (allowed error: %.0f%%)", site, what,
             bits(is, sizeof is, r->Bps),
             bits(should, sizeof should, less ? r->limit_Bps : most_Bps), 100 * by);
    return GS_CANNOT;
}

static int judge_pair(const struct probe *p, const struct lab_spec *s, size_t from, size_t to,
                      char *why, size_t size)
{
    double is = p->pairs[from * s->n + to].rtt_s, should = lab_rtt_s(s, from, to);
    double pings_s = probe_plan_pings_s(s, from, to) + probe_plan_pings_s(s, to, from);
    if (fabs(is - should - pings_s / 2) <= PROBE_RTT_BY * should + PROBE_RTT_PLUS_S + pings_s / 2)
        return GS_OK;
    snprintf(
        why, size,
        "the RTT between %s and %s is %.4g ms instead of %.4g (allowed error: %.0f%% + %.1f ms)",
        s->sites[from].name, s->sites[to].name, 1e3 * is, 1e3 * should, 100 * PROBE_RTT_BY,
        1e3 * (PROBE_RTT_PLUS_S + pings_s));
    return GS_CANNOT;
}

/* All together: of one pair too few are lost to tell. */
static int judge_losses(const struct probe *p, const struct lab_spec *s, char *why, size_t size)
{
    double sent = 0, lost = 0, should = 0, variance = 0;
    for (size_t i = 0; i < s->n * s->n; i++) {
        double n = (double)p->pairs[i].sent, share = s->ways[i].loss;
        sent += n;
        lost += (double)p->pairs[i].lost;
        should += n * share;
        variance += n * share * (1 - share) * (2 * s->ways[i].burst - 1);
    }
    if (sent > 0 && fabs(lost - should) <= SIGMAS * sqrt(variance) + SPARE_LOSSES)
        return GS_OK;
    snprintf(why, size, "%.0f of %.0f packets were lost instead of about %.0f", lost, sent, should);
    return GS_CANNOT;
}

int probe_judge(const struct probe *p, const struct lab_spec *s, char *why, size_t size)
{
    for (size_t i = 0; i < s->n * s->n; i++)
        if (i / s->n != i % s->n && judge_pair(p, s, i / s->n, i % s->n, why, size))
            return GS_CANNOT;
    for (size_t i = 0; i < s->n; i++) {
        const struct lab_site *site = &s->sites[i];
        if (judge_rate(&p->up[i], site->up_Bps, site->name, "sends", why, size) ||
            judge_rate(&p->down[i], site->down_Bps, site->name, "receives", why, size))
            return GS_CANNOT;
    }
    return judge_losses(p, s, why, size);
}

json_t *probe_json(const struct probe *p, const struct lab_spec *s)
{
    json_t *o = json_object(), *sites = json_array(), *pairs = json_array();
    json_object_set_new(o, "sites", sites);
    json_object_set_new(o, "pairs", pairs);
    for (size_t i = 0; i < s->n; i++) {
        json_t *one = json_object();
        json_object_set_new(one, "name", json_text(s->sites[i].name));
        json_object_set_new(one, "up_Bps", json_real(p->up[i].Bps));
        json_object_set_new(one, "up_limit_Bps", json_real(p->up[i].limit_Bps));
        json_object_set_new(one, "down_Bps", json_real(p->down[i].Bps));
        json_object_set_new(one, "down_limit_Bps", json_real(p->down[i].limit_Bps));
        json_array_append_new(sites, one);
    }
    for (size_t i = 0; i < s->n * s->n; i++) {
        const struct probe_pair *q = &p->pairs[i];
        json_t *one = json_object();
        if (i / s->n == i % s->n) {
            json_decref(one);
            continue;
        }
        json_object_set_new(one, "from", json_text(s->sites[i / s->n].name));
        json_object_set_new(one, "to", json_text(s->sites[i % s->n].name));
        /* JSON has no infinity. */
        json_object_set_new(one, "rtt_s", isinf(q->rtt_s) ? json_null() : json_real(q->rtt_s));
        json_object_set_new(one, "sent", json_integer((json_int_t)q->sent));
        json_object_set_new(one, "lost", json_integer((json_int_t)q->lost));
        json_array_append_new(pairs, one);
    }
    return o;
}

struct range {
    double low, high;
};

static void widen(struct range *r, double x)
{
    r->low = fmin(r->low, x);
    r->high = fmax(r->high, x);
}

char *probe_text(const struct probe *p, const struct lab_spec *s)
{
    struct range rate = {INFINITY, 0}, rtt = {INFINITY, 0};
    uint64_t sent = 0, lost = 0;
    char low[32], high[32];
    for (size_t i = 0; i < s->n; i++) {
        widen(&rate, p->up[i].Bps);
        widen(&rate, p->down[i].Bps);
    }
    for (size_t i = 0; i < s->n * s->n; i++) {
        sent += p->pairs[i].sent;
        lost += p->pairs[i].lost;
        if (i / s->n != i % s->n)
            widen(&rtt, p->pairs[i].rtt_s);
    }
    return xstrfmt("%zu sites, each way %s to %s, RTT %.4g to %.4g ms, %llu of %llu packets lost",
                   s->n, bits(low, sizeof low, rate.low), bits(high, sizeof high, rate.high),
                   1e3 * rtt.low, 1e3 * rtt.high, (unsigned long long)lost,
                   (unsigned long long)sent);
}
