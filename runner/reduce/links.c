/* SPDX-License-Identifier: Apache-2.0 */
#include "reduce/links.h"

#include "base/err.h"
#include "base/jsontext.h"
#include "base/term.h"
#include "base/text.h"
#include "common/collective.h"
#include "lab/spec.h"
#include "record/recorded.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SITES_MAX 4096 /* the matrices of more would fill the memory */
#define STREAMS 8      /* of wan_links, and of wan_sync by default */

void links_free(struct links *l)
{
    for (size_t i = 0; i < l->n && l->names; i++)
        free(l->names[i]);
    free(l->names);
    free(l->rate_Bps);
    *l = (struct links){0};
}

/* ---- reading ---- */

static double each(const json_t *o, const char *metric, size_t rank)
{
    const json_t *v = json_array_get(json_object_get(o, metric), rank);
    return json_is_number(v) ? json_number_value(v) : NAN;
}

/* Of several blocks the best: a link gives what it gave once. Rates are those of packets, with their
 * headers, in place of the payload. */
static void take_rank(struct links *l, const char *way, const json_t *o, size_t rank, size_t peer)
{
    size_t at = rank * l->n + peer;
    double mtu_B = each(o, "mtu", rank), packets = mtu_B / each(o, "segment", rank);
    double rate_Bps = each(o, "rate", rank) * packets;
    if (!strcmp(way, "all")) {
        l->up_Bps[rank] = fmax(l->up_Bps[rank], rate_Bps);
        l->down_Bps[rank] = fmax(l->down_Bps[rank], each(o, "received", rank) * packets);
        return;
    }
    l->rtt_s[at] = fmin(l->rtt_s[at], each(o, "rtt", rank));
    if (strcmp(way, "alone"))
        return;
    l->mtu_B[at] = fmin(l->mtu_B[at], mtu_B);
    l->loss[at] = fmin(l->loss[at], each(o, "loss", rank));
    l->rate_Bps[at] = fmax(l->rate_Bps[at], fmin(rate_Bps, l->line_Bps[at]));
}

struct reading {
    struct links *l;
    const struct recorded *r;
    int code;
};

