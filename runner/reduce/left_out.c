/* SPDX-License-Identifier: Apache-2.0 */
#include "reduce/left_out.h"

#include "base/err.h"
#include "base/text.h"
#include "reduce/gather.h"

#include <stdlib.h>

static void take_out(struct disturbed_launches *to, const struct gathered *g)
{
    for (size_t i = 0; i < g->n_out && !g->too_many; i++) {
        size_t k = 0;
        while (k < to->n && to->v[k].launch != g->out[i].launch)
            k++;
        if (k == to->n)
            APPEND(to->v, to->n) =
                (struct disturbed_launch){g->out[i].launch, xstrdup(g->out[i].why)};
    }
}

int launches_out_of_run(struct disturbed_launches *out, const char *dir)
{
    AUTO(recorded_free_of) struct recorded *r = NULL;
    *out = (struct disturbed_launches){0};
    int code = recorded_read(&r, dir);
    for (size_t i = 0; !code && r && i < r->n_groups; i++) {
        struct gathered g;
        code = gather_group(r, i, &g);
        if (code)
            break;
        take_out(out, &g);
        gathered_free(r, &g);
    }
    return code;
}

static bool was_told(const struct launches_told *t, int launch)
{
    for (size_t i = 0; i < t->n; i++)
        if (t->v[i] == launch)
            return true;
    return false;
}

int launches_tell(struct launches_told *told, const char *name, const char *dir)
{
    struct disturbed_launches out;
    int code = launches_out_of_run(&out, dir);
    for (size_t i = 0; i < out.n; i++) {
        if (was_told(told, out.v[i].launch))
            continue;
        APPEND(told->v, told->n) = out.v[i].launch;
        say("%s: launch %d is left out of the statistics: %s", name, out.v[i].launch, out.v[i].why);
    }
    disturbed_launches_free(&out);
    return code;
}

int launches_more(const struct launches_told *told, int64_t n)
{
    return (int)((int64_t)told->n < n / 2 ? (int64_t)told->n : n / 2);
}
