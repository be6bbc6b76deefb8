/* SPDX-License-Identifier: Apache-2.0
 *
 * How often `gradsync suspects` names a healthy rank or link, and misses a slow one: machines with a
 * known truth, through the function that judges a recording (runner/suspects/suspects_judge.h).
 *   suspect_rates [MACHINES [SEED]]      1000 1 unless given
 * A tenth of it for machines of 64 ranks, which take longer.
 * Prints a CSV of rates with their 95% intervals, and ends with 1 if one is outside its bounds.
 *
 * A machine has ranks on hosts, 3 launches of 10 blocks. The logarithm of a time is the sum of
 *   health    N(0, h), of each rank and each link, and of each test
 *   launch    N(0, 0.3%), of each rank or link in each launch
 *   noise     N(0, 1%), of each block; one visit of fifty is 20% slower
 *   drift     of all: 3% over the launch, and a clock step of -4% somewhere in it
 *   the truth of the regime
 */
#include "rates.h"

#include "base/text.h"
#include "common/rng.h"
#include "suspects/suspects_judge.h"

#include <math.h>
#include <stdlib.h>

enum { LAUNCHES = 3, BLOCKS = 10, VISITS = LAUNCHES * BLOCKS, RANKS_MOST = 64 };
enum { GEMM, MEMORY, TO_DEVICE, FROM_DEVICE, SENDRECV, ALLREDUCE };

/* Slower by so much: `ranks` ranks in computing, one rank in all its messages, one link, or all
 * links between one host and the others. */
struct regime {
    const char *name;
    size_t ranks, per_host;
    double health, rank, messages, link, network;
    size_t slow;   /* number of slow ranks */
    double alarms; /* most machines that may have a healthy suspect */
    double found;  /* fewest that must have all slow ones named */
};
static const struct regime regimes[] = {
    {"healthy; 2 ranks", 2, 2, 0.005, 0, 0, 0, 0, 0, 0.05, 0},
    {"healthy; 3 ranks", 3, 3, 0.005, 0, 0, 0, 0, 0, 0.05, 0},
    {"healthy; 4 ranks", 4, 4, 0.005, 0, 0, 0, 0, 0, 0.05, 0},
    {"healthy; 2 ranks that differ by 1%", 2, 2, 0.01, 0, 0, 0, 0, 0, 0.05, 0},
    {"healthy; 2 ranks that differ by 2%", 2, 2, 0.02, 0, 0, 0, 0, 0, 0.05, 0},
    {"healthy; 3 ranks that differ by 2%", 3, 3, 0.02, 0, 0, 0, 0, 0, 0.05, 0},
    {"healthy; 3 ranks that differ by 5%", 3, 3, 0.05, 0, 0, 0, 0, 0, 1, 0},
    {"healthy; 4 ranks that differ by 1%", 4, 4, 0.01, 0, 0, 0, 0, 0, 0.05, 0},
    {"healthy; 4 ranks that differ by 2%", 4, 4, 0.02, 0, 0, 0, 0, 0, 0.05, 0},
    {"healthy; 4 ranks that differ by 5%", 4, 4, 0.05, 0, 0, 0, 0, 0, 1, 0},
    {"healthy; 6 ranks that differ by 2%", 6, 6, 0.02, 0, 0, 0, 0, 0, 0.05, 0},
    {"healthy; 8 ranks", 8, 8, 0.005, 0, 0, 0, 0, 0, 0.05, 0},
    {"healthy; 8 ranks that differ by 1%", 8, 8, 0.01, 0, 0, 0, 0, 0, 0.05, 0},
    {"healthy; 8 ranks that differ by 2%", 8, 8, 0.02, 0, 0, 0, 0, 0, 0.05, 0},
    {"healthy; 8 ranks that differ by 5%", 8, 8, 0.05, 0, 0, 0, 0, 0, 0.05, 0},
    {"healthy; 4 hosts of 4 ranks", 16, 4, 0.005, 0, 0, 0, 0, 0, 0.05, 0},
    {"healthy; 4 hosts of 4 ranks that differ by 2%", 16, 4, 0.02, 0, 0, 0, 0, 0, 0.05, 0},
    {"healthy; 8 hosts of 8 ranks", 64, 8, 0.005, 0, 0, 0, 0, 0, 0.05, 0},
    {"healthy; 8 hosts of 8 ranks that differ by 2%", 64, 8, 0.02, 0, 0, 0, 0, 0, 0.05, 0},
    {"a rank computes 10% slower; 2 ranks", 2, 2, 0.005, 0.1, 0, 0, 0, 1, 0.05, 0.8},
    {"a rank computes 10% slower; 4 ranks", 4, 4, 0.005, 0.1, 0, 0, 0, 1, 0.05, 0.9},
    {"a rank computes 10% slower; 3 ranks", 3, 3, 0.005, 0.1, 0, 0, 0, 1, 0.05, 0.8},
    {"a rank computes 5% slower; 8 ranks", 8, 8, 0.005, 0.05, 0, 0, 0, 1, 0.05, 0.8},
    {"a rank computes 10% slower; 8 ranks", 8, 8, 0.005, 0.1, 0, 0, 0, 1, 0.05, 0.9},
    {"two ranks compute 10% slower; 8 ranks", 8, 8, 0.005, 0.1, 0, 0, 0, 2, 0.05, 0.9},
    {"a rank's messages 10% slower; 8 ranks", 8, 8, 0.005, 0, 0.1, 0, 0, 0, 0.05, 0.9},
    {"a rank's messages 10% slower; 4 ranks", 4, 4, 0.005, 0, 0.1, 0, 0, 0, 0.05, 0.8},
    {"a rank's messages 10% slower; 3 ranks", 3, 3, 0.005, 0, 0.1, 0, 0, 0, 0.05, 0.5},
    {"a link 10% slower; 3 ranks", 3, 3, 0.005, 0, 0, 0.1, 0, 0, 0.05, 0.5},
    {"a link 10% slower; 4 ranks", 4, 4, 0.005, 0, 0, 0.1, 0, 0, 0.05, 0.5},
    {"a link 10% slower; 8 ranks", 8, 8, 0.005, 0, 0, 0.1, 0, 0, 0.05, 0.9},
    {"a link 5% slower; 8 ranks", 8, 8, 0.005, 0, 0, 0.05, 0, 0, 0.05, 0.8},
    {"a rank computes 5% slower; 8 hosts of 8 ranks", 64, 8, 0.005, 0.05, 0, 0, 0, 1, 0.05, 0.8},
    {"a host's network 10% slower; 4 hosts of 4 ranks", 16, 4, 0.005, 0, 0, 0, 0.1, 0, 0.05, 0.8},
};
enum { REGIMES = sizeof regimes / sizeof *regimes };

