/* SPDX-License-Identifier: Apache-2.0 */
#include "import/import.h"

#include "base/err.h"
#include "base/jsontext.h"
#include "base/text.h"
#include "common/collective.h"
#include "config/train_settings.h"
#include "import/import_text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- formats ---- */

static const struct import_format import_iteration;
static const struct import_format *const formats[] = {&import_nccl, &import_nccl_json,
                                                      &import_iteration, &import_osu};
#define FORMATS (sizeof formats / sizeof *formats)

const char *const import_formats[] = {"nccl-tests", "nccl-json", IMPORT_TIMES, "osu", NULL};

#define TELLING_LINES 100000 /* lines that are searched for a format */

/* ---- for the readers ---- */

int import_refuse(const struct import_lines *in, const char *fmt, ...)
{
    char text[512];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    return fail_at(GS_FAILED, in->path, (int)in->number, "refused: %s", text);
}

void import_fault(struct imp_cell *c, const char *kind, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    if (!c->kind || strcmp(c->kind, "wrong")) { /* a wrong result outweighs a lost time */
        c->kind = kind;
        vsnprintf(c->why, sizeof c->why, fmt, args);
    }
    va_end(args);
}

struct imp_test *import_add_test(struct import *imp, const struct import_lines *in,
                                 const char *workload)
{
    if (imp->n_tests == IMP_TESTS) {
        import_refuse(in, "more than %d tests in one file; split the file", IMP_TESTS);
        return NULL;
    }
    ALLOC_MORE(imp->tests, imp->n_tests);
    struct imp_test *t = &imp->tests[imp->n_tests++];
    *t = (struct imp_test){.workload = workload, .metric = "T_ss", .line = in->number};
    return t;
}

static bool same(const struct imp_cell *a, const struct imp_cell *b)
{
    return a->size_B == b->size_B && a->in_place == b->in_place && a->root == b->root &&
           !strcmp(a->dtype, b->dtype) && !strcmp(a->op, b->op);
}

/* Tables repeat their cells in order, so the search starts after the last cell. */
struct imp_cell *import_cell(const struct import_lines *in, struct imp_test *t,
                             const struct imp_cell *like)
{
    for (size_t i = 0; i < t->n_cells; i++) {
        size_t k = (t->last + 1 + i) % t->n_cells;
        if (!same(&t->cells[k], like))
            continue;
        t->last = k;
        if (t->cells[k].iters == like->iters)
            return &t->cells[k];
        import_refuse(in,
                      "one size has samples of %llu and of %llu iterations: the output of several "
                      "processes is mixed",
                      (unsigned long long)t->cells[k].iters, (unsigned long long)like->iters);
        return NULL;
    }
    if (t->n_cells == IMP_CELLS) {
        import_refuse(in, "more than %d cells in one test", IMP_CELLS);
        return NULL;
    }
    ALLOC_MORE(t->cells, t->n_cells);
    t->cells[t->n_cells] = *like;
    t->last = t->n_cells++;
    return &t->cells[t->last];
}

void import_sample(struct import *imp, const struct import_lines *in, struct imp_cell *c,
                   uint64_t each_ns)
{
    uint64_t all;
    if (!each_ns || __builtin_mul_overflow(each_ns, c->iters, &all) || all > INT64_MAX) {
        import_fault(c, "failed", "line %zu: a time of %llu ns for each of %llu iterations",
                     in->number, (unsigned long long)each_ns, (unsigned long long)c->iters);
        return;
    }
    ALLOC_MORE(c->time_ns, c->n_samples);
    c->time_ns[c->n_samples++] = all;
    imp->samples++;
}

void import_sample_us(struct import *imp, const struct import_lines *in, struct imp_cell *c,
                      const struct number *us, const struct word *text)
{
    uint64_t ns;
    if (number_scaled(us, 3, &ns))
        import_sample(imp, in, c, ns);
    else
        import_fault(c, "failed", "line %zu: its time is %.*s", in->number, (int)text->n, text->s);
}

