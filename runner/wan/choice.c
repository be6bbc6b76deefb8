/* SPDX-License-Identifier: Apache-2.0 */
#include "wan/choice.h"

#include "base/text.h"
#include "base/units.h"
#include "common/wan_plan.h"
#include "wan/wan_report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define FRAGMENTS 8.0
#define EVERY_MOST 100.0
#define STREAMS 8       /* where no measurement says another number */
#define STREAMS_MOST 64 /* of wan_sync; NCCL has as many sockets at most */
#define MIB 1048576.0
#define BUFFER_LEAST_B (6 * MIB) /* Linux: what tcp_rmem allows by itself */

/* ---- the order ---- */

static double ring_s(const struct wan_map *m, double bytes)
{
    struct wan_view v;
    wan_view_make(&v, m, WAN_RING, 1);
    double s = wan_sync_s(WAN_RING, &v.net, bytes);
    wan_view_free(&v);
    return s;
}

/* Lines that links share are left out of the search, and judged with the result. */
static void order_ring(struct wan_map *m, double bytes)
{
    size_t n = m->n;
    int *order = xcalloc(n + 1, sizeof *order);
    double *rate = xcalloc(n * n + 1, sizeof *rate), *rtt = xcalloc(n * n + 1, sizeof *rtt);
    double given_s = ring_s(m, bytes);
    for (size_t i = 0; i < n * n; i++) {
        struct wan_link l = wan_map_link(m, i / n, i % n);
        rate[i] = wan_link_Bps(&l, 1);
        rtt[i] = l.rtt_s;
    }
    for (size_t i = 0; i < n; i++)
        order[i] = (int)i;
    wan_ring_order(&(struct wan_matrix){.n = n, .rate_Bps = rate, .rtt_s = rtt}, bytes, order);
    m->order = xcalloc(n, sizeof *m->order);
    for (size_t i = 0; i < n; i++)
        m->order[i] = (size_t)order[i];
    if (ring_s(m, bytes) >= given_s) {
        free(m->order);
        m->order = NULL;
    }
    free(order);
    free(rate);
    free(rtt);
}

/* ---- the training ---- */

static void try_schedule(struct wan_choice *c, double bits, double fragments, double overlap)
{
    c->training.bits = c->plan.bits = bits;
    c->training.fragments = fragments;
    c->training.overlap = overlap;
    c->training.every = 1;
    c->plan.strategy = wan_best_strategy(c->plan.map, &c->training);
    c->plan.flat = wan_flat(c->plan.map, c->plan.strategy);
    /* Each fragment has a place of its own among the steps. */
    c->plan.every =
        fragments > 1 ? fragments * ceil(wan_every_for(&c->plan, c->target) / fragments) : 1;
    c->training.every = c->plan.every;
    c->outcome = wan_evaluate(&c->plan);
}

void wan_choice_make(struct wan_choice *c, struct wan_map *m, const struct wan_training *t)
{
    static const double bits[] = {16, 8, 4};
    *c = (struct wan_choice){.training = *t};
    c->plan = (struct wan_case){.map = m, .training = &c->training, .factor = 1};
    for (size_t i = 0; i < t->n_targets; i++)
        c->target = fmax(c->target, t->targets[i]);
    double bytes = wan_training_bytes(t, t->bits);
    c->ring_s = ring_s(m, bytes);
    if (m->n >= 3)
        order_ring(m, bytes);
    c->order_s = ring_s(m, bytes);
    c->streams = m->common.streams > 0 ? m->common.streams : STREAMS;
    c->streams = c->streams < STREAMS_MOST ? c->streams : STREAMS_MOST;
    try_schedule(c, bits[0], 1, 0);
    for (size_t i = 0; i < sizeof bits / sizeof *bits; i++)
        if (c->outcome.efficiency < c->target || c->plan.every > EVERY_MOST)
            try_schedule(c, bits[i], FRAGMENTS, 1);
}

/* ---- for people ---- */

static const char *wire_of(double bits)
{
    return bits <= 4 ? "int4" : bits <= 8 ? "int8" : "bf16";
}

static double largest_bdp(const struct wan_map *m)
{
    double most = 0;
    for (size_t a = 0; a < m->n; a++)
        for (size_t b = 0; b < m->n; b++) {
            struct wan_link l = wan_map_link(m, a, b);
            most = a == b ? most : fmax(most, l.rate_Bps * l.rtt_s);
        }
    return most;
}

static void print_order(const struct wan_choice *c)
{
    const struct wan_map *m = c->plan.map;
    char best[32], given[32];
    printf("  ring       ");
    for (size_t i = 0; i < m->n && m->order; i++)
        printf("%s%s", i ? ", " : "", m->sites[m->order[i]].name);
    if (m->order)
        printf(": %s instead of %s in the order of [sites]",
               units_human_time(best, sizeof best, c->order_s),
               units_human_time(given, sizeof given, c->ring_s));
    else
        printf("in the order of [sites]: no order by rate is faster");
    printf("\n");
}

