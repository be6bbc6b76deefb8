/* SPDX-License-Identifier: Apache-2.0 */
#include "wan_sync/sync/pattern.h"

#include "common/mix.h"

#include <math.h>
#include <string.h>

/* The sum of four uniform integers, less its mean. */
static int value(size_t element, int rank)
{
    uint64_t r = mix(mix(element) + (uint64_t)rank);
    int sum = 0;
    for (int i = 0; i < 4; i++)
        sum += (int)(r >> (16 * i) & 1023);
    return sum - PATTERN_LARGEST;
}

void pattern_init(struct pattern *p, int rank, int ranks)
{
    for (size_t e = 0; e < PATTERN_PERIOD; e++) {
        int sum = 0;
        for (int r = 0; r < ranks; r++)
            sum += value(e, r);
        p->input[e] = (float)value(e, rank);
        p->sum[e] = (float)sum;
    }
}

static size_t run(size_t at, size_t left)
{
    size_t n = PATTERN_PERIOD - at % PATTERN_PERIOD;
    return n < left ? n : left;
}

void pattern_fill(const struct pattern *p, float *data, size_t first, size_t n)
{
    for (size_t done = 0, m; done < n; done += m) {
        m = run(first + done, n - done);
        memcpy(data + done, p->input + (first + done) % PATTERN_PERIOD, m * sizeof *data);
    }
}

/* One period or less; NaN is the largest difference there is. */
static void add_run(struct pattern_error *e, const struct pattern *p, const float *data, size_t at,
                    size_t n)
{
    const float *sum = p->sum + at % PATTERN_PERIOD;
    for (size_t i = 0; i < n; i++) {
        double d = fabs((double)data[at + i] - (double)sum[i]);
        e->rms += d * d;
        if (d <= e->largest)
            continue;
        e->largest = isnan(d) ? INFINITY : d;
        e->at = at + i;
        e->got = data[at + i];
        e->expected = sum[i];
    }
}

static uint64_t hash(uint64_t h, const float *data, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t u;
        memcpy(&u, data + i, sizeof u);
        h = (h ^ u) * UINT64_C(0x9e3779b97f4a7c15);
        h ^= h >> 29;
    }
    return h;
}

static double rms(const float *x, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (double)x[i] * (double)x[i];
    return sqrt(sum / (double)n);
}

struct pattern_error pattern_check(const struct pattern *p, const float *data, size_t n)
{
    struct pattern_error e = {0};
    for (size_t at = 0, m; at < n; at += m) {
        m = run(at, n - at);
        const float *sum = p->sum + at % PATTERN_PERIOD;
        if (memcmp(data + at, sum, m * sizeof *sum) != 0)
            add_run(&e, p, data, at, m);
        e.bits = hash(e.bits, data + at, m);
    }
    e.rms = sqrt(e.rms / (double)n);
    e.scale = rms(p->sum, n < PATTERN_PERIOD ? n : PATTERN_PERIOD);
    return e;
}
