/* SPDX-License-Identifier: Apache-2.0
 *
 * Any bytes as the tables of data/csv: what `compare --again` reads.
 */
#include "bundle.h"
#include "store/contrasts.h"

static void again(const char *dir)
{
    struct store s = {0};
    bool any;
    size_t single;
    char *path = xstrfmt("%s/compare.csv", dir);
    int code = again_open(&s, path, NULL, 0);
    bundle_reported(code);
    if (!code) {
        code = again_make(&s, dir, &any, &single);
        bundle_reported(code);
    }
    if (!code && again_print(&s))
        abort();
    store_close(&s);
    free(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    const char *dir = bundle_open(data, n);
    again(dir);
    bundle_close();
    return 0;
}
