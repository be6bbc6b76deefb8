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
#include "import/import_step_layers.h"

#include <stdlib.h>
#include <string.h>

#define ROW_WORDS 6
#define UNITS_MAX 4096
#define LAYERS_MAX 16384

static const struct {
    const char *name;
    unsigned numbers;
} ops[] = {[LINEAR] = {"linear", 3}, [LINEAR_NOBIAS] = {"linear_nobias", 3},
           [MATMUL] = {"matmul", 4}, [NORM] = {"norm", 3},
           [KERNEL] = {"kernel", 2}, [EMBEDDING] = {"embedding", 3}};
enum { OPS = sizeof ops / sizeof *ops };

struct table {
    struct step_draft *d;
    struct layers layers;
    size_t repeat_from; /* first layer of an open repeat */
    uint64_t repeat;    /* 0: none is open */
    int line;
    bool began;
};

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
    struct layers *l = &t->layers;
    if (l->n == LAYERS_MAX)
        return fail_at(GS_FAILED, t->d->path, t->line, "more than %d layers", LAYERS_MAX);
    ALLOC_GROW(l->v, l->n, l->cap);
    l->v[l->n++] = layer;
    return GS_OK;
}

static int begin_repeat(struct table *t, const char *word)
{
    struct step_number n;
    int code = read_number(t, word, &n);
    if (code)
        return code;
    if (t->repeat || n.per_batch || t->layers.units + n.value > UNITS_MAX)
        return refuse(t, "repeat inside a repeat, or more than 4096 times:", word);
    t->repeat = n.value;
    t->repeat_from = t->layers.n;
    return GS_OK;
}

static int end_repeat(struct table *t)
{
    size_t n = t->layers.n - t->repeat_from;
    if (!t->repeat || !n)
        return refuse(t, "no repeat, or no rows in it, before", "end");
    for (size_t i = 0; i < n; i++)
        t->layers.v[t->repeat_from + i].unit = t->layers.units + 1;
    int code = GS_OK;
    for (uint64_t k = 1; k < t->repeat && !code; k++)
        for (size_t i = 0; i < n && !code; i++) {
            struct layer copy = t->layers.v[t->repeat_from + i];
            copy.unit = t->layers.units + 1 + (unsigned)k;
            code = add_layer(t, copy);
        }
    t->layers.units += (unsigned)t->repeat;
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
        return refuse(t, "unknown row", word[0]);
    if (n - 1 != ops[op].numbers)
        return refuse(t, "wrong number of words for the row", word[0]);
    layer.op = (enum layer_op)op;
    for (size_t i = 0; i + 1 < n && !code; i++)
        code = read_number(t, word[1 + i], numbers[i]);
    return code ? code : add_layer(t, layer);
}

static int read_row(struct table *t, char *const *word, size_t n)
{
    t->began = true;
    if (!strcmp(word[0], "dtype") && n == 3) {
        int code = read_dtype(t, word[1], false, &t->layers.dtype);
        return code ? code : read_dtype(t, word[2], true, &t->layers.gradients);
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

static int write_lines(struct table *t, bool fsdp)
{
    uint64_t all = layers_parameters(&t->layers);
    if (t->repeat)
        return refuse(t, "no 'end' after", "repeat");
    if (!all)
        return fail_at(GS_FAILED, t->d->path, 0, "no row has parameters: nothing to synchronise");
    if (t->layers.dtype == STEP_TF32 && fsdp)
        return fail_at(GS_FAILED, t->d->path, 0,
                       "parameters in tf32 cannot be gathered: dtype,fp32,fp32");
    text_addf(&t->d->head, "%s of %llu parameters. Numbers with * are of one batch.\n",
              fsdp ? "FSDP" : "DDP", (unsigned long long)all);
    (fsdp ? layers_write_fsdp : layers_write_ddp)(&t->layers, t->d);
    return GS_OK;
}

int step_from_table(struct step_draft *d, const char *text, bool fsdp)
{
    struct table t = {.d = d, .layers = {.dtype = STEP_BF16, .gradients = STEP_FP32}};
    AUTO_FREE char *copy = xstrdup(text);
    char *rest = copy;
    int code = GS_OK;
    for (char *line; !code && (line = strsep(&rest, "\n"));) {
        t.line++;
        code = read_line(&t, line);
    }
    if (!code)
        code = write_lines(&t, fsdp);
    free(t.layers.v);
    return code;
}
