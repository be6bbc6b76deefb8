/* SPDX-License-Identifier: Apache-2.0 */
#include "compare/filter.h"

#include "base/err.h"
#include "base/text.h"
#include "base/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct criterion {
    const char *option, *typed;
    const char *(*of)(const struct contrast *c, char *buf, size_t n);
    const char *value; /* typed, as `of` spells it */
};

static const char *size_of(const struct contrast *c, char *buf, size_t n)
{
    return units_size(buf, n, (uint64_t)c->size_B);
}

/* An operation by itself has no mode. */
static const char *mode_of(const struct contrast *c, char *buf, size_t n)
{
    (void)buf, (void)n;
    return *c->mode ? c->mode : "alone";
}

static const char *platform_of(const struct contrast *c, char *buf, size_t n)
{
    (void)buf, (void)n;
    return c->platform;
}

static const char *config_of(const struct contrast *c, char *buf, size_t n)
{
    (void)buf, (void)n;
    return c->config;
}

static int by_size(const void *a, const void *b)
{
    const struct contrast *x = a, *y = b;
    return (x->size_B > y->size_B) - (x->size_B < y->size_B);
}

/* The size with the smallest ratio to the one that was asked for; NULL: that is no size. */
static const char *nearest_size(const struct comparison *c, const char *asked, char *buf, size_t n)
{
    uint64_t bytes;
    double least = INFINITY;
    const char *near = NULL;
    for (size_t i = 0; units_parse_size(asked, &bytes) && i < c->n; i++) {
        double ratio = fabs(log((double)c->v[i].size_B / (double)bytes));
        if (ratio < least) {
            least = ratio;
            near = size_of(&c->v[i], buf, n);
        }
    }
    return near;
}

/* Reorders c. */
static int nothing(const struct criterion *q, struct comparison *c)
{
    char buf[64], size[64];
    AUTO_WORDS struct words values = {0};
    AUTO_TEXT struct text list = {0};
    if (q->of == size_of)
        qsort(c->v, c->n, sizeof *c->v, by_size);
    for (size_t i = 0; i < c->n; i++) {
        const char *value = q->of(&c->v[i], buf, sizeof buf);
        if (words_has(&values, value))
            continue;
        words_add(&values, value);
        text_addf(&list, "%s%s", list.len ? ", " : "", value);
    }
    const char *near = q->of == size_of ? nearest_size(c, q->typed, size, sizeof size) : NULL;
    near = near ? near : text_nearest(q->typed, (const char *const *)values.v, values.n);
    return fail(GS_USAGE, "compare: nothing matches --%s %s%s; choose %s", q->option, q->typed,
                DID_YOU_MEAN(near), list.len ? list.s : "nothing");
}

static int keep(const struct criterion *q, struct comparison *c)
{
    char buf[64];
    size_t kept = 0;
    for (size_t i = 0; i < c->n; i++)
        if (!strcmp(q->of(&c->v[i], buf, sizeof buf), q->value))
            c->v[kept++] = c->v[i];
    if (!kept)
        return nothing(q, c);
    c->n = kept;
    return GS_OK;
}

int compare_filter(const struct compare_filter *f, const struct comparison *c,
                   struct comparison *shown)
{
    char size[64];
    uint64_t bytes;
    const struct criterion all[] = {{"platform", f->platform, platform_of, f->platform},
                                    {"mode", f->mode, mode_of, f->mode},
                                    {"size", f->size, size_of, f->size},
                                    {"config", f->config, config_of, f->config}};
    *shown = (struct comparison){.v = xcalloc(c->n + 1, sizeof *c->v), .families = c->families};
    for (; shown->n < c->n; shown->n++)
        shown->v[shown->n] = c->v[shown->n];
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct criterion q = all[i];
        if (!q.value)
            continue;
        if (q.of == size_of && units_parse_size(q.typed, &bytes))
            q.value = units_size(size, sizeof size, bytes);
        int code = shown->n ? keep(&q, shown) : GS_OK;
        if (code)
            return code;
    }
    return GS_OK;
}
