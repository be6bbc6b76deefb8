/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/slurm_submit.h"

#include "base/err.h"
#include "base/text.h"
#include "cluster/jobs.h"
#include "cluster/slurm.h"

#include <stdlib.h>
#include <string.h>

char *slurm_submit_indices(const struct campaign *c, size_t k, const bool *wanted)
{
    const struct camp_array *a = &c->arrays[k];
    struct text t = {0};
    for (size_t i = 0; i < a->n; i++) {
        if (wanted && !wanted[a->first + i])
            continue;
        size_t last = i;
        while (last + 1 < a->n && (!wanted || wanted[a->first + last + 1]))
            last++;
        text_addf(&t, "%s%zu", t.len ? "," : "", i + 1);
        if (last > i)
            text_addf(&t, "-%zu", last + 1);
        i = last;
    }
    if (t.len && a->throttle)
        text_addf(&t, "%%%d", a->throttle);
    return t.s;
}

int slurm_submit_tasks(const struct campaign *c, const bool *wanted)
{
    AUTO_FREE long *jobs = xcalloc(c->n_arrays + 1, sizeof *jobs);
    size_t n = 0;
    int code = GS_OK;
    for (size_t k = 0; !code && k < c->n_arrays; k++) {
        char *indices = slurm_submit_indices(c, k, wanted);
        if (!indices)
            continue;
        code = slurm_submit(c, k, indices, &jobs[n]);
        if (!code)
            code = jobs_add(c, jobs[n], k, indices);
        if (!code) {
            bool one = strspn(indices, "0123456789") == strlen(indices);
            say("%sjob %ld: task%s %s of %s", wanted ? "submitted again as " : "", jobs[n],
                one ? "" : "s", indices, c->arrays[k].script);
            n++;
        }
        free(indices);
    }
    int released = slurm_release(jobs, n);
    return code ? code : released;
}
