/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cli.h"
#include "base/err.h"
#include "base/lock.h"
#include "base/text.h"
#include "base/units.h"
#include "cluster/campaign.h"
#include "cluster/collect.h"
#include "verbs/commands.h"

#include <stdlib.h>

struct request {
    const char *raw;
    bool so_far;
};

static int run(void *request, char **words, int n)
{
    const struct request *q = request;
    AUTO(campaign_free) struct campaign c = {0};
    struct collected got = {0};
    (void)n;
    int lock = -1, code = campaign_read(&c, words[0]);
    if (!code)
        code = campaign_lock(&c, &lock);
    if (!code)
        code = collect(&got, &c, q->raw, q->so_far);
    if (!code) {
        /* Absolute, because data/raw depends on the current folder. */
        AUTO_FREE char *whole = realpath(q->raw, NULL);
        say("collected into %s: %zu run%s (%s), %zu already there, %zu incomplete%s",
            whole ? whole : q->raw, got.copied, got.copied == 1 ? "" : "s", HUMAN_SIZE(got.bytes),
            got.there, got.lacking, got.lacking ? " (see gradsync status)" : "");
        code = got.lacking ? GS_FAILED : GS_OK;
    }
    lock_free(lock);
    return code;
}

int cmd_collect(int argc, char **argv)
{
    struct request q = {.raw = "data/raw"};
    const struct cli_option options[] = {
        {"output", 'o', CLI_TEXT, &q.raw, "RAW", "folder for the recordings (default data/raw)"},
        {"so-far", 0, CLI_FLAG, &q.so_far, NULL,
         "also copy unfinished runs, e.g. to draw figures early"},
        CLI_QUIET_ROW,
        {0}};
    const struct cli cli = {
        .verb = "collect",
        .arguments = "CAMPAIGN",
        .summary = "Verifies the finished runs of a campaign and copies them to data/raw.",
        .example = "gradsync collect data/campaigns/gs-20250101T000000Z-ab12 --so-far",
        .options = options,
        .min_args = 1,
        .max_args = 1};
    return cli_request(&cli, argc, argv, run, &q);
}
