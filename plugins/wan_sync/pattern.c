/* SPDX-License-Identifier: Apache-2.0 */
#include "wan_sync/pattern.h"

#include "common/rng.h"
#include "wan_sync/wire.h"

#include <math.h>
#include <string.h>

/* The sum of four uniform integers, less its mean. */
static double integer(uint64_t r)
{
    int sum = 0;
    for (int i = 0; i < 4; i++)
        sum += (int)(r >> (16 * i) & 1023);
    return sum - PATTERN_LARGEST;
}

/* Box and Muller 1958. */
static double normal(uint64_t r)
{
    double u = ((double)(mix(r) >> 11) + 0.5) * 0x1p-53, v = (double)(mix(~r) >> 11) * 0x1p-53;
    return sqrt(-2 * log(u)) * cos(2 * acos(-1) * v);
}

static double student3(uint64_t r)
{
    double squares = 0;
    for (uint64_t i = 1; i <= 3; i++)
        squares += pow(normal(r + i), 2);
    return normal(r) / sqrt(squares / 3);
}

static float value(enum pattern_kind kind, size_t element, int rank)
{
    static double (*const of[PATTERNS])(uint64_t) = {
        [PATTERN_INTEGERS] = integer, [PATTERN_NORMAL] = normal, [PATTERN_STUDENT3] = student3};
    return (float)of[kind](mix(mix(element) + (uint64_t)rank));
}

void pattern_init(struct pattern *p, enum pattern_kind kind, int rank, int ranks)
{
    *p = (struct pattern){.ready = true};
    for (size_t e = 0; e < PATTERN_PERIOD; e++) {
        double sum = 0;
        for (int r = 0; r < ranks; r++) {
            float x = value(kind, e, r);
            sum += (double)x;
            p->largest = fmax(p->largest, fabs((double)x));
            if (r == rank)
                p->input[e] = x;
        }
        p->sum[e] = (float)sum;
    }
}

double pattern_peak(const struct pattern *p)
{
    double sum = 0;
    int groups = PATTERN_PERIOD / WIRE_GROUP;
    for (int g = 0; g < groups; g++) {
        const float *x = p->input + g * WIRE_GROUP;
        double largest = 0, squares = 0;
        for (int i = 0; i < WIRE_GROUP; i++) {
            largest = fmax(largest, fabs((double)x[i]));
            squares += (double)x[i] * (double)x[i];
        }
        sum += largest * largest / (squares / WIRE_GROUP);
    }
    return sqrt(sum / groups);
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
static void add_run(struct pattern_error *e, const float *sum, const float *data, size_t at,
                    size_t n)
{
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

struct pattern_error pattern_check(const struct pattern *p, const float *data, size_t first,
                                   size_t n)
{
    struct pattern_error e = {0};
    for (size_t at = 0, m; at < n; at += m) {
        m = run(first + at, n - at);
        const float *sum = p->sum + (first + at) % PATTERN_PERIOD;
        if (memcmp(data + at, sum, m * sizeof *sum) != 0)
            add_run(&e, sum, data, at, m);
        e.bits = hash(e.bits, data + at, m);
    }
    e.rms = sqrt(e.rms / (double)n);
    e.scale = rms(p->sum, n < PATTERN_PERIOD ? n : PATTERN_PERIOD);
    return e;
}

double pattern_add_errors(const struct pattern *p, const float *data, size_t first, size_t n,
                          float *errors)
{
    for (size_t i = 0; i < n; i++)
        errors[i] += data[i] - p->sum[(first + i) % PATTERN_PERIOD];
    return rms(errors, n);
}
