/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads any bytes as the logs of a trial's ranks, judges the trial and writes its recording.
 */
#include "bundle.h"
#include "job/job_recording.h"
#include "job/trial_result.h"

static void judge(const struct trial_comm *c, const char *dir)
{
    char name[] = "job", *command[] = {name, NULL};
    struct trial_verdict *v = NULL;
    trial_verdicts(&v, c, 20);
    free(v);
    const struct job_source s = {"p", dir, command, c->ranks, c->nodes, 1, 1};
    bundle_reported(job_recording_trial(c, &s, NULL, true));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct trial_ranks r;
    const char *dir = bundle_open(data, n);
    char *run = xstrfmt("%s/run", dir);
    mkdir(run, 0700);
    int code = trial_ranks_read(&r, dir);
    bundle_reported(code);
    if (!code) {
        const struct trial_comm *lead = trial_ranks_lead(&r);
        if (lead)
            judge(lead, run);
        else
            free(trial_result_why(&r, 0, false));
        trial_ranks_free(&r);
    }
    free(run);
    bundle_close();
    return 0;
}
