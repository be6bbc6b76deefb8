/* SPDX-License-Identifier: Apache-2.0 */
#include "wan_sync/cell.h"

#include "common/host.h"
#include "common/payload.h"
#include "common/wan_model.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCKS_MOST (1 << 24)
#define AHEAD_B ((size_t)16 << 20) /* blocks of all others, of a rank */
/* For plans alone: a site's uplink and a round trip, common ones. */
#define ROUGH_RATE_BPS 1e8
#define ROUGH_DELAY_S 1e-3

const char *const cell_strategies[] = {"mpi", WAN_EACH_STRATEGY(WAN_STRATEGY_NAME) NULL};
const char *const cell_wires[] = {WAN_EACH_WIRE(WAN_WIRE_NAME) NULL};
static const char *const insides[] = {[INSIDE_BY_MPI] = "mpi", [INSIDE_BY_NCCL] = "nccl", NULL};
static const char *const shares[] = {[SHARES_EQUAL] = "equal", [SHARES_LP] = "lp", NULL};

#define P(member, type, role, ctype) #member, type, role, WL_FIELD(struct cell, member, ctype)
#define T(member, role) #member, WL_TEXT, role, WL_TEXT_FIELD(struct cell, member)
/* clang-format off */
static const char *const patterns[] = {
    [FLOATS_INTEGERS] = "integers", [FLOATS_NORMAL] = "normal", [FLOATS_STUDENT3] = "student3", NULL};
const struct wl_param cell_params[] = {
    {P(size, WL_SIZE, WL_AXIS, uint64_t), "B", "1MiB", 1, 1ull << 40, NULL,
     "bytes of the float32 gradient on each rank; a multiple of 4"},
    {P(strategy, WL_CHOICE, WL_CONFIG, int), NULL, "ring", 0, 0, cell_strategies,
     "all-reduce algorithm between sites; mpi: MPI_Allreduce, the baseline; oneshot: everybody sends its whole vector to everybody, for small sizes"},
    {P(wire, WL_CHOICE, WL_CONFIG, int), NULL, "fp32", 0, 0, cell_wires,
     "number format on the wire; int8 and int4 have one scale for 128 numbers"},
    {P(inside, WL_CHOICE, WL_CONFIG, int), NULL, "mpi", 0, 0, insides,
     "library that sums inside a site with strategy=hierarchical; nccl: on the GPUs, which hold the gradient"},
    {P(streams, WL_INT, WL_CONFIG, int64_t), NULL, "8", 1, 64, NULL,
     "TCP connections between two ranks; fewer are used if rate x RTT is small"},
    {P(block, WL_SIZE, WL_CONFIG, uint64_t), "B", "256KiB", 1024, 1 << 24, NULL,
     "maximum block size on the wire, the unit of pipelining"},
    {P(shares, WL_CHOICE, WL_CONFIG, int), NULL, "lp", 0, 0, shares,
     "part of the sum that each rank computes, strategy=direct; lp: those that take the least time at the ranks' rates; equal: the same for each"},
    {P(fragments, WL_INT, WL_CONFIG, int64_t), NULL, "1", 1, 65536, NULL,
     "number P of gradient fragments; each is synchronised once in `every` steps"},
    {P(overlap, WL_INT, WL_CONFIG, int64_t), NULL, "0", 0, 1000000, NULL,
     "number tau of steps that overlap with the synchronisation of a fragment; at most `every`"},
    {P(every, WL_INT, WL_AXIS, int64_t), NULL, "1", 1, 1000000, NULL,
     "number of steps between synchronisations"},
    {P(accumulate, WL_INT, WL_AXIS, int64_t), NULL, "1", 1, 1000000, NULL,
     "micro-batches per step"},
    {P(compute, WL_TIME, WL_AXIS, double), "s", "0", 0, 1e6, NULL,
     "emulated compute time of one micro-batch; 0: measure the synchronisation alone"},
    {P(tokens, WL_INT, WL_AXIS, int64_t), NULL, "0", 0, 1e15, NULL,
     "tokens per step over all ranks; 0: unknown"},
    {P(target_tokens, WL_INT, WL_AXIS, int64_t), NULL, "0", 0, 1e18, NULL,
     "tokens of the whole training; 0: unknown"},
    {P(site_ranks, WL_INT, WL_AXIS, int64_t), NULL, "0", 0, 65536, NULL,
     "consecutive ranks per site; 0: each node is a site"},
    {T(rates, WL_AXIS), NULL, "", 0, 0, NULL,
     "relative rates of the ranks for shares=lp, e.g. 4:4:1:4; empty: as probed between hosts; equal shares if they are not known"},
    {P(pattern, WL_CHOICE, WL_AXIS, int), NULL, "integers", 0, 0, patterns,
     "distribution of the gradient; integers: the sum is exact; normal, student3: floats, with the tail of Student's t with 3 degrees of freedom"},
    {P(timeout, WL_TIME, WL_AXIS, double), "s", "30s", 0.1, 86400, NULL,
     "longest time without any block, or without an answer of a host, before the cell fails"},
    {T(congestion, WL_CONFIG), NULL, "", 0, 0, NULL,
     "TCP congestion control, e.g. bbr; empty: the kernel's default"},
    {P(probe, WL_TIME, WL_AXIS, double), "s", "2s", 0, 60, NULL,
     "time limit of the probe that finds the rate when two ranks connect; 0: no probe, and no pacing by it"},
    {T(interface, WL_AXIS), NULL, "", 0, 0, NULL,
     "network interface; empty: all but loopback"},
    {P(port, WL_INT, WL_AXIS, int64_t), NULL, "0", 0, 65535, NULL,
     "TCP port of the first rank on a node; the others add their local rank; 0: any free port"},
    {0}};