double import_factor(enum imp_factor factor, int64_t ranks)
{
    static const enum collective like[] = {[IMP_ALLREDUCE] = COLLECTIVE_ALLREDUCE,
                                           [IMP_SHARE] = COLLECTIVE_ALLGATHER,
                                           [IMP_ONE] = COLLECTIVE_BROADCAST};
    return factor == IMP_NONE ? 0 : collective_busbw_factor(like[factor], (double)ranks);
}

/* ---- reading ---- */

static const struct import_format *named(const char *format)
{
    for (size_t i = 0; i < FORMATS; i++)
        if (!strcmp(formats[i]->name, format))
            return formats[i];
    return NULL;
}

/* By the first line that only one format has; other programs may have printed lines before it. A
 * table of a benchmark goes before a list or JSON: launchers print numbers and JSON too. */
static const struct import_format *recognise(struct import_lines *in)
{
    char *line;
    for (int prefix = 1; prefix >= 0; prefix--) {
        while (in->number < TELLING_LINES && import_lines_next(in, &line))
            for (size_t i = 0; i < FORMATS; i++)
                if (formats[i]->prefix == prefix && formats[i]->anchor(line)) {
                    import_lines_rewind(in);
                    return formats[i];
                }
        import_lines_rewind(in);
    }
    return NULL;
}

/* ---- GPUs ---- */

static const char *gpu_part(const json_t *host, const char *key)
{
    return json_text_of(host, key);
}

/* Counts the GPUs of the ranks, and warns if two ranks share one. */
static void count_gpus(const struct import *imp, struct imp_test *t, bool warn)
{
    const size_t n = json_array_size(t->hosts);
    for (size_t i = 0; i < n; i++) {
        const json_t *a = json_array_get(t->hosts, i), *b = NULL;
        size_t k = 0;
        for (; k < i && !b; k++) {
            b = json_array_get(t->hosts, k);
            if (strcmp(gpu_part(a, "host"), gpu_part(b, "host")) ||
                strcmp(gpu_part(a, "bus"), gpu_part(b, "bus")) ||
                !json_equal(json_object_get(a, "index"), json_object_get(b, "index")) ||
                !json_object_get(a, "index"))
                b = NULL;
        }
        t->gpus += !b;
        if (b && warn && t->gpus == (int64_t)i)
            say("%s: warning: ranks %lld and %lld share one GPU (%s, device %lld, %s): their times "
                "are not those of two GPUs",
                imp->path, (long long)json_integer_of(b, "rank"),
                (long long)json_integer_of(a, "rank"), gpu_part(a, "host"),
                (long long)json_integer_of(a, "index"), gpu_part(a, "bus"));
    }
}

static int read_all(struct import *imp, struct import_lines *in, const struct import_known *known)
{
    const struct import_format *format = known->format ? named(known->format) : recognise(in);
    const char *unit = known->unit;
    if (!format)
        return fail_at(GS_FAILED, in->path, 0,
                       "refused: not the output of nccl-tests (text or JSON) or osu_allreduce, "
                       "and not a list of iteration times; --format names the format");
    if (unit && format != &import_iteration)
        return fail_at(GS_USAGE, in->path, 0,
                       "unit=%s: the format %s has a unit of its own; leave out --set unit", unit,
                       format->name);
    if (known->collective && format != &import_nccl)
        return fail_at(GS_USAGE, in->path, 0,
                       "collective=%s: the format %s names its collective; leave out --set "
                       "collective",
                       known->collective, format->name);
    imp->format = format->name;
    imp->unit = unit ? unit : train_units[TRAIN_MS];
    imp->collective = known->collective;
    imp->ranks = known->ranks;
    memcpy(imp->sha256, in->sha256, sizeof imp->sha256);
    if (format->prefix)
        import_lines_anchor(in, format->anchor);
    int code = format->read(imp, in);
    if (!code && !imp->samples)
        code = *in->prefix ? import_refuse(in,
                                           "no row of its table was found: lines begin with an "
                                           "unknown prefix, other than '%.60s'; remove the prefix",
                                           in->prefix)
                           : import_refuse(in, "the file has no times");
    for (size_t i = 0; i < imp->n_tests && !code; i++)
        count_gpus(imp, &imp->tests[i], i == 0);
    return code;
}

