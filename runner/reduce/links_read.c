/* SPDX-License-Identifier: Apache-2.0 */
#include "reduce/links_read.h"

#include "base/err.h"
#include "base/jsontext.h"
#include "base/text.h"
#include "common/collective.h"
#include "lab/spec.h"
#include "record/record.h"
#include "record/recorded.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SITES_MAX 4096 /* the matrices of more would fill the memory */

static double each(const json_t *o, const char *metric, size_t rank)
{
    const json_t *v = json_array_get(json_object_get(o, metric), rank);
    return json_is_number(v) ? json_number_value(v) : NAN;
}

static long long number(const struct rec_cell *c, const char *key)
{
    char text[32];
    return recorded_param(c, key, text, sizeof text) ? atoll(text) : 0;
}

/* Packets, with their headers, in place of the payload. */
static double packets(double rate_Bps, double segment_B, double mtu_B)
{
    return rate_Bps * mtu_B / segment_B;
}

/* Of several blocks the best: a link gives what it gave once. */
static void take_rank(struct links *l, struct links_config *to, const char *way, const json_t *o,
                      size_t rank, size_t peer)
{
    size_t at = rank * l->n + peer;
    double mtu_B = each(o, "mtu", rank), segment_B = each(o, "segment", rank);
    double rate_Bps = each(o, "rate", rank);
    if (!strcmp(way, "all")) {
        double up_Bps = packets(rate_Bps, segment_B, mtu_B);
        double down_Bps = packets(each(o, "received", rank), segment_B, mtu_B);
        l->up_Bps[rank] = fmax(l->up_Bps[rank], up_Bps);
        l->down_Bps[rank] = fmax(l->down_Bps[rank], down_Bps);
        return;
    }
    if (!to) {
        l->rtt_s[at] = fmin(l->rtt_s[at], each(o, "rtt", rank));
        l->spread_s[at] = fmax(l->spread_s[at], each(o, "rtt_spread", rank));
        return;
    }
    l->mtu_B[at] = fmin(mtu_B, l->mtu_B[at]);
    to->loss[at] = fmin(to->loss[at], each(o, "loss", rank));
    links_take(l, to, !strcmp(way, "alone"), at, packets(rate_Bps, segment_B, mtu_B));
}

static int take_block(struct links *l, const struct recorded *r, const json_t *block)
{
    const struct rec_cell *c = recorded_find(r, json_text_of(block, "cell"));
    const json_t *o = json_object_get(block, "each");
    char way[16] = "", congestion[16] = "";
    if (json_integer_of(block, "copy"))
        return GS_OK; /* of the baseline: a second chance that the others had not */
    if (!c || !o || !recorded_param(c, "way", way, sizeof way) ||
        !recorded_param(c, "congestion", congestion, sizeof congestion))
        return fail(GS_USAGE, "%s: not a recording of wan_links", r->dir);
    bool idle = !strcmp(way, "idle");
    struct links_config *to = idle ? NULL : links_config(l, (int)number(c, "streams"), congestion);
    if (!to && !idle)
        return fail(GS_USAGE, "%s: more than %d configs", r->dir, LINKS_CONFIGS_MAX);
    for (size_t rank = 0; rank < l->n; rank++) {
        int peer = collective_round_peer((int)rank, (int)number(c, "round") - 1, (int)l->n);
        if (peer >= 0 || !strcmp(way, "all"))
            take_rank(l, to, way, o, rank, (size_t)peer);
    }
    return GS_OK;
}

/* Of a run in a lab: what its lines give. */
static void take_lab(struct links *l, const json_t *header)
{
    const json_t *lab = json_object_get(header, "lab"), *hosts = json_object_get(header, "hosts");
    for (size_t at = 0; lab && l->n <= LAB_SITES_MAX && at < l->n * l->n; at++) {
        const char *from = json_text_of(json_array_get(hosts, at / l->n), "host");
        const char *to = json_text_of(json_array_get(hosts, at % l->n), "host");
        l->line_Bps[at] = lab_facts_line_Bps(lab, from, to);
    }
}

static int take_file(struct links *l, const struct recorded *r, const char *path)
{
    AUTO(raw_close_of) struct raw *raw = NULL;
    struct raw_line line;
    int got;
    CHECK(raw_open(&raw, path));
    const unsigned wanted = 1u << RAW_HEADER | 1u << RAW_NOTE | 1u << RAW_BLOCK;
    while ((got = raw_next(raw, wanted, &line)) == 1)
        switch (line.type) {
        case RAW_HEADER:
            take_lab(l, line.json);
            break;
        case RAW_NOTE: /* the link that is opened notes the kernel's congestion control */
            if (!strcmp(json_text_of(line.json, "key"), "tcp_congestion"))
                snprintf(l->usual, sizeof l->usual, "%s", json_text_of(line.json, "value"));
            break;
        default:
            CHECK(take_block(l, r, line.json));
        }
    return got < 0 ? GS_FAILED : GS_OK;
}

int links_read(struct links *l, const char *dir)
{
    AUTO(recorded_free_of) struct recorded *r = NULL;
    AUTO_WORDS struct words paths = {0};
    *l = (struct links){0};
    CHECK(recorded_read(&r, dir));
    if (!r)
        return fail(GS_FAILED, "%s: nothing is recorded", dir);
    if (r->ranks < 2 || r->ranks > SITES_MAX)
        return fail(GS_USAGE, "%s: has %lld ranks; links are between 2 to %d", dir,
                    (long long)r->ranks, SITES_MAX);
    links_make(l, (size_t)r->ranks);
    for (size_t i = 0; i < l->n; i++)
        l->names[i] = xstrfmt("site%zu", i);
    if (!record_list(dir, &paths))
        return fail(GS_FAILED, "%s: cannot be read", dir);
    for (size_t i = 0; i < paths.n; i++)
        CHECK(take_file(l, r, paths.v[i]));
    for (size_t a = 0; a < l->n; a++)
        for (size_t b = 0; b < l->n; b++)
            if (a != b && (!(links_rate(l, true, a, b) > 0) || isnan(l->rtt_s[a * l->n + b])))
                return fail(GS_FAILED, "%s: rank %zu to rank %zu is not measured", dir, a, b);
    return GS_OK;
}