/* clang-format on */

size_t cell_count(const struct cell *c)
{
    return (size_t)c->size / sizeof(float);
}

size_t cell_fragment(const struct cell *c, int64_t f)
{
    size_t count = cell_count(c), n = (size_t)c->fragments;
    return count / n * (size_t)f + count % n * (size_t)f / n;
}

int64_t cell_steps_beside(const struct cell *c)
{
    if (c->fragments == 1 && c->overlap == 0)
        return 0;
    int64_t steps = c->every / c->fragments + c->overlap;
    return steps < c->every ? steps : c->every;
}

enum wan_strategy cell_model(const struct cell *c)
{
    return (enum wan_strategy)(c->strategy - CELL_FIRST);
}

size_t cell_ahead_B(const struct cell *c, int ranks)
{
    bool to_all = wan_strategy_to_all[cell_model(c)];
    size_t peers = to_all && ranks > 1 ? (size_t)ranks - 1 : 1;
    return AHEAD_B / peers > 2 * c->block ? AHEAD_B / peers : 2 * c->block;
}

/* Elements that make about so many bytes on the wire. */
static size_t elements_of(const struct cell *c, uint64_t bytes)
{
    double each = (double)wire_bytes((enum wire)c->wire, WIRE_GROUP) / WIRE_GROUP;
    size_t n = (size_t)((double)bytes / each) / WIRE_GROUP * WIRE_GROUP;
    return n ? n : WIRE_GROUP;
}

struct schedule_shape cell_shape(const struct cell *c, int members, size_t count)
{
    return (struct schedule_shape){.members = members,
                                   .count = count,
                                   .align = WIRE_GROUP,
                                   .block = elements_of(c, c->block),
                                   .least = elements_of(c, WAN_LEAST_BLOCK_B),
                                   .plain = c->wire == WIRE_FP32};
}

int cell_rates(const struct cell *c, double *rate, int most)
{
    int n = 0;
    for (const char *at = c->rates; *at; n++) {
        char *end;
        double x = strtod(at, &end);
        if (end == at || !(x > 0) || !isfinite(x) || (*end && *end != ':') ||
            (*end == ':' && !end[1]))
            return -1;
        if (n < most)
            rate[n] = x;
        at = *end ? end + 1 : end;
    }
    return n;
}

/* ---- what is refused ---- */

