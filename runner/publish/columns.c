/* SPDX-License-Identifier: Apache-2.0 */
#include "publish/columns.h"

#include "base/cli.h"
#include "base/text.h"
#include "compare/verdicts.h"
#include "reduce/summary.h"
#include "reduce/wan_table.h"
#include "store/contrasts.h"
#include "store/limits.h"
#include "store/store.h"
#include "store/transitions.h"
#include "wan/wan_report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INDENT 18

/* ---- tables ---- */

static const struct table_of {
    const char *file, *columns;
    const char *verb; /* that writes it */
    const char *row;  /* of what it has one */
} written[] = {
    {"samples.csv", samples_columns, "query --export", "sample"},
    {"summary.csv", summary_columns, "query --export", "cell"},
    {"iteration.csv", iteration_columns, "query --export", "config of a training step"},
    {"launches.csv", launches_columns, "query --export", "launch of a cell"},
    {"metrics.csv", metrics_columns, "query --export", "metric of a cell, other than its time"},
    {"wan.csv", wan_columns, "query --export",
     "synchronisation between sites, with the model's prediction"},
    {"compare.csv", compare_columns, "query --export", "verdict against the baseline"},
    {"chosen.csv", compare_columns, "query --export",
     "verdict against the config that is fastest alone, in mode comm"},
    {"again.csv", again_columns, "query --export", "pair of verdicts from two recordings"},
    {"placebo.csv", placebo_columns, "query --export",
     "run and mode: how often the times alone call a difference between configs that ran the same "
     "operation"},
    {"transitions.csv", transitions_columns, "query --export",
     "change in a curve of time against size"},
    {"limits.csv", limits_columns, "query --export", "claim or cell, against what is possible"},
    {"model --csv", model_columns, "model", "prediction for a training between sites"},
    {"model --claims", claims_columns, "model", "claim about a training between sites"},
};

/* Those above, then those of the store. */
static size_t n_tables(void)
{
    size_t n = COUNT(written);
    while (store_tables[n - COUNT(written)].name)
        n++;
    return n;
}

static struct table_of table_at(size_t i)
{
    if (i < COUNT(written))
        return written[i];
    const struct store_table *t = &store_tables[i - COUNT(written)];
    return (struct table_of){t->name, t->columns, "query", t->row};
}

/* ---- look-up ---- */

/* Is this the row that describes the column in this table? */
static bool describes(const struct column *c, const struct table_of *t)
{
    if (!text_lists(t->columns, ",", strcmp(c->name, PARAM_COLUMNS) ? c->name : CSV_PARAMS) ||
        (c->file && strcmp(c->file, t->file)))
        return false;
    for (size_t i = 0; column_words[i].name && !c->file; i++)
        if (column_words[i].file && !strcmp(column_words[i].file, t->file) &&
            !strcmp(column_words[i].name, c->name))
            return false;
    return true;
}

/* "number, s" */
static void type_and_unit(const struct column *c, char *buf, size_t n)
{
    size_t name;
    const char *unit = column_unit(c->name, &name);
    bool known = *unit && strcmp(c->type, COLUMN_TEXT);
    snprintf(buf, n, "%s%s%s", c->type, known ? ", " : "", known ? unit : "");
}

/* The column's name, or its name without the unit: "busbw" is busbw_Bps. */
static bool is_named(const struct column *c, const char *word)
{
    size_t n;
    bool unit = *column_unit(c->name, &n);
    if (!strcmp(c->name, PARAM_COLUMNS))
        return !strncmp(word, CSV_PARAM, strlen(CSV_PARAM)) || !strcmp(word, CSV_PARAMS);
    return !strcmp(c->name, word) || (unit && strlen(word) == n && !strncmp(c->name, word, n));
}

/* ---- printed ---- */

static void put_column(const struct column *c)
{
    char type[32];
    type_and_unit(c, type, sizeof type);
    printf("  %-20s %s\n", c->name, type);
    cli_put_wrapped(INDENT, c->help);
}

