/* SPDX-License-Identifier: Apache-2.0 */
#include "base/textplot.h"

#include "base/term.h"
#include "base/units.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROWS 11
#define COLUMNS 64
#define GUTTER 13 /* of the labels of the y axis */
#define WIDTH 80
#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define CURVES_MAX (sizeof LETTERS - 1)
#define NONE (-1)

struct canvas {
    double lo, hi; /* as drawn: logarithms where the axis is one */
    int at[ROWS][COLUMNS];
};

static double drawn(const struct textplot *p, double y)
{
    return p->log_y ? log(y) : y;
}

static size_t curves(const struct textplot *p)
{
    return p->n_curves < CURVES_MAX ? p->n_curves : CURVES_MAX;
}

/* False when no y can be drawn. */
static bool find_range(const struct textplot *p, struct canvas *c)
{
    c->lo = INFINITY;
    c->hi = -INFINITY;
    for (size_t i = 0; i < curves(p); i++)
        for (size_t x = 0; x < p->n_sizes; x++)
            if (p->curves[i].y[x] > 0) {
                c->lo = fmin(c->lo, drawn(p, p->curves[i].y[x]));
                c->hi = fmax(c->hi, drawn(p, p->curves[i].y[x]));
            }
    if (!isfinite(c->lo))
        return false;
    if (!p->log_y)
        c->lo = 0;
    if (c->hi - c->lo < 1e-9 * fabs(c->hi))
        c->hi = c->lo + 1;
    return true;
}

static size_t column(const struct textplot *p, size_t x)
{
    return x * (COLUMNS - 1) / (p->n_sizes - 1);
}

static void place(const struct textplot *p, struct canvas *c)
{
    for (size_t r = 0; r < ROWS; r++)
        for (size_t x = 0; x < COLUMNS; x++)
            c->at[r][x] = NONE;
    for (size_t i = curves(p); i-- > 0;)
        for (size_t x = 0; x < p->n_sizes; x++)
            if (p->curves[i].y[x] > 0) {
                double up = (drawn(p, p->curves[i].y[x]) - c->lo) / (c->hi - c->lo);
                c->at[ROWS - 1 - (size_t)lrint(up * (ROWS - 1))][column(p, x)] = (int)i;
            }
}

static void put_row(const struct textplot *p, const struct canvas *c, size_t r)
{
    char label[32] = "";
    if (r % ((ROWS - 1) / 2) == 0) {
        double y = c->lo + (c->hi - c->lo) * (double)(ROWS - 1 - r) / (ROWS - 1);
        p->label(label, sizeof label, p->log_y ? exp(y) : y);
    }
    size_t last = COLUMNS;
    while (last && c->at[r][last - 1] == NONE)
        last--;
    printf("%*s |", GUTTER, label);
    for (size_t x = 0; x < last; x++) {
        int i = c->at[r][x];
        if (i == NONE)
            putchar(' ');
        else
            printf("%s%c%s", term_colour(stdout, (size_t)i), LETTERS[i], term_end(stdout));
    }
    putchar('\n');
}

/* As many sizes as fit under their columns, the first and the last among them. */
static void put_sizes(const struct textplot *p)
{
    char line[COLUMNS + 32];
    memset(line, ' ', sizeof line);
    size_t end = 0, last_begin;
    char last[32];
    units_short_size(last, sizeof last, (uint64_t)p->sizes[p->n_sizes - 1]);
    last_begin = COLUMNS - strlen(last);
    for (size_t x = 0; x + 1 < p->n_sizes; x++) {
        char word[32];
        units_short_size(word, sizeof word, (uint64_t)p->sizes[x]);
        size_t n = strlen(word), at = column(p, x);
        if ((x && at < end + 2) || at + n + 2 > last_begin)
            continue;
        memcpy(line + at, word, n);
        end = at + n;
    }
    memcpy(line + last_begin, last, strlen(last));
    line[COLUMNS] = '\0';
    printf("%*s +", GUTTER, "");
    for (size_t x = 0; x < COLUMNS; x++)
        putchar('-');
    printf("\n%*s  %s\n", GUTTER, "", line);
}

static void put_names(const struct textplot *p)
{
    size_t at = 0;
    for (size_t i = 0; i < curves(p); i++) {
        size_t n = strlen(p->curves[i].name) + 4;
        if (at && at + n > WIDTH) {
            putchar('\n');
            at = 0;
        }
        printf("  %s%c%s %s", term_colour(stdout, i), LETTERS[i], term_end(stdout),
               p->curves[i].name);
        at += n;
    }
    printf("\n");
    if (p->n_curves > 1)
        printf("  where curves overlap, only the first is drawn%s\n",
               p->n_curves > CURVES_MAX ? "; not all are drawn" : "");
}

void textplot_print(const struct textplot *p)
{
    struct canvas c;
    if (p->n_sizes < TEXTPLOT_SIZES || !find_range(p, &c))
        return;
    place(p, &c);
    printf("\n%s%s%s\n", term_bold(stdout), p->title, term_end(stdout));
    for (size_t r = 0; r < ROWS; r++)
        put_row(p, &c, r);
    put_sizes(p);
    put_names(p);
}

void textplot_free(struct textplot *p)
{
    for (size_t i = 0; i < p->n_curves; i++) {
        free(p->curves[i].name);
        free(p->curves[i].y);
    }
    free(p->curves);
    free(p->sizes);
    *p = (struct textplot){0};
}
