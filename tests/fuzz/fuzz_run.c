/* SPDX-License-Identifier: Apache-2.0
 *
 * Any bytes as the files of a run folder: plan.json, config.ini, MANIFEST.json, recordings. What the
 * ledger accepts, every reader can read: nothing is found damaged later.
 */
#include "bundle.h"
#include "plan/plan.h"
#include "record/ledger.h"
#include "record/manifest.h"
#include "record/runs.h"
#include "reduce/gather.h"
#include "reduce/summary.h"

static void read_blocks(const struct recorded *r)
{
    for (size_t g = 0; g < r->n_groups; g++) {
        struct gathered out;
        gather_group(r, g, &out);
        for (size_t i = 0; i < out.n; i++)
            summary_of(r, &out.series[i]);
        gathered_free(r, &out);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    const char *dir = bundle_open(data, n);
    struct ledger *l;
    struct recorded *r;
    struct plan *p;
    bundle_reported(manifest_verify(dir));
    int code = ledger_read(&l, dir);
    bundle_reported(code);
    if (!code && l->n_cells && l->n_files)
        ledger_given_up(l, 1, l->cells[0].id, 1);
    ledger_free(l);
    int read = recorded_read(&r, dir);
    bundle_reported(read);
    if (code && !read)
        abort();
    if (!read && r)
        read_blocks(r);
    recorded_free(r);
    if (!plan_read(&p, dir))
        plan_free(p);
    runs_measured(dir);
    bundle_close();
    return 0;
}
