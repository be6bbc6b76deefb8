/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cli.h"
#include "base/err.h"
#include "base/locate.h"
#include "base/text.h"
#include "cluster/campaign.h"
#include "cluster/cluster_status.h"
#include "job/tune.h"
#include "launch/run.h"
#include "record/run_campaign.h"
#include "record/runs.h"
#include "verbs/commands.h"

static int resume(void *options, char **words, int n)
{
    (void)n;
    AUTO_FREE char *what = locate_run(words[0]);
    AUTO_FREE char *part_of = run_campaign(what), *copy_of = run_collected_from(what);
    if (campaign_is(what))
        return campaign_resume(what, ((struct run_options *)options)->commands);
    if (tune_is_run(what))
        return tune_resume(what);
    AUTO_FREE char *command = run_completed_by(what);
    if (part_of)
        return fail_at(GS_USAGE, what, 0, "the jobs of a campaign measure this run: %s", command);
    if (copy_of && !run_is_final(what))
        return fail_at(GS_USAGE, what, 0,
                       "is an unfinished copy from a campaign: complete the campaign, then collect "
                       "again: %s",
                       command);
    return run_folder(what, options);
}

int cmd_resume(int argc, char **argv)
{
    struct run_options options = {0};
    const struct cli_option table[] = {
        {"quiet", 'q', CLI_QUIET, &options.quiet, NULL, "print errors only, no progress"},
        {"json", 0, CLI_FLAG, &options.json, NULL, "print a summary as JSON"},
        {"commands", 0, CLI_FLAG, &options.commands, NULL,
         "run the commands of a run or campaign that you did not begin in this folder: prefix, "
         "args, [train] command, scripts; read them first"},
        {0}};
    const struct cli cli = {.verb = "resume",
                            .arguments = "RUN | CAMPAIGN",
                            .summary = "Measures the missing cells of a run, or submits the "
                                       "missing tasks of a campaign, by the same plan.",
                            .example = "gradsync resume 20250101T000000Z-ab12",
                            .options = table,
                            .min_args = 1,
                            .max_args = 1};
    return cli_request(&cli, argc, argv, resume, &options);
}
