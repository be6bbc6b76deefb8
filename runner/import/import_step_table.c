/* SPDX-License-Identifier: Apache-2.0
 *
 * A table of layers as a step: the forward pass in the order of the table, the backward pass in the
 * reverse order, each layer with its GEMMs, memory-bound kernels and gradients. A row has words
 * between commas, tabs or spaces; '#' begins a comment, and comments above the first row are copied
 * to the step's head.
 *   dtype,COMPUTE,GRADIENTS     dtypes of GEMMs and of gradients; first row
 *   linear,ROWS,IN,OUT          x (ROWS x IN) times a weight, and a bias; `linear_nobias` has none
 *   matmul,ROWS,IN,OUT,COUNT    COUNT products without parameters, as in attention
 *   norm,ROWS,IN,PARAMETERS     one kernel that reads and writes ROWS x IN elements
 *   kernel,ROWS,IN              the same without parameters
 *   embedding,ROWS,IN,OUT       a table of IN x OUT parameters, of which ROWS are read
 *   repeat,N ... end            the rows between, N times; with --fsdp each time is one FSDP unit
 */
#include "base/err.h"
#include "import/import_step.h"

#include <stdlib.h>
#include <string.h>

#define ROW_WORDS 6
#define UNITS_MAX 4096
#define LAYERS_MAX 16384
#define GROUP "dp"

enum op { LINEAR, LINEAR_NOBIAS, MATMUL, NORM, KERNEL, EMBEDDING };
static const struct {
    const char *name;
    unsigned numbers;
} ops[] = {[LINEAR] = {"linear", 3}, [LINEAR_NOBIAS] = {"linear_nobias", 3},
           [MATMUL] = {"matmul", 4}, [NORM] = {"norm", 3},
           [KERNEL] = {"kernel", 2}, [EMBEDDING] = {"embedding", 3}};
enum { OPS = sizeof ops / sizeof *ops };

struct layer {
    enum op op;
    unsigned unit;                           /* 0: the root */
    struct step_number rows, in, out, count; /* out: a norm's parameters */
};

struct table {
    struct step_draft *d;
    enum step_dtype dtype, gradients;
    struct layer *layer;
    size_t n, cap;
    unsigned units;
    uint64_t collectives; /* written */
    size_t repeat_from;   /* first layer of an open repeat */
    uint64_t repeat;      /* 0: none is open */
    int line;
    bool began;
};

static struct step_number times(struct step_number a, struct step_number b)
{
    return (struct step_number){a.value * b.value, a.per_batch || b.per_batch};
}

static struct step_number many(struct step_number a, uint64_t n)
{
    return (struct step_number){a.value * n, a.per_batch};
}

/* ---- rows ---- */

static int refuse(const struct table *t, const char *what, const char *word)
{
    return fail_at(GS_FAILED, t->d->path, t->line, "%s '%.40s' (docs/steps.md has the rows)", what,
                   word);
}

static int read_number(const struct table *t, const char *word, struct step_number *out)
{
    char *end;
    out->value = strtoull(word, &end, 10);
    out->per_batch = *end == '*';
    if (*word < '0' || *word > '9' || end[out->per_batch] || !out->value ||
        out->value > STEP_DIMENSION_MAX)
        return refuse(t, "not a number from 1 to 16777216, with or without *:", word);
    return GS_OK;
}

static int read_dtype(const struct table *t, const char *word, bool gradient, enum step_dtype *out)
{
    int dtype = step_dtype_of(word);
    if (dtype < 0 || (gradient && dtype == STEP_TF32))
        return refuse(t,
                      gradient ? "no dtype of gradients: fp32, bf16 or fp16, not"
                               : "no dtype: fp32, tf32, bf16 or fp16, not",
                      word);
    *out = (enum step_dtype)dtype;
    return GS_OK;
}

static int add_layer(struct table *t, struct layer layer)
{
    if (t->n == LAYERS_MAX)
        return fail_at(GS_FAILED, t->d->path, t->line, "more than %d layers", LAYERS_MAX);
    ALLOC_GROW(t->layer, t->n, t->cap);
    t->layer[t->n++] = layer;
    return GS_OK;
}

static int begin_repeat(struct table *t, const char *word)
{
    struct step_number n;
    int code = read_number(t, word, &n);
    if (code)
        return code;
    if (t->repeat || n.per_batch || t->units + n.value > UNITS_MAX)
        return refuse(t, "repeat inside a repeat, or more than 4096 times:", word);
    t->repeat = n.value;
    t->repeat_from = t->n;
    return GS_OK;
}