/* ---- a machine ---- */

static struct rank_facts facts[RANKS_MOST];

static void place(const struct regime *r)
{
    static char *hosts[] = {"a", "b", "c", "d", "e", "f", "g", "h"};
    for (size_t i = 0; i < r->ranks; i++)
        facts[i] = (struct rank_facts){
            .host = hosts[i / r->per_host], .model = "one", .uuid = "", .index = (int)i};
}

static double truth(const struct regime *r, size_t test, size_t a, size_t b)
{
    bool between = a / r->per_host != b / r->per_host;
    if (test < SENDRECV)
        return a < r->slow && test == GEMM ? log1p(r->rank) : 0;
    double x = a == 0 ? log1p(r->messages) : 0;
    x += a == 1 && b == 2 ? log1p(r->link) : 0;
    return x + (between && a / r->per_host == 0 ? log1p(r->network) : 0);
}

static void make_weather(double weather[VISITS], struct rng *rng)
{
    for (int launch = 0; launch < LAUNCHES; launch++) {
        double drift = 0.03 * rng_normal(rng);
        size_t step = rng_below(rng, BLOCKS);
        for (size_t b = 0; b < BLOCKS; b++)
            weather[launch * BLOCKS + (int)b] = drift * (double)b / BLOCKS - (b >= step ? 0.04 : 0);
    }
}

