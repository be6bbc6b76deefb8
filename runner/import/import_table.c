/* SPDX-License-Identifier: Apache-2.0 */
#include "import/import_table.h"

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

#define BIT(column) (1u << (column))
#define KEYS (BIT(COL_SIZE) | BIT(COL_COUNT) | BIT(COL_TYPE))
#define SIDE (BIT(COL_TIME) | BIT(COL_ALGBW) | BIT(COL_BUSBW) | BIT(COL_WRONG))

/* Some versions and modes print another column in place of one. */
static unsigned bit_of(enum column is)
{
    return is == COL_CPUTIME ? BIT(COL_TIME) : is == COL_ERROR ? BIT(COL_WRONG) : BIT(is);
}

static void add_column(struct table *t, enum column is, int in_place)
{
    t->columns[t->n].is = is;
    t->columns[t->n++].in_place = in_place;
    t->cpu_time = t->cpu_time || is == COL_CPUTIME;
    t->errors = t->errors || is == COL_ERROR;
}

/* Each key once, then the columns of out of place, then those of in place. */
bool table_header(struct table *t, const char *s)
{
    struct word w[TABLE_COLUMNS];
    size_t n = words_of(s, w, TABLE_COLUMNS);
    unsigned seen[3] = {0}; /* keys, out of place, in place */
    int times = 0;
    *t = (struct table){0};
    if (n >= TABLE_COLUMNS / 2 + 4)
        return false;
    for (size_t i = 0; i < n; i++) {
        enum column is;
        if (!column_of(&w[i], &is))
            return false;
        times += is == COL_TIME || is == COL_CPUTIME;
        if (times > 2 || (is != COL_ITERATION && seen[times] & bit_of(is)))
            return false;
        seen[times] |= bit_of(is);
        add_column(t, is, times == 2);
        t->side += times == 1;
        if (is == COL_TIMESTAMP) /* a date and a time of day */
            add_column(t, is, 1);
    }
    return (seen[0] & KEYS) == KEYS && (seen[1] & SIDE) == SIDE && (seen[2] & SIDE) == SIDE;
}

bool table_claims(const char *line)
{
    struct word w[3];
    struct number x;
    int64_t size, count;
    return words_of(line, w, 3) >= 3 && word_integer(&w[0], &size) && word_integer(&w[1], &count) &&
           size >= 0 && count >= 0 && !word_number(&w[2], &x);
}

static bool set_field(struct row *out, enum column is, int in_place, const struct word *w)
{
    switch (is) {
    case COL_SIZE:
        return word_integer(w, &out->size_B);
    case COL_COUNT:
        return word_integer(w, &out->count);
    case COL_ROOT:
        return word_integer(w, &out->root) && out->root >= -1;
    case COL_TYPE:
        out->type = *w;
        return text_plain(w->s, w->n);
    case COL_OP:
        out->op = *w;
        return text_plain(w->s, w->n);
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
        if (!set_field(out, t->columns[i].is, t->columns[i].in_place, &w[k++]))
            return ROW_ODD;
    }
    return ROW_WHOLE;
}
