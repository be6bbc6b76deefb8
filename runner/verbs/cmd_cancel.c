/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cli.h"
#include "base/err.h"
#include "base/lock.h"
#include "base/text.h"
#include "cluster/campaign.h"
#include "cluster/slurm.h"
#include "verbs/commands.h"

/* Ids of our array jobs with a job that has not ended, each once. A copy of a campaign names the jobs
 * of the original: they are not ours to cancel. */
static size_t living(const struct queue *q, long *jobs)
{
    size_t n = 0;
    for (size_t i = 0; i < q->n; i++) {
        bool listed = job_life(&q->v[i]) == JOB_ENDED || !q->v[i].mine;
        for (size_t k = 0; k < n && !listed; k++)
            listed = jobs[k] == q->v[i].array_job;
        if (!listed)
            jobs[n++] = q->v[i].array_job;
    }
    return n;
}

static int cancel_queue(const struct campaign *c)
{
    AUTO(queue_free) struct queue q = {0};
    int code = slurm_queue(&q, c);
    AUTO_FREE long *jobs = xcalloc(q.n + 1, sizeof *jobs);
    size_t n = living(&q, jobs);
    if (!code)
        code = jobs_cancelled(c);
    if (!code)
        code = slurm_cancel(jobs, n);
    if (!code)
        say("cancelled: %zu array%s; recordings are kept, resume measures the missing cells", n,
            n == 1 ? "" : "s");
    return code;
}

static int cancel(void *request, char **words, int n)
{
    (void)request, (void)n;
    AUTO(campaign_free) struct campaign c = {0};
    int lock = -1, code = campaign_read(&c, words[0]);
    if (!code)
        code = campaign_lock(&c, &lock);
    if (!code)
        code = cancel_queue(&c);
    lock_free(lock);
    return code;
}

int cmd_cancel(int argc, char **argv)
{
    const struct cli_option options[] = {CLI_QUIET_ROW, {0}};
    const struct cli cli = {.verb = "cancel",
                            .arguments = "CAMPAIGN",
                            .summary = "Cancels the Slurm jobs of a campaign. Recordings are kept.",
                            .example = "gradsync cancel data/campaigns/gs-20250101T000000Z-ab12",
                            .options = options,
                            .min_args = 1,
                            .max_args = 1};
    return cli_request(&cli, argc, argv, cancel, NULL);
}
