/* SPDX-License-Identifier: Apache-2.0
 *
 * Any bytes as campaign.json, its ledger jobs.jsonl and its run folders: what `status`, `resume`,
 * `cancel` and `collect` read.
 */
#include "bundle.h"
#include "cluster/campaign.h"
#include "cluster/cluster_status.h"
#include "cluster/slurm.h"

static void read_all(const struct campaign *c)
{
    struct jobs jobs;
    struct cluster_status s;
    int code = slurm_jobs_read(&jobs, c);
    bundle_reported(code);
    for (size_t t = 0; t < c->n_tasks && !code; t++)
        if (slurm_jobs_last(&jobs, c, t) < 0)
            abort();
    slurm_jobs_free(&jobs);
    bundle_reported(cluster_status_read(&s, c, false));
    cluster_status_free(&s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    const char *dir = bundle_open(data, n);
    struct campaign c = {0};
    int code = campaign_read(&c, dir);
    bundle_reported(code);
    if (!code)
        read_all(&c);
    campaign_free(&c);
    bundle_close();
    return 0;
}
