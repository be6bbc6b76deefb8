/* SPDX-License-Identifier: Apache-2.0 */
#include "suspects/cause.h"

#include "base/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of facts that only explain: none decides who is a suspect. */
struct fact {
    enum { LOWER, HIGHER } bad;
    double ratio; /* worse than the peers by this factor */
    double least; /* and at least this much, in the unit of the text */
    double (*of)(const struct rank_facts *r);
    const char *name, *unit;
    double scale;
    int digits;
};

static double throttled(const struct rank_facts *r)
{
    return r->readings ? (double)r->throttled / (double)r->readings : NAN;
}

static double sm(const struct rank_facts *r)
{
    return rank_facts_reading(r, READING_SM_HZ);
}

static double memory(const struct rank_facts *r)
{
    return rank_facts_reading(r, READING_MEMORY_HZ);
}

static double power(const struct rank_facts *r)
{
    return rank_facts_reading(r, READING_POWER_W);
}

static double temperature(const struct rank_facts *r)
{
    return rank_facts_reading(r, READING_TEMPERATURE_C);
}

static double cores(const struct rank_facts *r)
{
    return rank_facts_reading(r, READING_OWN_CORES);
}

static double width(const struct rank_facts *r)
{
    return r->pcie_width;
}

static double links(const struct rank_facts *r)
{
    return r->nvlinks;
}

static double errors(const struct rank_facts *r)
{
    return r->nvlink_errors;
}

static const struct fact facts[] = {
    {HIGHER, 1, 5, throttled, "throttled in", "% of readings", 100, 0},
    {LOWER, 0.98, 0, sm, "SM clock", " GHz", 1e-9, 2},
    {LOWER, 0.98, 0, memory, "memory clock", " GHz", 1e-9, 2},
    {HIGHER, 1, 8, temperature, "temperature", " °C", 1, 0},
    {LOWER, 0.9, 0, power, "power", " W", 1, 0},
    {LOWER, 0.99, 0, width, "PCIe lanes", "", 1, 0},
    {LOWER, 0.99, 0, links, "NVLinks", "", 1, 0},
    {HIGHER, 1, 1, errors, "NVLink errors", "", 1, 0},
    {LOWER, 0.9, 0, cores, "got", " processors", 1, 2},
};

/* The median of the other ranks of the same model. */
static double of_peers(const struct suspects_data *d, size_t rank, const struct fact *f)
{
    double *x = xcalloc(d->ranks, sizeof *x);
    size_t n = 0;
    for (size_t i = 0; i < d->ranks; i++)
        if (i != rank && !strcmp(d->rank[i].model, d->rank[rank].model) &&
            isfinite(f->of(&d->rank[i])))
            x[n++] = f->of(&d->rank[i]);
    double median = stats_median(x, n);
    free(x);
    return median;
}

static bool is_worse(const struct fact *f, double mine, double peers)
{
    return f->bad == LOWER ? mine < peers * f->ratio
                           : mine > peers * f->ratio && (mine - peers) * f->scale >= f->least;
}

void cause_of_rank(struct text *t, const struct suspects_data *d, size_t rank)
{
    const struct rank_facts *r = &d->rank[rank];
    size_t told = 0, known = 0;
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
        const struct fact *f = &facts[i];
        double mine = f->of(r), peers = of_peers(d, rank, f);
        known += isfinite(mine) && isfinite(peers);
        if (!is_worse(f, mine, peers))
            continue;
        text_addf(t, "%s%s %.*f%s (peers %.*f%s)", told++ ? ", " : "", f->name, f->digits,
                  mine * f->scale, f->unit, f->digits, peers * f->scale, f->unit);
        if (f->of == throttled && r->reasons)
            text_addf(t, " by %s", r->reasons);
    }
    if (!told && known && r->gpu)
        text_add(t, "not throttled: clocks, power, temperature and links are those of its peers");
}