static bool table_help(const char *word, const char *before)
{
    size_t i = 0, n = n_tables();
    while (i < n && strcmp(table_at(i).file, word))
        i++;
    if (i == n)
        return false;
    const struct table_of of = table_at(i), *t = &of;
    printf("%s%s, %s 'gradsync %s'\n", before, t->file,
           i < COUNT(written) ? "written by" : "a table of the store, for", t->verb);
    AUTO_FREE char *row = xstrfmt("One row for each %s. Columns:", t->row);
    cli_put_wrapped(2, row);
    AUTO_WORDS struct words names = {0};
    AUTO_FREE char *all = xstrfmt("%s%s", t->columns,
                                  text_lists(t->columns, ",", CSV_PARAMS) ? "," PARAM_COLUMNS : "");
    words_split(&names, all, ',');
    for (size_t k = 0; k < names.n; k++)
        for (size_t c = 0; column_words[c].name; c++)
            if (!strcmp(column_words[c].name, names.v[k]) && describes(&column_words[c], t))
                put_column(&column_words[c]);
    return true;
}

static char *tables_of(const struct column *c, const char *format)
{
    struct text t = {0};
    text_clear(&t);
    for (size_t i = 0; i < n_tables(); i++) {
        const struct table_of one = table_at(i);
        if (describes(c, &one)) {
            text_add(&t, *t.s ? ", " : "");
            text_addf(&t, format, one.file);
        }
    }
    return t.s;
}

static bool column_help(const char *word, const char *before)
{
    bool found = false;
    for (size_t i = 0; column_words[i].name; i++) {
        if (!is_named(&column_words[i], word))
            continue;
        AUTO_FREE char *where = tables_of(&column_words[i], "%s");
        AUTO_FREE char *line = xstrfmt("a column of %s", where);
        fputs(found ? "\n" : before, stdout);
        cli_put_wrapped(0, line);
        put_column(&column_words[i]);
        found = true;
    }
    return found;
}

bool columns_help(const char *word, const char *before)
{
    for (size_t i = 0; terms[i].name; i++)
        if (!strcmp(terms[i].name, word)) {
            const char *unit = terms[i].unit;
            printf("%s%s\n  %s%*s%s\n", before, *unit ? "a derived quantity" : "a term", word,
                   *unit ? 21 - (int)strlen(word) : 0, "", unit);
            cli_put_wrapped(INDENT, terms[i].help);
            return true;
        }
    return table_help(word, before) || column_help(word, before);
}

void columns_names(struct words *names)
{
    for (size_t i = 0; i < n_tables(); i++)
        words_add(names, table_at(i).file);
    for (size_t i = 0; column_words[i].name; i++)
        words_add(names, column_words[i].name);
    for (size_t i = 0; terms[i].name; i++)
        words_add(names, terms[i].name);
}

bool columns_list(const char *word)
{
    if (strcmp(word, "tables"))
        return false;
    puts(
        "Tables. 'gradsync help TABLE' lists the columns, 'gradsync help COLUMN' describes one.\n");
    for (size_t i = 0; i < n_tables(); i++) {
        const struct table_of t = table_at(i);
        char *line = xstrfmt("one row for each %s; 'gradsync %s'", t.row, t.verb);
        printf("  %s\n", t.file);
        cli_put_wrapped(INDENT, line);
        free(line);
    }
    return true;
}

/* A cell of a Markdown table: "|" would end it. */
static void put_cell(const char *s)
{
    for (; *s; s++)
        printf(*s == '|' ? "\\|" : "%c", *s);
}

void columns_markdown(void)
{
    puts("| table | one row for each | written by |\n|---|---|---|");
    for (size_t i = 0; i < n_tables(); i++)
        printf("| `%s` | %s | `%s` |\n", table_at(i).file, table_at(i).row, table_at(i).verb);
    puts("\n| column | type, unit | meaning | tables |\n|---|---|---|---|");
    for (size_t i = 0; column_words[i].name; i++) {
        char type[32], *where = tables_of(&column_words[i], "`%s`");
        type_and_unit(&column_words[i], type, sizeof type);
        printf("| `%s` | %s | ", column_words[i].name, type);
        put_cell(column_words[i].help);
        printf(" | %s |\n", where);
        free(where);
    }
}
