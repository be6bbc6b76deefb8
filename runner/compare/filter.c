/* SPDX-License-Identifier: Apache-2.0 */
#include "compare/filter.h"

#include "base/err.h"
#include "base/text.h"
#include "base/units.h"

#include <string.h>

struct criterion {
    const char *option, *value;
    const char *(*of)(const struct contrast *c, char *buf, size_t n);
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

static int nothing(const struct criterion *q, const struct comparison *c)
{
    char buf[64];
    AUTO_WORDS struct words values = {0};
    AUTO_TEXT struct text list = {0};
    for (size_t i = 0; i < c->n; i++) {
        const char *value = q->of(&c->v[i], buf, sizeof buf);
        if (words_has(&values, value))
            continue;
        words_add(&values, value);
        text_addf(&list, "%s%s", list.len ? ", " : "", value);
    }
    const char *near = text_nearest(q->value, (const char *const *)values.v, values.n);
    return fail(GS_USAGE, "compare: nothing matches --%s %s%s; choose %s", q->option, q->value,
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
    const struct criterion all[] = {{"platform", f->platform, platform_of},
                                    {"mode", f->mode, mode_of},
                                    {"size", f->size, size_of},
                                    {"config", f->config, config_of}};
    *shown = (struct comparison){.v = xcalloc(c->n + 1, sizeof *c->v), .families = c->families};
    for (; shown->n < c->n; shown->n++)
        shown->v[shown->n] = c->v[shown->n];
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct criterion q = all[i];
        if (!q.value)
            continue;
        if (q.of == size_of && units_parse_size(q.value, &bytes))
            q.value = units_size(size, sizeof size, bytes);
        int code = shown->n ? keep(&q, shown) : GS_OK;
        if (code)
            return code;
    }
    return GS_OK;
}
