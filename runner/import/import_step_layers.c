/* SPDX-License-Identifier: Apache-2.0 */
#include "import/import_step_layers.h"

#define GROUP "dp"

struct writing {
    const struct layers *l;
    struct step_draft *d;
    uint64_t collectives; /* written */
};

static struct step_number times(struct step_number a, struct step_number b)
{
    return (struct step_number){a.value * b.value, a.per_batch || b.per_batch};
}

static struct step_number many(struct step_number a, uint64_t n)
{
    return (struct step_number){a.value * n, a.per_batch};
}

static void gemm(struct writing *w, const char *layout, struct step_number m, struct step_number n,
                 struct step_number k, struct step_number count)
{
    struct step_line *l = step_draft_add(w->d, STEP_GEMM, w->l->dtype);
    l->transpose_a = layout[0] == 't';
    l->transpose_b = layout[1] == 't';
    l->number[STEP_M] = m;
    l->number[STEP_N] = n;
    l->number[STEP_K] = k;
    l->number[STEP_COUNT] = count;
}

/* A kernel that reads or writes each element `passes` times. */
static void kernel(struct writing *w, const struct layer *l, uint64_t passes)
{
    struct step_number width = l->op == EMBEDDING ? l->out : l->in;
    step_draft_add(w->d, STEP_KERNEL, w->l->dtype)->number[0] =
        many(times(l->rows, width), passes * step_dtype_B(w->l->dtype));
}

static void forward(struct writing *w, const struct layer *l)
{
    if (l->op <= MATMUL)
        gemm(w, "nt", l->rows, l->out, l->in, l->count);
    else
        kernel(w, l, 2);
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

static void gradient(struct writing *w, uint64_t elements)
{
    step_draft_elements(w->d, STEP_GRADIENT, w->l->gradients, (struct step_number){elements, false},
                        "");
}

/* Biases are ready before weights, as in DDP's reverse order of the parameters. */
static void backward(struct writing *w, const struct layer *l, bool gradients)
{
    if (l->op <= MATMUL) {
        gemm(w, "nn", l->rows, l->in, l->out, l->count);
        gemm(w, "tn", l->out, l->in, l->rows, l->count);
    } else {
        kernel(w, l, 3);
    }
    if (gradients && l->op == LINEAR)
        gradient(w, l->out.value);
    if (gradients && parameters(l))
        gradient(w, parameters(l) - (l->op == LINEAR ? l->out.value : 0));
}

/* ---- FSDP: each unit is gathered before its layers, the next one meanwhile ---- */

static void collective(struct writing *w, enum step_kind kind, unsigned unit)
{
    struct step_number elements = {0};
    for (size_t i = 0; i < w->l->n; i++)
        if (w->l->v[i].unit == unit)
            elements.value += parameters(&w->l->v[i]);
    if (!elements.value)
        return;
    step_draft_elements(w->d, kind, kind == STEP_ALL_GATHER ? w->l->dtype : w->l->gradients,
                        elements, GROUP);
    w->collectives++;
}

static void wait(struct writing *w, uint64_t pending)
{
    if (pending >= w->collectives)
        return;
    step_draft_add(w->d, STEP_WAIT, w->l->dtype)->number[0].value = pending;
}

static void fsdp_forward(struct writing *w)
{
    unsigned unit = 0;
    collective(w, STEP_ALL_GATHER, 0);
    wait(w, 0);
    if (w->l->units)
        collective(w, STEP_ALL_GATHER, 1);
    for (size_t i = 0; i < w->l->n; i++) {
        if (w->l->v[i].unit > unit) {
            unit = w->l->v[i].unit;
            wait(w, 0);
            if (unit < w->l->units)
                collective(w, STEP_ALL_GATHER, unit + 1);
        }
        forward(w, &w->l->v[i]);
    }
}

static void fsdp_backward(struct writing *w)
{
    unsigned unit = 0;
    bool scattered = false;
    for (size_t i = w->l->n; i-- > 0;) {
        unsigned next = w->l->v[i].unit;
        if (next != unit && unit) {
            collective(w, STEP_REDUCE_SCATTER, unit);
            scattered = true;
        }
        if (next != unit && next) {
            if (!scattered)
                collective(w, STEP_ALL_GATHER, next);
            wait(w, scattered);
            if (next > 1)
                collective(w, STEP_ALL_GATHER, next - 1);
        }
        unit = next;
        backward(w, &w->l->v[i], false);
    }
    if (unit)
        collective(w, STEP_REDUCE_SCATTER, unit);
    collective(w, STEP_REDUCE_SCATTER, 0);
}

uint64_t layers_parameters(const struct layers *l)
{
    uint64_t all = 0;
    for (size_t i = 0; i < l->n; i++)
        all += parameters(&l->v[i]);
    return all;
}

void layers_write_fsdp(const struct layers *l, struct step_draft *d)
{
    struct writing w = {.l = l, .d = d};
    fsdp_forward(&w);
    fsdp_backward(&w);
}

void layers_write_ddp(const struct layers *l, struct step_draft *d)
{
    struct writing w = {.l = l, .d = d};
    for (size_t i = 0; i < l->n; i++)
        forward(&w, &l->v[i]);
    for (size_t i = l->n; i-- > 0;)
        backward(&w, &l->v[i], true);
}
