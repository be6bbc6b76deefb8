/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cli.h"
#include "base/err.h"
#include "base/locate.h"
#include "base/text.h"
#include "publish/page.h"
#include "record/choose_runs.h"
#include "verbs/commands.h"

#include <stdlib.h>

int cmd_report(int argc, char **argv)
{
    struct page_source source = {.csv = "data/csv", .figures = "figures/out"};
    const char *path = "report.html";
    bool quiet = false, all = false, done;
    const struct cli_option options[] = {
        {"output", 'o', CLI_TEXT, &path, "FILE", "file for the page (default report.html)"},
        {"raw", 'r', CLI_TEXT, &source.raw, "RAW", "folder of the recordings (default data/raw)"},
        {"csv", 'c', CLI_TEXT, &source.csv, "CSV", "folder of the tables (default data/csv)"},
        {"figures", 'f', CLI_TEXT, &source.figures, "FOLDER",
         "folder of the figures (default figures/out)"},
        {"all", 'a', CLI_FLAG, &all, NULL, "every platform that has a recording"},
        {"quiet", 'q', CLI_FLAG, &quiet, NULL, "print errors only"},
        {0},
    };
    const struct cli cli = {
        .verb = "report",
        .arguments = "[PLATFORM…]",
        .summary = "Writes one self-contained HTML page with the figures, tables, "
                   "verdicts, machine and provenance of the platforms (default: that of the "
                   "latest run of this machine; with --raw: all). "
                   "'make report' also makes the tables and figures first.",
        .example = "gradsync report local --output local.html",
        .options = options,
        .min_args = 0,
        .max_args = -1};
    char **args = xcalloc((size_t)argc + 1, sizeof *args);
    int n, code = cli_parse(&cli, argc, argv, args, &n, &done);
    say_quiet(quiet);
    source.platforms = (const char *const *)args;
    struct choice choice = {0};
    if (!code && !done && !n && !all && !source.raw) {
        code = choose_runs(&choice, NULL, 0);
        if (!code)
            choice_say(&choice);
        args[0] = choice.platform;
    }
    source.raw = source.raw ? source.raw : LOCATE_DATA;
    if (!code && !done)
        code = page_write(path, &source);
    if (!code && !done)
        say("%s: open it in a browser", path);
    choice_free(&choice);
    free(args);
    return code;
}
