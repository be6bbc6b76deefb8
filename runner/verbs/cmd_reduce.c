/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cli.h"
#include "base/err.h"
#include "base/locate.h"
#include "base/text.h"
#include "record/runs.h"
#include "store/export.h"
#include "verbs/commands.h"

#include <stdbool.h>
#include <string.h>
#include <unistd.h>

struct request {
    const char *out, *damaged;
};

/* Only a folder that the user named may lose the tables of all other recordings. */
static int check_default(const struct request *q, const char *root)
{
    if (q->out || access(STORE_TABLES_DIR "/summary.csv", F_OK))
        return GS_OK;
    return fail(GS_USAGE,
                "reduce: the tables in " STORE_TABLES_DIR
                " would be replaced by those of %s alone: name "
                "a folder for these, --output DIR; all tables again: make tables",
                root);
}

static bool is_all(const char *root)
{
    size_t n = strlen(LOCATE_DATA);
    return !strncmp(root, LOCATE_DATA, n) && !root[n + (root[n] == '/')];
}

/* The tables of the sound recordings are written if the caller takes a list of the others. */
static int write_tables(const struct request *q, struct store *s)
{
    AUTO_TEXT struct text list = {0};
    if (s->damaged.n && !q->damaged)
        return GS_FAILED;
    text_add(&list, "");
    for (size_t i = 0; i < s->damaged.n; i++)
        text_addf(&list, "%s\n", s->damaged.v[i]);
    int code = store_export_all(s, q->out ? q->out : STORE_TABLES_DIR);
    return code || !q->damaged ? code : csv_write_file(q->damaged, list.s);
}

static int reduce(void *request, char **words, int n_words)
{
    static const char *const default_root = LOCATE_DATA;
    const struct request *q = request;
    const char *const *roots = n_words ? (const char *const *)words : &default_root;
    size_t n = n_words ? (size_t)n_words : 1;
    bool all = n == 1 && is_all(roots[0]);
    AUTO(runs_free) struct runs runs = {0};
    struct store s = {0};
    int code = all ? GS_OK : check_default(q, roots[0]);
    if (!code)
        code = runs_below(&runs, roots, n);
    if (code)
        return code;
    code = store_open_roots(&s, roots, all ? 0 : n);
    if (!code)
        code = write_tables(q, &s);
    store_close(&s);
    for (size_t i = 0; !code && i < runs.n; i++)
        if (!run_is_final(runs.v[i].dir))
            say("unfinished: %s: its tables are incomplete; 'gradsync show' names the missing "
                "cells",
                runs.v[i].dir);
    return code;
}

int cmd_reduce(int argc, char **argv)
{
    struct request q = {0};
    const struct cli_option options[] = {
        {"output", 'o', CLI_TEXT, &q.out, "CSV",
         "folder for the tables (default " STORE_TABLES_DIR ")"},
        {"damaged", 0, CLI_TEXT, &q.damaged, "FILE",
         "leave damaged recordings out and list their folders in FILE (default: write no table if "
         "a recording is damaged)"},
        CLI_QUIET_ROW,
        {0},
    };
    const struct cli cli = {.verb = "reduce",
                            .arguments = "[RAW…]",
                            .summary = "Turns the recordings below RAW (default data/raw) into "
                                       "tables: samples.csv, launches.csv, summary.csv and others.",
                            .example = "gradsync reduce data/raw --output data/csv",
                            .options = options,
                            .max_args = -1};
    return cli_request(&cli, argc, argv, reduce, &q);
}