static void print_wan_sync(const struct wan_choice *c)
{
    static const char *const congestions[] = {
        [WAN_RENO] = "reno", [WAN_CUBIC] = "cubic", [WAN_BBR] = "bbr"};
    const struct wan_map *m = c->plan.map;
    enum wan_strategy s = c->plan.strategy;
    printf("  [wan_sync] strategy = %s, order = rate,%s streams = %lld, congestion = %s,\n"
           "             wire = %s, every = %.0f, fragments = %.0f, overlap = %.0f\n",
           wan_strategy_names[s], s == WAN_DIRECT ? " shares = lp," : "", (long long)c->streams,
           congestions[m->common.congestion], wire_of(c->plan.bits), c->plan.every,
           fmin(c->training.fragments, c->plan.every), c->training.overlap);
    printf("             %.3g%% of the time is compute%s\n", 100 * c->outcome.efficiency,
           c->outcome.efficiency < c->target * (1 - 1e-9) ? ", below the target" : "");
}

/* What another program can do. The exchange of a fragment runs beside `overlap` whole steps, and
 * beside no backward pass. */
struct tool {
    enum wan_strategy strategy;
    double bits_least, fragments, overlap;
};

/* Its parts go to all peers at once (hivemind); nothing computes meanwhile. */
static const struct tool opendiloco = {WAN_DIRECT, 8, 1, 0};
static const struct tool torchft = {WAN_RING, 8, FRAGMENTS, 1};

/* The H at which it reaches the target; infinite: at none. *efficiency: what it then has. */
static double tool_every(const struct wan_choice *c, const struct tool *tool, double *efficiency)
{
    struct wan_training t = c->training;
    struct wan_case k = c->plan;
    t.backward = 0;
    t.fragments = tool->fragments;
    t.overlap = tool->overlap;
    k.training = &t;
    k.strategy = tool->strategy;
    k.flat = 1; /* one worker a site */
    k.bits = fmax(k.bits, tool->bits_least);
    k.every = tool->fragments * ceil(wan_every_for(&k, c->target) / tool->fragments);
    *efficiency = isfinite(k.every) ? wan_evaluate(&k).efficiency : NAN;
    return k.every;
}

static void print_diloco(const struct wan_choice *c)
{
    double share, every = tool_every(c, &opendiloco, &share);
    bool few = c->plan.bits < 16;
    printf("  OpenDiLoCo --hv.local-steps %.0f --hv.hivemind-compression %s\n", every,
           few ? "uniform8bit" : "fp16");
    printf(
        "             %.3g%% of the time is compute: a direct exchange, no fragments, no overlap\n",
        100 * share);
    every = tool_every(c, &torchft, &share);
    printf("  torchtitan --fault_tolerance.enable --fault_tolerance.semi_sync_method=diloco\n"
           "             --fault_tolerance.sync_steps=%.0f --fault_tolerance.num_fragments=%.0f\n"
           "             --fault_tolerance.fragment_sync_delay=%.0f%s\n",
           every, torchft.fragments, torchft.overlap,
           few ? " --fault_tolerance.should_quantize" : "");
    printf("             %.3g%% of the time is compute%s\n", 100 * share,
           few ? ": it sends 8 bits" : "");
}

/* Names as NCCL 2.28, train_fsdp.py of OpenDiLoCo, the command line of torchtitan (for torchft) and
 * pccl.h have them. */
static void print_elsewhere(const struct wan_choice *c)
{
    double buffer_B = fmax(BUFFER_LEAST_B, 2 * largest_bdp(c->plan.map));
    double mib = ceil(buffer_B / MIB);
    long long sockets = (c->streams + 1) / 2;
    bool bbr = c->plan.map->common.congestion == WAN_BBR;
    printf("  sysctl     net.ipv4.tcp_rmem='4096 131072 %.0f' net.ipv4.tcp_wmem='4096 65536 %.0f'\n"
           "             net.ipv4.tcp_slow_start_after_idle=0%s\n",
           mib * MIB, mib * MIB,
           bbr ? " net.ipv4.tcp_congestion_control=bbr net.core.default_qdisc=fq" : "");
    printf("  NCCL       NCCL_SOCKET_IFNAME=<interface to the sites> NCCL_SOCKET_NTHREADS=%d "
           "NCCL_NSOCKS_PERTHREAD=%lld\n",
           c->streams > 1 ? 2 : 1, c->streams > 1 ? sockets : 1);
    printf("             ranks in the order of the ring\n");
    if (c->plan.every > 1)
        print_diloco(c);
    printf("  PCCL       p2p_connection_pool_size=%lld, pcclOptimizeTopology once all have "
           "joined%s%s\n",
           (long long)c->streams,
           c->plan.bits < 16 ? ",\n             quantized_datatype=pcclUint8 "
                               "algorithm=pcclQuantMinMax"
                             : "",
           c->plan.every > 1 ? ";\n             steps, fragments and delay as for torchtitan" : "");
}

/* However rarely it synchronises: what a step waits for anyway. */
static void print_never(const struct wan_choice *c)
{
    const struct wan_training *t = &c->training;
    double compute_s = wan_training_compute_s(t);
    printf("no value of every reaches %.3g%% compute: [model] straggle leaves %.3g%%; lower it, or "
           "[model] "
           "targets\n",
           100 * c->target, 100 * compute_s / (compute_s + t->straggle_s));
}

void wan_choice_print(const struct wan_choice *c)
{
    if (!isfinite(c->plan.every)) {
        print_never(c);
        return;
    }
    printf(
        "plan for %.3g%% compute (without fragments and overlap: gradsync model without --plan)\n",
        100 * c->target);
    wan_report_losses(c->plan.map);
    print_order(c);
    print_wan_sync(c);
    wan_report_slow_site(&c->plan);
    print_elsewhere(c);
}
