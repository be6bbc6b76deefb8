/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cli.h"
#include "base/err.h"
#include "config/locate.h"
#include "publish/report.h"
#include "record/runs.h"
#include "verbs/commands.h"

/* ---- report ---- */

struct report_request {
    struct report_source source;
    const char *path;
    bool all;
};

static int report(void *request, char **platforms, int n)
{
    struct report_request *q = request;
    AUTO(runs_choice_free) struct choice choice = {0};
    if (!n && !q->all && !q->source.raw) {
        CHECK(runs_choose(&choice, NULL, 0));
        runs_choice_say(&choice);
        platforms[0] = choice.platform;
    }
    q->source.platforms = (const char *const *)platforms;
    q->source.raw = q->source.raw ? q->source.raw : LOCATE_DATA;
    CHECK(report_write(q->path, &q->source));
    say("%s: open it in a browser", q->path);
    return GS_OK;
}

int cmd_report(int argc, char **argv)
{
    struct report_request q = {.source.figures = "figures/out", .path = "report.html"};
    const struct cli_option options[] = {
        {"output", 'o', CLI_TEXT, &q.path, "FILE", "file for the page (default report.html)"},
        {"raw", 'r', CLI_TEXT, &q.source.raw, "RAW", "folder of the recordings (default data/raw)"},
        {"figures", 'f', CLI_TEXT, &q.source.figures, "FOLDER",
         "folder of the figures (default figures/out)"},
        {"all", 'a', CLI_FLAG, &q.all, NULL, "every platform that has a recording"},
        CLI_QUIET_ROW,
        {0},
    };
    const struct cli cli = {
        .arguments = "[PLATFORM…]",
        .summary = "Writes one HTML page with the verdicts, figures, tables and machines of the "
                   "platforms (default: that of the latest run of this machine; with --raw: all). "
                   "'make report' also makes the figures first.",
        .example = "gradsync report local --output local.html",
        .options = options,
        .args = {0, -1}};
    return cli_request(&cli, argc, argv, report, &q);
}
