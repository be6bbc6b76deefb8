/* SPDX-License-Identifier: Apache-2.0
 *
 * Any bytes as the tables of data/csv: what `transitions`, `limits` and `compare --again` read.
 */
#include "bundle.h"
#include "curves/transitions.h"
#include "limits/audit.h"
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

static void transitions(const char *dir)
{
    struct store s = {0};
    int code = store_open_table(&s, dir, "launches", curves_reads);
    bundle_reported(code);
    if (!code)
        code = transitions_make(&s);
    if (!code && transitions_print(&s, NULL, true, NULL))
        abort();
    store_close(&s);
}

static void limits(const char *dir)
{
    static const char *const none[] = {NULL};
    struct store s = {0};
    bool any;
    int code = store_open_table(&s, dir, "summary", limits_reads);
    bundle_reported(code);
    if (!code && (limits_check(&s, none, 0) || limits_print(&s, NULL) || limits_say(&s, &any)))
        abort();
    store_close(&s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    const char *dir = bundle_open(data, n);
    transitions(dir);
    limits(dir);
    again(dir);
    bundle_close();
    return 0;
}
