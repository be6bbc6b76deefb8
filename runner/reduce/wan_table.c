/* SPDX-License-Identifier: Apache-2.0 */
#include "reduce/wan_table.h"

#include "base/err.h"
#include "base/text.h"
#include "base/units.h"
#include "common/wan_model.h"
#include "config/config.h"
#include "record/recorded.h"
#include "reduce/summary.h"
#include "wan/net.h"
#include "wan/training.h"

#include <math.h>
#include <string.h>

/* ---- a cell of wan_sync ---- */

#define WAN_CELL_AUTO (-1)
#define WAN_CELL_GIVEN (-2)

struct wan_cell {
    char strategy[32], transport[16], wire[16];
    int congestion; /* enum wan_congestion, WAN_CELL_AUTO, or that of the network */
    int model;      /* enum wan_strategy; WAN_STRATEGIES: none */
    double bits, compute_s, block_B;
    int64_t streams, every, fragments, overlap, accumulate, tokens, target_tokens;
    bool strict, trains, equal_shares;
};

#define NAME_AND_BITS(value, name, bits) {#name, bits},
static const struct {
    const char *name;
    double bits;
} wires[] = {WAN_EACH_WIRE(NAME_AND_BITS)};

static void read_word(const struct rec_cell *c, const char *key, char *buf, size_t n)
{
    if (!recorded_param(c, key, buf, n))
        *buf = '\0';
}

static int64_t read_count(const struct rec_cell *c, const char *key, int64_t otherwise)
{
    char buf[64];
    int64_t value = otherwise;
    if (recorded_param(c, key, buf, sizeof buf))
        units_parse_int(buf, &value);
    return value;
}

static struct wan_cell wan_cell_read(const struct rec_cell *c)
{
    struct wan_cell s = {.model = WAN_STRATEGIES, .bits = 32};
    uint64_t block_B = 256 << 10;
    char word[64];
    read_word(c, "congestion", word, sizeof word);
    s.congestion = strcmp(word, "auto") ? WAN_CELL_GIVEN : WAN_CELL_AUTO;
    for (int i = 0; wan_congestions[i]; i++)
        if (!strcmp(word, wan_congestions[i]))
            s.congestion = i;
    read_word(c, "strategy", s.strategy, sizeof s.strategy);
    if (!recorded_param(c, "transport", s.transport, sizeof s.transport)) /* since 1.5.0 */
        strcpy(s.transport, "tcp");
    read_word(c, "wire", s.wire, sizeof s.wire);
    for (int i = 0; i < WAN_RECORDED; i++)
        if (wan_strategy_names[i] && !strcmp(s.strategy, wan_strategy_names[i]))
            s.model = i;
    for (size_t i = 0; i < sizeof wires / sizeof *wires; i++)
        if (!strcmp(s.wire, wires[i].name))
            s.bits = wires[i].bits;
    s.streams = strcmp(s.transport, "tcp") ? 1 : read_count(c, "streams", 1);
    if (recorded_param(c, "block", word, sizeof word))
        units_parse_size(word, &block_B);
    s.block_B = (double)block_B;
    s.every = read_count(c, "every", 1);
    s.fragments = read_count(c, "fragments", 1);
    s.overlap = read_count(c, "overlap", 0);
    s.accumulate = read_count(c, "accumulate", 1);
    s.tokens = read_count(c, "tokens", 0);
    s.target_tokens = read_count(c, "target_tokens", 0);
    s.equal_shares = recorded_param(c, "shares", word, sizeof word) && !strcmp(word, "equal");
    s.strict = recorded_param(c, "strict", word, sizeof word) && !strcmp(word, "yes");
    if (recorded_param(c, "compute", word, sizeof word))
        units_parse_time(word, &s.compute_s);
    s.trains = s.compute_s > 0 ||
               (recorded_param(c, "compute_kind", word, sizeof word) && !strcmp(word, "gemm"));
    return s;
}

/* ---- measured ---- */

enum { SYNC, EXPOSED, COMPUTE, OUTER, EFFICIENCY, WIRE, RMS_ERROR, MAX_ERROR, METRICS_READ };
static const char *const metric_names[METRICS_READ] = {
    "sync_time", "exposed", "compute", "outer", "efficiency", "wire", "rms_error", "max_error"};

struct measured {
    struct estimate time, metrics[METRICS_READ];
};

static struct measured measured_of(const struct rec_cell *c, const struct summary *summary)
{
    struct measured t = {.time = summary->time_s};
    for (int m = 0; m < METRICS_READ; m++) {
        t.metrics[m] = (struct estimate){NAN, NAN, NAN};
        for (size_t i = 0; i < c->n_metrics; i++)
            if (!strcmp(c->metrics[i], metric_names[m]))
                t.metrics[m] = summary->metrics[i];
    }
    return t;
}

