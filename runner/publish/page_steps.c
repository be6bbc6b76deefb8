/* SPDX-License-Identifier: Apache-2.0 */
#include "publish/page.h"

#include <string.h>

#define STEP "overlapped"

/* The training steps of one section of a platform, against their baseline. */
struct steps {
    size_t all, beaten, undecided;
};

static bool same(const struct grid *g, size_t a, size_t b, const char *column)
{
    return !strcmp(grid_text(g, a, column), grid_text(g, b, column));
}

static bool same_section(const struct grid *g, size_t a, size_t b)
{
    return same(g, a, b, "platform") && same(g, a, b, "workload") && same(g, a, b, "label") &&
           same(g, a, b, "mode");
}

/* The contrasts of a step stand together, a row a config: where does the step of `first` end? */
static size_t end_of_step(const struct grid *g, size_t first)
{
    size_t i = first + 1;
    while (i < g->n && same_section(g, i, first) && same(g, i, first, "size_B") &&
           !same(g, i, first, "config"))
        i++;
    return i;
}

static void count_step(struct steps *steps, const struct grid *g, size_t first, size_t end)
{
    bool beaten = false, open = false;
    for (size_t i = first; i < end; i++) {
        beaten |= !strcmp(grid_text(g, i, "verdict"), "faster");
        open |= !strcmp(grid_text(g, i, "verdict"), "inconclusive");
    }
    steps->all++;
    steps->beaten += beaten;
    steps->undecided += !beaten && open;
}

/* All steps of the section of `first`, which is its first row. */
static void count_section(struct steps *steps, const struct grid *g, size_t first)
{
    *steps = (struct steps){0};
    for (size_t i = first, end; i < g->n; i = end) {
        end = end_of_step(g, i);
        if (same_section(g, i, first))
            count_step(steps, g, i, end);
    }
}

static bool opens_section(const struct grid *g, size_t row)
{
    for (size_t i = 0; i < row; i++)
        if (same_section(g, i, row))
            return false;
    return true;
}

static void put_section(FILE *f, const struct grid *g, size_t first)
{
    struct steps steps;
    const char *label = grid_text(g, first, "label");
    count_section(&steps, g, first);
    fputs("<li>", f);
    page_text(f, grid_text(g, first, "platform"));
    fputs(", ", f);
    page_text(f, grid_text(g, first, "workload"));
    fputs(*label ? " " : "", f);
    page_text(f, label);
    fputs(": ", f);
    page_text(f, grid_text(g, first, "baseline"));
    fprintf(f, " is beaten in %zu of %zu steps, undecided in %zu</li>\n", steps.beaten, steps.all,
            steps.undecided);
}

int page_put_steps(FILE *f, struct paper_tables *tables, const char *platform, bool *any)
{
    const struct grid *g;
    int code = paper_tables_find(tables, "compare", &g);
    for (size_t i = 0; !code && i < g->n; i++) {
        if (strcmp(grid_text(g, i, "platform"), platform) ||
            strcmp(grid_text(g, i, "mode"), STEP) || !opens_section(g, i))
            continue;
        fputs(*any ? "" : "<p>Training steps, compute and communication overlapped:</p>\n<ul>\n",
              f);
        *any = true;
        put_section(f, g, i);
    }
    return code;
}