static void make_entity(struct suspects_data *d, const struct regime *r, size_t test, size_t a,
                        size_t b, const double weather[VISITS], struct rng *rng)
{
    size_t n = suspects_entities(d, test), at = test < SENDRECV ? a : a * d->ranks + b;
    bool between = a / r->per_host != b / r->per_host;
    double own = truth(r, test, a, b) + r->health * rng_normal(rng) + (between ? 1 : 0), launch = 0;
    for (size_t v = 0; v < VISITS; v++) {
        if (v % BLOCKS == 0)
            launch = 0.003 * rng_normal(rng);
        double spike = rng_uniform(rng) < 0.02 ? log(1.2) : 0;
        d->x[test][v * n + at] = own + launch + weather[v] + 0.01 * rng_normal(rng) + spike;
    }
}

static void make_machine(struct suspects_data *d, const struct regime *r, struct rng *rng)
{
    double weather[VISITS], health[RANKS_MOST];
    *d = (struct suspects_data){.ranks = r->ranks, .visits = VISITS, .rank = facts};
    place(r);
    d->launch = xcalloc(VISITS, sizeof *d->launch);
    d->silent = xcalloc(r->ranks * r->ranks, sizeof *d->silent);
    for (int v = 0; v < VISITS; v++)
        d->launch[v] = v / BLOCKS;
    for (size_t t = 0; t < SUSPECTS_TESTS; t++) {
        size_t n = suspects_entities(d, t);
        d->x[t] = xcalloc(VISITS * n, sizeof *d->x[t]);
        for (size_t i = 0; i < VISITS * n; i++)
            d->x[t][i] = NAN;
        if (t > ALLREDUCE)
            continue;
        make_weather(weather, rng);
        for (size_t i = 0; i < r->ranks; i++)
            health[i] = r->health * rng_normal(rng);
        for (size_t a = 0; a < r->ranks; a++)
            for (size_t b = t < SENDRECV ? a : a + 1; b < (t < SENDRECV ? a + 1 : r->ranks); b++) {
                make_entity(d, r, t, a, b, weather, rng);
                for (size_t v = 0; t >= SENDRECV && v < VISITS; v++)
                    d->x[t][v * n + a * r->ranks + b] += health[a] + health[b];
            }
    }
}

static void free_machine(struct suspects_data *d)
{
    for (size_t t = 0; t < SUSPECTS_TESTS; t++)
        free(d->x[t]);
    free(d->launch);
    free(d->silent);
}

/* ---- what is found ---- */

static bool is_slow(const struct regime *r, const struct suspect *s)
{
    switch (s->kind) {
    case SUSPECT_RANK:
        return s->a < r->slow || (s->a == 0 && r->messages > 0);
    case SUSPECT_LINK:
        return s->a == 1 && s->b == 2 && r->link > 0;
    case SUSPECT_HOST:
        return s->a == 0 && r->network > 0;
    default:
        return false;
    }
}

static void judge(const struct regime *r, struct rng *rng, bool *alarm, bool *found)
{
    struct suspects_data d;
    struct verdicts v;
    size_t slow = r->slow + (r->messages > 0) + (r->link > 0) + (r->network > 0), right = 0;
    make_machine(&d, r, rng);
    suspects_judge(&v, &d);
    for (size_t i = 0; i < v.n; i++)
        right += is_slow(r, &v.v[i]);
    *alarm = right < v.n;
    *found = right == slow;
    suspects_verdicts_free(&v);
    free_machine(&d);
}

int main(int argc, char **argv)
{
    size_t machines = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000;
    struct rate_bounds bounds[2 * REGIMES];
    size_t hits[2 * REGIMES] = {0}, trials[2 * REGIMES];
    for (size_t k = 0; k < REGIMES; k++) {
        const struct regime *r = &regimes[k];
        struct rng rng;
        bounds[2 * k] = (struct rate_bounds){"a healthy one is named", r->name, 0, r->alarms};
        bounds[2 * k + 1] = (struct rate_bounds){"every slow one is named", r->name, r->found, 1};
        size_t of_these = r->ranks < RANKS_MOST ? machines : (machines + 9) / 10;
        trials[2 * k] = trials[2 * k + 1] = of_these;
        rng_stream(&rng, argc > 2 ? strtoul(argv[2], NULL, 10) : 1, k);
        for (size_t i = 0; i < of_these; i++) {
            bool alarm, found;
            judge(r, &rng, &alarm, &found);
            hits[2 * k] += alarm;
            hits[2 * k + 1] += found;
        }
    }
    return rates_report(bounds, hits, trials, 2 * REGIMES);
}