static bool take_block(void *ctx, const struct raw_line *line)
{
    struct reading *in = ctx;
    struct links *l = in->l;
    const struct rec_cell *c = NULL;
    const json_t *o = json_object_get(line->json, "each");
    char way[16] = "", round[32] = "";
    for (size_t i = 0; i < in->r->n_cells && !c; i++)
        if (!strcmp(in->r->cells[i].id, json_text_of(line->json, "cell")))
            c = &in->r->cells[i];
    if (json_integer_of(line->json, "copy"))
        return true; /* of the baseline: a second chance that the others had not */
    if (!c || !o || !recorded_param(c, "way", way, sizeof way) ||
        !recorded_param(c, "round", round, sizeof round)) {
        in->code = fail(GS_USAGE, "%s: not a recording of wan_links", in->r->dir);
        return false;
    }
    for (size_t rank = 0; rank < l->n; rank++) {
        int peer = collective_round_peer((int)rank, atoi(round) - 1, (int)l->n);
        if (peer >= 0 || !strcmp(way, "all"))
            take_rank(l, way, o, rank, (size_t)peer);
    }
    return true;
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

int links_read(struct links *l, const char *dir)
{
    AUTO(recorded_free_of) struct recorded *r = NULL;
    struct reading in = {l, NULL, GS_OK};
    *l = (struct links){.congestion = "cubic"};
    CHECK(recorded_read(&r, dir));
    if (!r)
        return fail(GS_FAILED, "%s: nothing is recorded", dir);
    if (r->ranks < 2 || r->ranks > SITES_MAX)
        return fail(GS_USAGE, "%s: has %lld ranks; links are between 2 to %d", dir,
                    (long long)r->ranks, SITES_MAX);
    const size_t n = l->n = (size_t)r->ranks;
    double **const made[] = {&l->rate_Bps, &l->rtt_s,  &l->loss,    &l->mtu_B,
                             &l->line_Bps, &l->up_Bps, &l->down_Bps};
    double *x = xcalloc(COUNT(made) * n * n, sizeof *x);
    for (size_t i = 0; i < COUNT(made) * n * n; i++)
        x[i] = NAN;
    for (size_t i = 0; i < COUNT(made); i++)
        *made[i] = x + i * n * n;
    l->names = xcalloc(n, sizeof *l->names);
    for (size_t i = 0; i < n; i++)
        l->names[i] = xstrfmt("site%zu", i);
    for (size_t i = 0; i < r->n_files; i++) {
        const struct words *notes = &r->files[i].notes;
        take_lab(l, r->files[i].header);
        for (size_t k = 0; k + 1 < notes->n; k += 2) /* of the links that were opened */
            if (!strcmp(notes->v[k], "tcp_congestion"))
                snprintf(l->congestion, sizeof l->congestion, "%s", notes->v[k + 1]);
    }
    in.r = r;
    CHECK(raw_each(dir, 1u << RAW_BLOCK, take_block, &in));
    CHECK(in.code);
    for (size_t at = 0; at < n * n; at++)
        if (at / n != at % n && (!(l->rate_Bps[at] > 0) || isnan(l->rtt_s[at])))
            return fail(GS_FAILED, "%s: rank %zu to rank %zu is not measured", dir, at / n, at % n);
    return GS_OK;
}

/* What a site sends, or receives, at most: to all others at once, or to one alone if that is
 * more. */
static double links_end(const struct links *l, size_t site, bool up)
{
    double most = fmax(0, up ? l->up_Bps[site] : l->down_Bps[site]);
    for (size_t k = 0; k < l->n; k++)
        if (k != site)
            most = fmax(most, l->rate_Bps[up ? site * l->n + k : k * l->n + site]);
    return most;
}

/* ---- for configs ---- */

static void write_links(struct text *t, const struct links *l, const char *origin)
{
    double mtu_B = INFINITY;
    for (size_t i = 0; i < l->n * l->n; i++)
        mtu_B = fmin(mtu_B, l->mtu_B[i]);
    text_addf(t,
              "# Measured by gradsync links, run %s: IP packets; up and down of [sites] are what %s"
              ".\n[links]\nmtu = %.0f\nstreams = %d\ncongestion = %s\n",
              origin,
              isnan(l->up_Bps[0]) ? "one other site got or sent alone, at least"
                                  : "each sent and received while all sent to all",
              mtu_B, STREAMS, l->congestion);
    for (size_t at = 0; at < l->n * l->n; at++)
        if (l->rate_Bps[at] > 0)
            text_addf(t, "%s>%s = rate=%.4gMbit/s rtt=%.4gms loss=%.3g\n", l->names[at / l->n],
                      l->names[at % l->n], l->rate_Bps[at] * 8e-6, 1e3 * l->rtt_s[at], l->loss[at]);
}

/* A row of [sites], with the rates that were measured in place of its own. */
static void write_site(struct text *t, const struct links *l, const char *line)
{
    size_t name = strcspn(line, " \t="), i = 0;
    const char *equals = strchr(line, '=');
    AUTO_WORDS struct words w = {0};
    while (i < l->n && (strlen(l->names[i]) != name || strncmp(l->names[i], line, name) != 0))
        i++;
    if (i == l->n || !equals) {
        text_addf(t, "%s\n", line);
        return;
    }
    text_addf(t, "%s = up=%.4gMbit/s down=%.4gMbit/s", l->names[i], links_end(l, i, true) * 8e-6,
              links_end(l, i, false) * 8e-6);
    words_split(&w, equals + 1, ' ');
    for (size_t k = 0; k < w.n; k++)
        if (*w.v[k] && strncmp(w.v[k], "up=", 3) != 0 && strncmp(w.v[k], "down=", 5) != 0)
            text_addf(t, " %s", w.v[k]);
    text_add(t, "\n");
}

static bool in_section(const char *line, const char *name)
{
    size_t n = strlen(name);
    return line[0] == '[' && !strncmp(line + 1, name, n) &&
           (line[n + 1] == ']' || line[n + 1] == ' ');
}

char *links_config_text(const struct links *l, const char *config, const char *origin)
{
    struct text t = {0};
    AUTO_WORDS struct words lines = {0};
    bool sites = false, links = false, written = false;
    words_split(&lines, config, '\n');
    for (size_t i = 0; i < lines.n && strcmp(lines.v[i], LINKS_ADDED) != 0; i++) {
        const char *line = lines.v[i];
        if (*line == '[') {
            sites = in_section(line, "sites");
            links = in_section(line, "links");
            if (links) {
                write_links(&t, l, origin);
                written = true;
            }
        }
        if (sites)
            write_site(&t, l, line);
        else if (!links || *line == '#' || !strncmp(line, "path_factor", 11))
            text_addf(&t, "%s\n", line);
    }
    if (!written)
        write_links(&t, l, origin);
    return t.s;
}

/* ---- printing ---- */

void links_print(const struct links *l)
{
    static const char *const heads[] = {"direction", "RTT ms", "loss", "MTU", "Mbit/s"};
    AUTO_WORDS struct words w = {0};
    for (size_t i = 0; i < COUNT(heads); i++)
        words_add(&w, heads[i]);
    for (size_t at = 0; at < l->n * l->n; at++) {
        double rate = l->rate_Bps[at] * 8e-6;
        if (!(rate > 0))
            continue;
        words_addf(&w, "%s>%s", l->names[at / l->n], l->names[at % l->n]);
        words_addf(&w, "%.1f", 1e3 * l->rtt_s[at]);
        words_addf(&w, "%.2g%%", 100 * l->loss[at]);
        words_addf(&w, "%.0f", l->mtu_B[at]);
        words_addf(&w, "%.*f", rate < 100 ? 2 : 1, rate);
    }
    text_table_print(&w, COUNT(heads), 0, NULL);
    printf("RTT: the shortest. Mbit/s: of IP packets in this direction alone, over %d streams of "
           "%s.\n",
           STREAMS, l->congestion);
    for (size_t i = 0; i < l->n && !isnan(l->up_Bps[0]); i++)
        printf("%s%s: up %.1f, down %.1f Mbit/s%s", i ? "; " : "All to all at once: ", l->names[i],
               links_end(l, i, true) * 8e-6, links_end(l, i, false) * 8e-6,
               i + 1 == l->n ? ".\n" : "");
}
