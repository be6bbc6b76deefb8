/* SPDX-License-Identifier: Apache-2.0 */
#include "reduce/series.h"

#include <stdlib.h>

const struct series *gathered_find(const struct gathered *g, size_t cell, int copy)
{
    for (size_t i = 0; i < g->n; i++)
        if (g->series[i].cell == cell && g->series[i].copy == copy)
            return &g->series[i];
    return NULL;
}

void gathered_free(const struct recorded *r, struct gathered *g)
{
    for (size_t i = 0; i < g->n; i++) {
        struct series *s = &g->series[i];
        for (size_t m = 0; m < r->cells[s->cell].n_metrics; m++)
            free(s->metrics[m]);
        free(s->metrics);
        free(s->blocks);
        free(s->times);
    }
    free(g->series);
    for (size_t i = 0; i < g->n_out; i++)
        free(g->out[i].why);
    free(g->out);
    *g = (struct gathered){0};
}

const struct block *series_block(const struct series *s, int launch, int number, size_t *from)
{
    for (; *from < s->n_blocks; ++*from) {
        const struct block *b = &s->blocks[*from];
        if (b->launch == launch && b->number == number)
            return b;
        if (b->launch > launch || (b->launch == launch && b->number > number))
            return NULL;
    }
    return NULL;
}
