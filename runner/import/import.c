/* SPDX-License-Identifier: Apache-2.0 */
#include "import/import.h"

#include "base/err.h"
#include "base/text.h"
#include "import/import_lines.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct import_format *const formats[] = {&import_nccl, &import_nccl_json,
                                                      &import_iteration, &import_osu};
#define FORMATS (sizeof formats / sizeof *formats)

const char *const import_formats[] = {"nccl-tests", "nccl-json", "iteration", "osu", NULL};

#define TELLING_LINES 100000 /* a format that has not shown itself by then does not */

/* ---- for the readers ---- */

int import_refuse(const struct lines *in, const char *fmt, ...)
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
    if (!c->kind || strcmp(c->kind, "wrong")) { /* nothing is graver than a wrong result */
        c->kind = kind;
        vsnprintf(c->why, sizeof c->why, fmt, args);
    }
    va_end(args);
}

struct imp_test *import_add_test(struct import *imp, const struct lines *in, const char *workload)
{
    if (imp->n_tests == IMP_TESTS) {
        import_refuse(in, "more than %d tests in one file: split it", IMP_TESTS);
        return NULL;
    }
    imp->tests = xrealloc(imp->tests, (imp->n_tests + 1) * sizeof *imp->tests);
    struct imp_test *t = &imp->tests[imp->n_tests++];
    *t = (struct imp_test){.workload = workload, .metric = "T_ss", .line = in->number};
    return t;
}

static bool same(const struct imp_cell *a, const struct imp_cell *b)
{
    return a->size_B == b->size_B && a->in_place == b->in_place && a->root == b->root &&
           !strcmp(a->dtype, b->dtype) && !strcmp(a->op, b->op);
}

/* Tables repeat their cells in order: the one after the last is looked at first. */
struct imp_cell *import_cell(struct import *imp, struct lines *in, struct imp_test *t,
                             const struct imp_cell *like)
{
    (void)imp;
    for (size_t i = 0; i < t->n_cells; i++) {
        size_t k = (t->last + 1 + i) % t->n_cells;
        if (!same(&t->cells[k], like))
            continue;
        t->last = k;
        if (t->cells[k].iters == like->iters)
            return &t->cells[k];
        import_refuse(in,
                      "samples of %llu iterations and of %llu for one size: several processes "
                      "are mixed in it",
                      (unsigned long long)t->cells[k].iters, (unsigned long long)like->iters);
        return NULL;
    }
    if (t->n_cells == IMP_CELLS) {
        import_refuse(in, "more than %d cells in one test", IMP_CELLS);
        return NULL;
    }
    if ((t->n_cells & (t->n_cells - 1)) == 0)
        t->cells = xrealloc(t->cells, (t->n_cells ? 2 * t->n_cells : 1) * sizeof *t->cells);
    t->cells[t->n_cells] = *like;
    t->last = t->n_cells++;
    return &t->cells[t->last];
}

int import_sample(struct import *imp, struct lines *in, struct imp_cell *c, uint64_t each_ns)
{
    uint64_t all;
    if (!each_ns || __builtin_mul_overflow(each_ns, c->iters, &all) || all > INT64_MAX) {
        import_fault(c, "failed", "line %zu: a time of %llu ns for each of %llu iterations",
                     in->number, (unsigned long long)each_ns, (unsigned long long)c->iters);
        return GS_OK;
    }
    imp->samples++;
    return samples_add(&c->samples, &imp->spill, all);
}

double import_factor(enum imp_factor factor, int64_t ranks)
{
    double n = (double)ranks;
    switch (factor) {
    case IMP_ALLREDUCE:
        return 2 * (n - 1) / n;
    case IMP_SHARE:
        return (n - 1) / n;
    case IMP_ONE:
        return 1;
    case IMP_NONE:
        break;
    }
    return 0;
}

/* ---- reading ---- */

static const struct import_format *named(const char *format)
{
    for (size_t i = 0; i < FORMATS; i++)
        if (!strcmp(formats[i]->name, format))
            return formats[i];
    return NULL;
}

static const struct import_format *claimed(const char *line)
{
    for (size_t i = 0; i < FORMATS; i++)
        if (formats[i]->claims(line))
            return formats[i];
    return NULL;
}

/* By the first line that only one of them has; other programs may have spoken before. */
static int tell(struct lines *in, const struct import_format **format)
{
    char *line;
    size_t n;
    int got = 0;
    *format = NULL;
    while (!*format && in->number < TELLING_LINES && (got = lines_next(in, &line, &n)) == 1)
        *format = claimed(line);
    if (got < 0)
        return GS_FAILED;
    if (!*format) {
        fail_at(GS_FAILED, in->path, 0,
                "refused: no output of nccl-tests (text or JSON), of osu_allreduce, and no "
                "iteration times; --format names one");
        return GS_FAILED;
    }
    return lines_rewind(in);
}

static int read_all(struct import *imp, struct lines *in, const struct import_format *format)
{
    char *line;
    size_t n;
    imp->format = format->name;
    int got = 1, code = format->read(imp, in);
    while (!code && (got = lines_next(in, &line, &n)) == 1) /* a reader may stop before the end */
        ;
    if (!code && got < 0)
        code = GS_FAILED;
    if (!code && !imp->samples)
        code = import_refuse(in, "it holds no time at all");
    if (!code)
        lines_sha256(in, imp->sha256);
    return code;
}

int import_read(struct import **out, const char *path, const char *format)
{
    struct lines in;
    const char *slash = strrchr(path, '/');
    const struct import_format *f = format ? named(format) : NULL;
    struct import *imp = xcalloc(1, sizeof *imp);
    *out = NULL;
    imp->spill.fd = -1;
    imp->path = xstrdup(path);
    imp->name = slash ? imp->path + (slash - path) + 1 : imp->path;
    int code = lines_open(&in, path);
    if (!code && !f)
        code = tell(&in, &f);
    if (!code)
        code = read_all(imp, &in, f);
    lines_close(&in);
    if (code)
        import_free(imp);
    else
        *out = imp;
    return code;
}

void import_free(struct import *imp)
{
    if (!imp)
        return;
    for (size_t i = 0; i < imp->n_tests; i++) {
        struct imp_test *t = &imp->tests[i];
        for (size_t k = 0; k < t->n_cells; k++)
            samples_free(&t->cells[k].samples);
        free(t->cells);
        json_decref(t->hosts);
    }
    spill_close(&imp->spill);
    free(imp->tests);
    free(imp->path);
    free(imp);
}