static int end_repeat(struct table *t)
{
    size_t n = t->n - t->repeat_from;
    if (!t->repeat || !n)
        return refuse(t, "an empty repeat, or none:", "end");
    for (size_t i = 0; i < n; i++)
        t->layer[t->repeat_from + i].unit = t->units + 1;
    int code = GS_OK;
    for (uint64_t k = 1; k < t->repeat && !code; k++)
        for (size_t i = 0; i < n && !code; i++) {
            struct layer copy = t->layer[t->repeat_from + i];
            copy.unit = t->units + 1 + (unsigned)k;
            code = add_layer(t, copy);
        }
    t->units += (unsigned)t->repeat;
    t->repeat = 0;
    return code;
}

static int read_layer(struct table *t, char *const *word, size_t n)
{
    struct layer layer = {.count = {1, false}};
    struct step_number *const numbers[] = {&layer.rows, &layer.in, &layer.out, &layer.count};
    int op = 0, code = GS_OK;
    while (op < OPS && strcmp(ops[op].name, word[0]) != 0)
        op++;
    if (op == OPS)
        return refuse(t, "no row", word[0]);
    if (n - 1 != ops[op].numbers)
        return refuse(t, "another number of words than this row has:", word[0]);
    layer.op = (enum op)op;
    for (size_t i = 0; i + 1 < n && !code; i++)
        code = read_number(t, word[1 + i], numbers[i]);
    return code ? code : add_layer(t, layer);
}

static int read_row(struct table *t, char *const *word, size_t n)
{
    t->began = true;
    if (!strcmp(word[0], "dtype") && n == 3) {
        int code = read_dtype(t, word[1], false, &t->dtype);
        return code ? code : read_dtype(t, word[2], true, &t->gradients);
    }
    if (!strcmp(word[0], "repeat") && n == 2)
        return begin_repeat(t, word[1]);
    if (!strcmp(word[0], "end") && n == 1)
        return end_repeat(t);
    return read_layer(t, word, n);
}

static int read_line(struct table *t, char *line)
{
    char *word[ROW_WORDS + 1], *rest = NULL, *comment = strchr(line, '#');
    size_t n = 0;
    if (comment && !t->began)
        text_addf(&t->d->head, "%s\n", comment + 1 + strspn(comment + 1, " "));
    if (comment)
        *comment = '\0';
    for (char *w = strtok_r(line, ", \t\r", &rest); w && n <= ROW_WORDS;
         w = strtok_r(NULL, ", \t\r", &rest))
        word[n++] = w;
    return n ? read_row(t, word, n) : GS_OK;
}

/* ---- operations ---- */

static void gemm(struct table *t, const char *layout, struct step_number m, struct step_number n,
                 struct step_number k, struct step_number count)
{
    struct step_line *l = step_draft_add(t->d, STEP_GEMM, t->dtype);
    l->transpose_a = layout[0] == 't';
    l->transpose_b = layout[1] == 't';
    l->number[STEP_M] = m;
    l->number[STEP_N] = n;
    l->number[STEP_K] = k;
    l->number[STEP_COUNT] = count;
}

/* A kernel that reads or writes each element `passes` times. */
static void kernel(struct table *t, const struct layer *l, uint64_t passes)
{
    struct step_number width = l->op == EMBEDDING ? l->out : l->in;
    step_draft_add(t->d, STEP_KERNEL, t->dtype)->number[0] =
        many(times(l->rows, width), passes * step_dtype_B(t->dtype));
}

static void forward(struct table *t, const struct layer *l)
{
    if (l->op <= MATMUL)
        gemm(t, "nt", l->rows, l->out, l->in, l->count);
    else
        kernel(t, l, 2);
}

static uint64_t parameters(const struct layer *l)
{
    uint64_t weight = l->in.value * l->out.value;
    switch (l->op) {
    case LINEAR:
        return weight + l->out.value;
    case LINEAR_NOBIAS:
    case EMBEDDING:
        return weight;
    case NORM:
        return l->out.value;
    default:
        return 0;
    }
}

static void gradient(struct table *t, uint64_t elements)
{
    step_draft_elements(t->d, STEP_GRADIENT, t->gradients, (struct step_number){elements, false},
                        "");
}

