/* SPDX-License-Identifier: Apache-2.0
 *
 * Any bytes as paper/macros.txt, the tables that its queries read, and the figures and recordings of a
 * report: what `why`, the paper and `report` read.
 */
#include "bundle.h"
#include "publish/numbers.h"
#include "publish/page.h"

static void answer_all(const char *dir)
{
    struct numbers b;
    char *path = xstrfmt("%s/macros.txt", dir);
    int code =
        numbers_open(&b, path, (struct paper_tables){.csv = dir, .raw = dir, .configs = dir});
    bundle_reported(code);
    for (size_t i = 0; !code && i < b.d.n && i < 8; i++) {
        struct answer *a;
        bundle_reported(numbers_answer(&b, b.d.v[i].name, &a));
    }
    numbers_close(&b);
    free(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static const char *const all[] = {NULL};
    const char *dir = bundle_open(data, n);
    char *page = xstrfmt("%s/page.html", dir);
    answer_all(dir);
    bundle_reported(page_write(page, &(struct page_source){dir, dir, dir, all}));
    free(page);
    bundle_close();
    return 0;
}
