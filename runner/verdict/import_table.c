/* SPDX-License-Identifier: Apache-2.0 */
#include "import_table.h"

#include <string.h>

static const struct {
    const char *name;
    enum column is;
} names[] = {
    {"size", COL_SIZE},       {"count", COL_COUNT},
    {"type", COL_TYPE},       {"redop", COL_OP},
    {"root", COL_ROOT},       {"time", COL_TIME},
    {"cputime", COL_CPUTIME}, {"algbw", COL_ALGBW},
    {"busbw", COL_BUSBW},     {"#wrong", COL_WRONG},
    {"error", COL_ERROR},     {"i_min", COL_ITERATION},
    {"i_max", COL_ITERATION}, {"i_p99", COL_ITERATION},
    {"i_cv%", COL_ITERATION}, {"timestamp", COL_TIMESTAMP},
};
#define NAMES (sizeof names / sizeof *names)

static bool column_of(const struct word *w, enum column *is)
{
    for (size_t i = 0; i < NAMES; i++)
        if (word_is(w, names[i].name)) {
            *is = names[i].is;
            return true;
        }
    return false;
}

bool table_header(struct table *t, const char *s)
{
    struct word w[TABLE_COLUMNS];
    size_t n = words_of(s, w, TABLE_COLUMNS);
    int times = 0;
    *t = (struct table){0};
    if (n < 6 || n >= TABLE_COLUMNS || !word_is(&w[0], "size") || !word_is(&w[1], "count"))
        return false;
    for (size_t i = 0; i < n; i++) {
        enum column is;
        if (!column_of(&w[i], &is))
            return false;
        times += is == COL_TIME || is == COL_CPUTIME;
        t->cpu_time = t->cpu_time || is == COL_CPUTIME;
        t->errors = t->errors || is == COL_ERROR;
        t->columns[t->n].is = is;
        t->columns[t->n++].in_place = times == 2;
        t->side += times == 1;
        if (is == COL_TIMESTAMP) /* a date and a time of day */
            t->columns[t->n++].is = is;
    }
    return times == 2;
}

bool table_claims(const char *line)
{
    struct word w[3];
    struct number x;
    int64_t size, count;
    return words_of(line, w, 3) >= 3 && word_integer(&w[0], &size) && word_integer(&w[1], &count) &&
           size >= 0 && count >= 0 && !number_read(&x, w[2].s, w[2].s + w[2].n);
}

static bool place(struct row *out, enum column is, int in_place, const struct word *w)
{
    switch (is) {
    case COL_SIZE:
        return word_integer(w, &out->size_B);
    case COL_COUNT:
        return word_integer(w, &out->count);
    case COL_ROOT:
        return word_integer(w, &out->root);
    case COL_TYPE:
        out->type = *w;
        return true;
    case COL_OP:
        out->op = *w;
        return true;
    case COL_TIME:
    case COL_CPUTIME:
        out->side[in_place].there = true;
        out->side[in_place].time = *w;
        return true;
    case COL_ALGBW:
        out->side[in_place].algbw = *w;
        return true;
    case COL_BUSBW:
        out->side[in_place].busbw = *w;
        return true;
    case COL_WRONG:
    case COL_ERROR:
        out->side[in_place].wrong = *w;
        return true;
    case COL_ITERATION:
    case COL_TIMESTAMP:
        break;
    }
    return true;
}

enum row_kind table_row(const struct table *t, const char *line, struct row *out)
{
    struct word w[TABLE_COLUMNS + 1];
    size_t n = words_of(line, w, TABLE_COLUMNS + 1), skip = t->n - n;
    *out = (struct row){.root = -1};
    if (n > t->n)
        return ROW_ODD;
    if (n < t->n && skip != t->side) /* the out-of-place side may be left blank */
        return ROW_SHORT;
    for (size_t i = 0, k = 0; i < t->n; i++) {
        if (skip && !t->columns[i].in_place && t->columns[i].is >= COL_TIME &&
            t->columns[i].is != COL_TIMESTAMP)
            continue;
        if (!place(out, t->columns[i].is, t->columns[i].in_place, &w[k++]))
            return ROW_ODD;
    }
    return ROW_WHOLE;
}
