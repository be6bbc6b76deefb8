/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/sweep_list.h"

#include "base/err.h"
#include "base/text.h"
#include "base/units.h"
#include "config/params.h"
#include "config/params_types.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void sweep_push(struct sweep_axis *axis, const void *member)
{
    size_t size = param_size(axis->p);
    if ((axis->n & (axis->n - 1)) == 0)
        axis->values = xrealloc(axis->values, (axis->n ? 2 * axis->n : 1) * size);
    memcpy(axis->values + axis->n++ * size, member, size);
}

/* ---- ranges ---- */

/* Parameters are parsed into a struct at p->offset; here the member stands alone. */
static struct wl_param alone(const struct wl_param *p)
{
    struct wl_param q = *p;
    q.offset = 0;
    return q;
}

struct range {
    union member from, to, step; /* step: of the parameter's type behind '+', real behind 'x' */
    bool times;
};

/* Moves *v one step; false past the end. Whole numbers stay exact, and may not wrap around. */
static bool step_int(const struct range *r, size_t i, union member *v)
{
    (void)i;
    return (r->times ? !__builtin_mul_overflow(v->i, (int64_t)r->step.d, &v->i)
                     : !__builtin_add_overflow(v->i, r->step.i, &v->i)) &&
           v->i <= r->to.i;
}

static bool step_size(const struct range *r, size_t i, union member *v)
{
    (void)i;
    return (r->times ? !__builtin_mul_overflow(v->u, (uint64_t)r->step.d, &v->u)
                     : !__builtin_add_overflow(v->u, r->step.u, &v->u)) &&
           v->u <= r->to.u;
}

/* From the start each time, and to 12 digits: 0.1:0.5:+0.1 has a 0.3, and ends at 0.5. */
static bool step_real(const struct range *r, size_t i, union member *v)
{
    char digits[40];
    double x = r->times ? v->d * r->step.d : r->from.d + (double)i * r->step.d;
    snprintf(digits, sizeof digits, "%.12g", x);
    v->d = strtod(digits, NULL);
    return v->d <= r->to.d;
}

static bool (*stepper(const struct wl_param *p))(const struct range *, size_t, union member *)
{
    return p->type == WL_INT ? step_int : p->type == WL_SIZE ? step_size : step_real;
}

static bool empty(const struct wl_param *p, const struct range *r)
{
    return p->type == WL_INT    ? r->from.i > r->to.i
           : p->type == WL_SIZE ? r->from.u > r->to.u
                                : r->from.d > r->to.d;
}

/* Does a step get anywhere from the start? */
static bool advances(const struct wl_param *p, const struct range *r)
{
    union member v = r->from;
    if (r->times)
        return r->step.d > 1 &&
               (p->type == WL_INT    ? v.i > 0 && r->step.d == (double)(int64_t)r->step.d
                : p->type == WL_SIZE ? v.u > 0 && r->step.d == (double)(int64_t)r->step.d
                                     : v.d > 0);
    return p->type == WL_INT ? r->step.i > 0 : p->type == WL_SIZE ? r->step.u > 0 : r->step.d > 0;
}

static bool parse_step(const struct wl_param *p, const char *text, struct range *r)
{
    char why[512];
    struct wl_param free_of_bounds = alone(p);
    free_of_bounds.min = free_of_bounds.max = 0;
    r->times = *text == 'x';
    if (r->times)
        return units_parse_real(text + 1, &r->step.d) && r->step.d < 1e15;
    return *text == '+' && param_parse(&free_of_bounds, text + 1, &r->step, why, sizeof why);
}

static int read_range(struct sweep_axis *axis, const char *word)
{
    const struct config_entry *e = axis->from;
    struct wl_param p = alone(axis->p);
    struct range r = {0};
    char why[1024] = "";
    AUTO_WORDS struct words parts = {0};
    words_split(&parts, word, ':');
    bool form = parts.n == 3 && parse_step(&p, parts.v[2], &r);
    bool ends = form && param_parse(&p, parts.v[0], &r.from, why, sizeof why) &&
                param_parse(&p, parts.v[1], &r.to, why, sizeof why);
    if (!form)
        return config_error(e, "'%.80s' is not a range (FROM:TO:xFACTOR or FROM:TO:+STEP, e.g. %s)",
                            word, p.type == WL_SIZE ? "8:128MiB:x2" : "1:9:+2");
    if (!ends)
        return config_error(e, "%s", why);
    if (empty(&p, &r))
        return config_error(e, "'%.80s' is an empty range (FROM at most TO)", word);
    if (!advances(&p, &r))
        return config_error(e,
                            "'%.80s' never ends (FROM above 0 and a FACTOR above 1%s, or a STEP "
                            "above 0)",
                            word, p.type == WL_INT || p.type == WL_SIZE ? ", whole" : "");
    union member v = r.from;
    size_t i = 0;
    do {
        sweep_push(axis, &v);
    } while (axis->n <= SWEEP_MAX && stepper(&p)(&r, ++i, &v));
    return GS_OK;
}

/* ---- lists ---- */

static int read_word(struct sweep_axis *axis, const char *word)
{
    struct wl_param p = alone(axis->p);
    union member v = {0};
    char why[1024], allowed[512];
    if (!*word && axis->p->type != WL_TEXT)
        return config_error(axis->from, "has an empty value (%s)",
                            param_allowed(&p, allowed, sizeof allowed));
    if (param_numeric(&p) && strchr(word, ':'))
        return read_range(axis, word);
    if (!param_parse(&p, word, &v, why, sizeof why))
        return config_error(axis->from, "%s", why);
    sweep_push(axis, &v);
    return GS_OK;
}

int sweep_list(struct sweep_axis *axis)
{
    AUTO_WORDS struct words words = {0};
    int code = GS_OK;
    words_split(&words, axis->from->value, ',');
    for (size_t i = 0; i < words.n; i++)
        if (read_word(axis, words.v[i]))
            code = GS_USAGE;
    if (!code && axis->n > SWEEP_MAX)
        code = config_error(axis->from, "more than %d values", SWEEP_MAX);
    return code;
}
