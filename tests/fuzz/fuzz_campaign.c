/* SPDX-License-Identifier: Apache-2.0
 *
 * Any bytes as the run folders of a campaign and their ledgers jobs.jsonl: what `submit` and `status`
 * read.
 */
#include "bundle.h"
#include "cluster/campaign.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    const char *dir = bundle_open(data, n);
    struct campaign c = {0};
    int code = campaign_read(&c, dir, false);
    bundle_reported(code);
    for (size_t i = 0; i < c.n && !code; i++)
        if (!c.runs[i].n_tasks || c.runs[i].n_missing > c.runs[i].n_tasks)
            abort();
    campaign_free(&c);
    bundle_close();
    return 0;
}