/* Biases are ready before weights, as in DDP's reverse order of the parameters. */
static void backward(struct table *t, const struct layer *l, bool gradients)
{
    if (l->op <= MATMUL) {
        gemm(t, "nn", l->rows, l->in, l->out, l->count);
        gemm(t, "tn", l->out, l->in, l->rows, l->count);
    } else {
        kernel(t, l, 3);
    }
    if (gradients && l->op == LINEAR)
        gradient(t, l->out.value);
    if (gradients && parameters(l))
        gradient(t, parameters(l) - (l->op == LINEAR ? l->out.value : 0));
}

/* ---- FSDP: each unit is gathered before its layers, the next one meanwhile ---- */

static void collective(struct table *t, enum step_kind kind, unsigned unit)
{
    struct step_number elements = {0};
    for (size_t i = 0; i < t->n; i++)
        if (t->layer[i].unit == unit)
            elements.value += parameters(&t->layer[i]);
    if (!elements.value)
        return;
    step_draft_elements(t->d, kind, kind == STEP_ALL_GATHER ? t->dtype : t->gradients, elements,
                        GROUP);
    t->collectives++;
}

static void wait(struct table *t, uint64_t pending)
{
    if (pending >= t->collectives)
        return;
    step_draft_add(t->d, STEP_WAIT, t->dtype)->number[0].value = pending;
}

static void fsdp_forward(struct table *t)
{
    unsigned unit = 0;
    collective(t, STEP_ALL_GATHER, 0);
    wait(t, 0);
    if (t->units)
        collective(t, STEP_ALL_GATHER, 1);
    for (size_t i = 0; i < t->n; i++) {
        if (t->layer[i].unit > unit) {
            unit = t->layer[i].unit;
            wait(t, 0);
            if (unit < t->units)
                collective(t, STEP_ALL_GATHER, unit + 1);
        }
        forward(t, &t->layer[i]);
    }
}

static void fsdp_backward(struct table *t)
{
    unsigned unit = 0;
    bool scattered = false;
    for (size_t i = t->n; i-- > 0;) {
        unsigned next = t->layer[i].unit;
        if (next != unit && unit) {
            collective(t, STEP_REDUCE_SCATTER, unit);
            scattered = true;
        }
        if (next != unit && next) {
            if (!scattered)
                collective(t, STEP_ALL_GATHER, next);
            wait(t, scattered);
            if (next > 1)
                collective(t, STEP_ALL_GATHER, next - 1);
        }
        unit = next;
        backward(t, &t->layer[i], false);
    }
    if (unit)
        collective(t, STEP_REDUCE_SCATTER, unit);
    collective(t, STEP_REDUCE_SCATTER, 0);
}

static int write_lines(struct table *t, bool fsdp)
{
    uint64_t all = 0;
    for (size_t i = 0; i < t->n; i++)
        all += parameters(&t->layer[i]);
    if (t->repeat)
        return refuse(t, "no 'end' behind", "repeat");
    if (!all)
        return fail_at(GS_FAILED, t->d->path, 0, "no row has parameters: nothing to synchronise");
    if (t->dtype == STEP_TF32 && fsdp)
        return fail_at(GS_FAILED, t->d->path, 0,
                       "parameters in tf32 cannot be gathered: dtype,fp32,fp32");
    text_addf(&t->d->head, "%s of %llu parameters. Numbers with * are of one batch.\n",
              fsdp ? "FSDP" : "DDP", (unsigned long long)all);
    if (fsdp) {
        fsdp_forward(t);
        fsdp_backward(t);
        return GS_OK;
    }
    for (size_t i = 0; i < t->n; i++)
        forward(t, &t->layer[i]);
    for (size_t i = t->n; i-- > 0;)
        backward(t, &t->layer[i], true);
    return GS_OK;
}

int step_from_table(struct step_draft *d, const char *text, bool fsdp)
{
    struct table t = {.d = d, .dtype = STEP_BF16, .gradients = STEP_FP32};
    char *copy = xstrdup(text), *rest = copy;
    int code = GS_OK;
    for (char *line; !code && (line = strsep(&rest, "\n"));) {
        t.line++;
        code = read_line(&t, line);
    }
    if (!code)
        code = write_lines(&t, fsdp);
    free(copy);
    free(t.layer);
    return code;
}
