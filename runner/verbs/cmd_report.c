/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cli.h"
#include "base/err.h"
#include "base/locate.h"
#include "publish/page.h"
#include "record/choose_runs.h"
#include "verbs/commands.h"

#include <stdlib.h>

struct request {
    struct page_source source;
    const char *path;
    bool all;
};

static int report(void *request, char **platforms, int n)
{
    struct request *q = request;
    AUTO(choice_free) struct choice choice = {0};
    int code = GS_OK;
    if (!n && !q->all && !q->source.raw) {
        code = choose_runs(&choice, NULL, 0);
        if (!code)
            choice_say(&choice);
        platforms[0] = choice.platform;
    }
    q->source.platforms = (const char *const *)platforms;
    q->source.raw = q->source.raw ? q->source.raw : LOCATE_DATA;
    if (!code)
        code = page_write(q->path, &q->source);
    if (!code)
        say("%s: open it in a browser", q->path);
    return code;
}

int cmd_report(int argc, char **argv)
{
    struct request q = {.source = {.csv = "data/csv", .figures = "figures/out"},
                        .path = "report.html"};
    const struct cli_option options[] = {
        {"output", 'o', CLI_TEXT, &q.path, "FILE", "file for the page (default report.html)"},
        {"raw", 'r', CLI_TEXT, &q.source.raw, "RAW", "folder of the recordings (default data/raw)"},
        {"csv", 'c', CLI_TEXT, &q.source.csv, "CSV", "folder of the tables (default data/csv)"},
        {"figures", 'f', CLI_TEXT, &q.source.figures, "FOLDER",
         "folder of the figures (default figures/out)"},
        {"all", 'a', CLI_FLAG, &q.all, NULL, "every platform that has a recording"},
        CLI_QUIET_ROW,
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
        .max_args = -1};
    return cli_request(&cli, argc, argv, report, &q);
}