static enum wl_status judge_size(const struct cell *c, const struct wl_job *job, char *why,
                                 size_t n)
{
    if (job->ranks < 2 || job->ranks > FLOATS_RANKS_MOST)
        snprintf(why, n, "ranks=%d: a synchronisation has 2..%d", job->ranks, FLOATS_RANKS_MOST);
    else if (c->size == 0 || c->size % sizeof(float))
        snprintf(why, n, "size=%llu is not a multiple of the %zu bytes of a float",
                 (unsigned long long)c->size, sizeof(float));
    else if (c->size / sizeof(float) > INT_MAX)
        snprintf(why, n, "size=%llu is more than the %d elements that MPI can count",
                 (unsigned long long)c->size, INT_MAX);
    else if (c->size / c->block >= BLOCKS_MOST)
        snprintf(why, n, "size=%llu in blocks of block=%llu is more than %d blocks",
                 (unsigned long long)c->size, (unsigned long long)c->block, BLOCKS_MOST);
    else if (c->site_ranks && job->ranks % c->site_ranks)
        snprintf(why, n, "site_ranks=%lld does not divide the %d ranks", (long long)c->site_ranks,
                 job->ranks);
    else
        return WL_OK;
    return WL_FAIL;
}

static enum wl_status judge_training(const struct cell *c, char *why, size_t n)
{
    if (c->compute <= 0 && (c->every > 1 || c->fragments > 1 || c->overlap || c->accumulate > 1))
        snprintf(why, n,
                 "every, fragments, overlap and accumulate need something to compute: "
                 "compute=TIME");
    else if (c->fragments > c->every || c->every % c->fragments)
        snprintf(why, n, "fragments=%lld does not divide every=%lld", (long long)c->fragments,
                 (long long)c->every);
    else if (c->overlap > c->every)
        snprintf(why, n, "overlap=%lld is above every=%lld (0..every)", (long long)c->overlap,
                 (long long)c->every);
    else if ((uint64_t)c->fragments > c->size / sizeof(float))
        snprintf(why, n, "fragments=%lld are more than the %llu elements of size=%llu",
                 (long long)c->fragments, (unsigned long long)(c->size / sizeof(float)),
                 (unsigned long long)c->size);
    else
        return WL_OK;
    return WL_FAIL;
}

/* Combinations that a sweep makes and that are nothing. */
static enum wl_status judge_config(const struct cell *c, const struct wl_job *job, char *why,
                                   size_t n)
{
    int rates = cell_rates(c, NULL, 0);
    if (*c->rates && rates != job->ranks)
        return HOST_WHY(WL_FAIL, why, n,
                        "rates=%s: %d numbers above 0 joined by ':', one per rank, are allowed",
                        c->rates, job->ranks);
    if (c->strategy == CELL_MPI && c->wire != WIRE_FP32)
        snprintf(why, n, "strategy=mpi has no wire=%s (fp32)", cell_wires[c->wire]);
    else if (c->strategy == CELL_MPI && cell_steps_beside(c))
        snprintf(why, n, "strategy=mpi blocks: set fragments=1 and overlap=0");
    else if (c->shares != SHARES_LP && c->strategy != CELL_FIRST + WAN_DIRECT)
        snprintf(why, n, "strategy=%s has no shares=%s: only direct has shares",
                 cell_strategies[c->strategy], shares[c->shares]);
    else if (c->inside != INSIDE_BY_MPI && c->strategy != CELL_FIRST + WAN_HIERARCHICAL)
        snprintf(why, n, "strategy=%s sums nothing inside a site: it has no inside=%s (mpi)",
                 cell_strategies[c->strategy], insides[c->inside]);
    else if (c->inside != INSIDE_BY_MPI && cell_steps_beside(c))
        snprintf(why, n, "inside=%s has no overlap, which runs on the host", insides[c->inside]);
    else
        return WL_OK;
    return WL_SKIP;
}

enum wl_status cell_describe(const void *cell, const struct wl_job *job, struct wl_shape *shape,
                             char *why, size_t why_size)
{
    const struct cell *c = cell;
    CHECK(judge_size(c, job, why, why_size));
    CHECK(judge_training(c, why, why_size));
    double steps = (double)(c->every + cell_steps_beside(c));
    shape->size_B = c->size;
    shape->busbw_factor = c->compute > 0 ? 0 : 2.0 * (job->ranks - 1) / job->ranks;
    shape->host_B = c->size + AHEAD_B;
    shape->device_B = c->inside == INSIDE_BY_NCCL ? c->size : 0;
    shape->iteration_s = steps * (double)c->accumulate * c->compute + 2 * ROUGH_DELAY_S +
                         2 * (double)c->size / ROUGH_RATE_BPS;
    shape->iters_min = shape->iters_max = 1;
    return judge_config(c, job, why, why_size);
}