int import_read(struct import **out, const char *path, const struct import_known *known)
{
    struct import_lines in;
    struct import *imp = xcalloc(1, sizeof *imp);
    imp->path = xstrdup(path);
    imp->name = path_name(imp->path);
    int code = import_lines_open(&in, path);
    if (!code)
        code = read_all(imp, &in, known);
    import_lines_close(&in);
    if (code)
        import_free(imp);
    *out = code ? NULL : imp;
    return code;
}

void import_free(struct import *imp)
{
    if (!imp)
        return;
    for (size_t i = 0; i < imp->n_tests; i++) {
        struct imp_test *t = &imp->tests[i];
        for (size_t k = 0; k < t->n_cells; k++)
            free(t->cells[k].time_ns);
        free(t->cells);
        json_decref(t->hosts);
        json_decref(t->settings);
    }
    free(imp->tests);
    free(imp->path);
    free(imp);
}

/* ---- lists ----
 *
 * iteration_times_*.txt: one time of a training step on each line, in milliseconds unless the user
 * names another unit. */

/* Is the line one number? */
static bool one_number(const char *line, struct word *w, struct number *x)
{
    return words_of(line, w, 1) == 1 && word_number(w, x);
}

static const char *times_anchor(const char *line)
{
    struct word w;
    struct number x;
    return one_number(line, &w, &x) ? line : NULL;
}

static const struct {
    const char *name;
    int shift; /* decimal, to nanoseconds */
} scales[] = {
    [TRAIN_S] = {"seconds", 9}, [TRAIN_MS] = {"milliseconds", 6}, [TRAIN_US] = {"microseconds", 3}};

static size_t scale_of(const struct import *imp)
{
    size_t i = 0;
    while (strcmp(train_units[i], imp->unit) != 0)
        i++;
    return i;
}

const char *import_unit_name(const struct import *imp)
{
    return scales[scale_of(imp)].name;
}

static int take(struct import *imp, struct import_lines *in, struct imp_test *t, const char *line)
{
    struct word w;
    struct number x;
    uint64_t ns;
    bool number = one_number(line, &w, &x);
    if (!number && !line[strspn(line, " \t")])
        return GS_OK;
    if (in->torn) { /* 9.7 may have been 9.795 */
        strcpy(t->missing, "its last line is torn");
        return GS_OK;
    }
    if (in->cut || !number)
        return import_refuse(in, "the line must be one time in %s", import_unit_name(imp));
    if (!number_scaled(&x, scales[scale_of(imp)].shift, &ns) || x.negative || !ns)
        return import_refuse(in, "%.*s %s is not a time", (int)(w.n < 40 ? w.n : 40), w.s,
                             imp->unit);
    struct imp_cell *c = t->cells; /* the only one */
    if (!c)
        c = import_cell(in, t, &(struct imp_cell){.in_place = -1, .root = -1, .iters = 1});
    import_sample(imp, in, c, ns);
    return GS_OK;
}

static int read_times(struct import *imp, struct import_lines *in)
{
    char *line;
    int code = GS_OK;
    struct imp_test *t = import_add_test(imp, in, "iter_proxy");
    t->line = 1;
    t->metric = "";
    t->unverified = true;
    while (!code && import_lines_next(in, &line))
        code = take(imp, in, t, line);
    return code;
}

static const struct import_format import_iteration = {IMPORT_TIMES, times_anchor, false,
                                                      read_times};