/* ---- modelled ---- */

struct modelled {
    double rate_Bps, rtt_s, loss, bound_s;
    struct wan_outcome o; /* NaN: none */
};

static struct wan_training training_of(const struct rec_cell *c, const struct wan_cell *s,
                                       const struct measured *t)
{
    double compute_s = t->metrics[COMPUTE].median;
    if (!(compute_s > 0))
        compute_s = (double)s->accumulate * s->compute_s;
    /* Steps beside which the exchange of a fragment runs. Unless strict, wan_sync lets one that overlaps
     * take until the next one is due. */
    bool waits = s->strict || (s->fragments <= 1 && s->overlap <= 0);
    double hidden = (double)s->overlap + (waits ? 0 : (double)s->every / (double)s->fragments);
    return (struct wan_training){
        .parameters = (double)c->size_B / sizeof(float),
        .tokens = (double)s->tokens,
        .compute_s = compute_s,
        .bits = s->bits,
        .group = WAN_WIRE_GROUP,
        .every = (double)s->every,
        .fragments = (double)s->fragments,
        .overlap = fmin(hidden, (double)s->every),
        .outer_s = fmax(0, t->metrics[OUTER].median),
        .target_tokens = (double)s->target_tokens,
    };
}

static void worst_of(struct modelled *m, const struct wan_map *map)
{
    for (size_t from = 0; from < map->n; from++)
        for (size_t to = 0; to < map->n; to++) {
            if (from == to)
                continue;
            struct wan_link l = wan_map_link(map, from, to);
            m->rtt_s = fmax(m->rtt_s, l.rtt_s);
            m->loss = fmax(m->loss, l.loss);
        }
    m->rate_Bps = wan_map_rate(map);
}

/* `network` and `given`: of the map, before anything disturbs it or a cell changes it. */
static struct modelled model(struct wan_map *map, const struct rec_cell *c,
                             const struct wan_cell *s, const struct measured *t,
                             const struct recorded *r, const struct modelled *network, int given)
{
    struct modelled m = *network;
    struct wan_training training = training_of(c, s, t);
    /* congestion=auto begins with `given`, and takes BBR where packets are lost. */
    int congestion = s->congestion >= 0 ? s->congestion : given;
    if (s->congestion == WAN_CELL_AUTO && m.loss > 0)
        congestion = WAN_BBR;
    for (size_t i = 0; i <= map->n * map->n; i++) {
        struct wan_link *l = i < map->n * map->n ? &map->links[i] : &map->common;
        l->streams = s->streams;
        l->congestion = congestion;
        l->free_sends = true;
    }
    const bool tcp = !strcmp(s->transport, "tcp");
    int begins = s->congestion == WAN_CELL_AUTO ? given : congestion;
    struct wan_carrier carrier =
        wan_carrier_make(s->block_B, (double)s->streams, tcp ? wan_segment_B(&map->common) : 0,
                         begins == WAN_BBR, m.loss);
    /* The smallest block of wan_sync 1.0.0 was twice as large. Recordings of it that are later than the
     * change were made before its version was raised. */
    bool older = !strcmp(r->plugin, "1.0.0") && strcmp(r->run_id, "20261123T104844Z") < 0;
    carrier.least_B = older ? 2 * WAN_LEAST_BLOCK_B : WAN_LEAST_BLOCK_B;
    /* Before 1.4.0 heads were longer, and before 1.3.0 they had proofs. */
    if (strcmp(r->plugin, "1.4.0") < 0)
        carrier.frame_B = strcmp(r->plugin, "1.3.0") < 0 ? 80 : 48;
    m.bound_s = wan_map_bound_s(map, wan_training_bytes(&training, s->bits));
    if (s->model != WAN_STRATEGIES) {
        struct wan_case one = wan_case_of(map, &training);
        one.strategy = (enum wan_strategy)s->model;
        one.equal_shares = s->equal_shares;
        one.end_shares = strcmp(r->plugin, "1.3.0") < 0;
        one.factor = tcp ? WAN_HEADROOM : 1; /* the share of the uplink's rate that it uses */
        one.carrier = &carrier;
        one.flat = one.strategy == WAN_HIERARCHICAL ? 1 : (double)r->ranks / (double)map->n;
        m.o = wan_evaluate(&one);
    }
    /* A step without computation has no numbers; tokens need their number in the config. */
    if (!s->trains)
        m.o.exposed_s = m.o.step_s = m.o.efficiency = NAN;
    if (!s->trains || !s->tokens)
        m.o.tokens_per_s = m.o.seconds = NAN;
    return m;
}

