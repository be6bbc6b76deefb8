/* SPDX-License-Identifier: Apache-2.0 */
#include "common/host.h"

#include <stdio.h>

static int badness(enum wl_status s)
{
    static const int of[] = {
        [WL_OK] = 0, [WL_RETRY] = 1, [WL_SKIP] = 2, [WL_FAIL] = 3, [WL_LOST] = 4};
    return of[s];
}

struct outcome {
    enum wl_status status;
    char why[232];
};

/* The worst of all ranks, the first of these, and how many are not well. */
static struct outcome worst_of(const struct wl_host *host, const struct outcome *mine, int *rank,
                               int *bad)
{
    struct outcome worst = {0};
    *rank = *bad = 0;
    for (int r = 0; r < host->ranks; r++) {
        struct outcome o = *mine;
        host->bcast(host->ctx, &o, sizeof o, r);
        *bad += o.status != WL_OK;
        if (badness(o.status) > badness(worst.status)) {
            worst = o;
            *rank = r;
        }
    }
    return worst;
}

enum wl_status host_agree(const struct wl_host *host, enum wl_status status, const char *why)
{
    struct outcome mine = {.status = status};
    int rank, bad;
    if (status != WL_OK)
        snprintf(mine.why, sizeof mine.why, "%s", why);
    struct outcome worst = worst_of(host, &mine, &rank, &bad);
    if (bad == host->ranks)
        HOST_FAIL(host, "%s", worst.why);
    else if (bad)
        HOST_FAIL(host, "rank %d: %s", rank, worst.why);
    return worst.status;
}

enum wl_status host_agree_told(const struct wl_host *host, enum wl_status status, const char *what)
{
    int rank, bad;
    struct outcome worst = worst_of(host, &(struct outcome){.status = status}, &rank, &bad);
    if (bad && status == WL_OK)
        HOST_FAIL(host, "rank %d: %s failed", rank, what);
    return worst.status;
}
