/* SPDX-License-Identifier: Apache-2.0 */
#include "common/host.h"

#include <stdio.h>

static int badness(enum wl_status s)
{
    static const int of[] = {
        [WL_OK] = 0, [WL_RETRY] = 1, [WL_SKIP] = 2, [WL_FAIL] = 3, [WL_LOST] = 4};
    return of[s];
}

enum wl_status host_agree(const struct wl_host *host, enum wl_status status, const char *why)
{
    struct outcome {
        enum wl_status status;
        char why[232];
    } mine = {.status = status}, worst = {0};
    int rank = 0, bad = 0;
    if (status != WL_OK)
        snprintf(mine.why, sizeof mine.why, "%s", why);
    for (int r = 0; r < host->ranks; r++) {
        struct outcome o = mine;
        host->bcast(host->ctx, &o, sizeof o, r);
        bad += o.status != WL_OK;
        if (badness(o.status) > badness(worst.status)) {
            worst = o;
            rank = r;
        }
    }
    if (bad == host->ranks)
        HOST_FAIL(host, "%s", worst.why);
    else if (bad)
        HOST_FAIL(host, "rank %d: %s", rank, worst.why);
    return worst.status;
}