/* ---- rows ---- */

const char wan_columns[] =
    "run_id,platform,label,cell_id,config,strategy,transport,wire,ranks,sites,size_B,streams,"
    "every,fragments,overlap,rate_Bps,rtt_s,loss,launches,blocks,"
    "sync_s,sync_ci_low_s,sync_ci_high_s,model_sync_s,bound_s,effective_Bps,wire_B,model_wire_B,"
    "compute_s,exposed_s,model_exposed_s,step_s,step_ci_low_s,step_ci_high_s,model_step_s,"
    "efficiency,model_efficiency,tokens_per_s,model_tokens_per_s,target_s,model_target_s,"
    "rms_error,max_error";

static void put_row(struct csv *c, const struct recorded *r, const struct series *series,
                    const struct wan_cell *s, const struct measured *t, const struct modelled *m,
                    size_t sites)
{
    const struct rec_cell *cell = &r->cells[series->cell];
    const struct estimate *x = t->metrics, none = {NAN, NAN, NAN};
    const struct estimate *step = s->trains ? &t->time : &none;
    double busbw_B = (double)cell->size_B * 2 * (double)(r->ranks - 1) / (double)r->ranks;
    double tokens_per_s = s->tokens ? (double)s->tokens / step->median : NAN;
    CSV_TEXTS(c, r->run_id, r->platform, r->label, cell->id, cell->config, s->strategy,
              s->transport, s->wire);
    CSV_INTEGERS(c, r->ranks, (int64_t)sites, cell->size_B, s->streams, s->every, s->fragments,
                 s->overlap);
    CSV_REALS(c, m->rate_Bps, m->rtt_s, m->loss);
    csv_integer(c, series->launches);
    csv_integer(c, (int64_t)(series->n_blocks - series->n_warm));
    const double numbers[] = {
        x[SYNC].median,
        x[SYNC].lo,
        x[SYNC].hi,
        m->o.sync_s,
        m->bound_s,
        busbw_B / x[SYNC].median,
        x[WIRE].median > 0 ? x[WIRE].median : NAN, /* 0: MPI does not count */
        m->o.bytes,
        s->trains ? x[COMPUTE].median : NAN,
        s->trains ? x[EXPOSED].median : NAN,
        m->o.exposed_s / (double)s->every,
        step->median,
        step->lo,
        step->hi,
        m->o.step_s,
        s->trains ? x[EFFICIENCY].median : NAN,
        m->o.efficiency,
        tokens_per_s,
        m->o.tokens_per_s,
        s->target_tokens ? (double)s->target_tokens / tokens_per_s : NAN,
        m->o.seconds,
        x[RMS_ERROR].median,
        x[MAX_ERROR].median,
    };
    csv_reals(c, numbers, sizeof numbers / sizeof *numbers);
    csv_end(c);
}

static void put_rows(struct csv *c, const struct recorded *r, const struct gathered *g,
                     const struct summary *cells, struct wan_map *map)
{
    struct modelled network = {NAN, NAN, NAN, NAN, {NAN, NAN, NAN, NAN, NAN, NAN, NAN}};
    int given = map->common.congestion;
    if (map->n) {
        network.rtt_s = network.loss = 0;
        worst_of(&network, map);
        wan_map_disturb(map);
    }
    for (size_t i = 0; i < g->n; i++) {
        const struct series *series = &g->series[i];
        if (series->copy || !series_status(r, series).numbers)
            continue;
        struct wan_cell s = wan_cell_read(&r->cells[series->cell]);
        struct measured t = measured_of(&r->cells[series->cell], &cells[series->cell]);
        struct modelled m = network;
        if (map->n)
            m = model(map, &r->cells[series->cell], &s, &t, r, &network, given);
        put_row(c, r, series, &s, &t, &m, map->n ? map->n : (size_t)r->nodes);
    }
}

int wan_rows(struct csv *c, const struct recorded *r, const struct gathered *g,
             const struct summary *cells)
{
    if (strcmp(r->workload, "wan_sync"))
        return GS_OK;
    AUTO(wan_map_free) struct wan_map map = {0};
    bool rated = false;
    CHECK(r->config ? wan_map_check_words(r->config, &rated) : GS_OK);
    if (rated) /* else nobody said what the links give: nothing is modelled */
        CHECK(wan_map_read(&map, r->config));
    put_rows(c, r, g, cells, &map);
    return GS_OK;
}
