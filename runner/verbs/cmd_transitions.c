/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cli.h"
#include "base/err.h"
#include "base/files.h"
#include "base/locate.h"
#include "base/text.h"
#include "curves/curves.h"
#include "curves/transitions.h"
#include "record/choose_runs.h"
#include "store/export.h"
#include "verbs/commands.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What is printed of which tables; the tables of a folder are printed whole. */
struct request {
    bool all, quiet, named; /* named: the user named the folder */
    const char *dir;
    char *platform; /* NULL: any */
};

static void choose(struct request *q, const char *word)
{
    AUTO_FREE char *folder = word ? locate_platform(word) : NULL;
    AUTO(choice_free) struct choice choice = {0};
    q->named = word && !folder;
    q->dir = q->named ? word : STORE_TABLES_DIR;
    if (folder)
        q->platform = xstrdup(word);
    else if (!word && !q->quiet && !choose_quietly(&choice)) {
        choice_say(&choice);
        q->platform = xstrdup(choice.platform);
    }
}

static bool may_write(const char *dir)
{
    if (!access(dir, W_OK) || (errno != EACCES && errno != EROFS))
        return true;
    say("warning: %s/" TRANSITIONS_CSV " is not written: %s", dir, strerror(errno));
    return false;
}

/* The tables may be another person's, and the user wants to see only what they show. */
static int write_and_print(const struct request *q)
{
    struct store s = {0};
    AUTO_FREE char *path = xstrfmt("%s/" TRANSITIONS_CSV, q->dir);
    bool all = !q->named && store_has_recordings();
    int code = store_open_table(&s, all ? NULL : q->dir, "launches", curves_reads);
    if (!code)
        code = transitions_make(&s);
    bool kept = !code && (q->quiet || may_write(q->dir)); /* quiet: it is there to write */
    if (kept)
        code =
            store_export(&s, "SELECT * FROM transitions ORDER BY rowid", transitions_columns, path);
    if (!code && !q->quiet)
        code = transitions_print(&s, q->platform, q->all, kept ? path : NULL);
    code = code ? code : s.damaged.n ? GS_FAILED : GS_OK;
    store_close(&s);
    return code;
}

static int transitions(void *request, char **words, int n)
{
    struct request *q = request;
    if (n && !access(words[0], F_OK) && !files_is_folder(words[0]))
        return fail_at(GS_USAGE, words[0], 0,
                       "is not a folder; give a folder of tables, such as data/csv, or a platform");
    if (n && !files_is_folder(words[0]) && !strchr(words[0], '/')) {
        AUTO_FREE char *folder = locate_platform(words[0]);
        if (!folder)
            return locate_failed(GS_USAGE, words[0], LOCATE_RUN);
    }
    choose(q, n ? words[0] : NULL);
    int code = write_and_print(q);
    free(q->platform);
    return code;
}

int cmd_transitions(int argc, char **argv)
{
    struct request q = {0};
    const struct cli_option options[] = {
        {"all", 'a', CLI_FLAG, &q.all, NULL, "print every transition (default: one screen)"},
        {"quiet", 'q', CLI_QUIET, &q.quiet, NULL, "print errors only, no table"},
        {0},
    };
    const struct cli cli = {
        .verb = "transitions",
        .arguments = "[PLATFORM | CSV]",
        .summary =
            "Finds protocol switches, kinks, knees, dips and spikes in the curves of the "
            "recordings "
            "of data/raw, or of CSV/launches.csv, writes transitions.csv into CSV (default: "
            "data/csv) and prints those of a platform (default: that of the latest run of this "
            "machine).",
        .example = "gradsync transitions h200-4gpu",
        .options = options,
        .max_args = 1};
    return cli_request(&cli, argc, argv, transitions, &q);
}
