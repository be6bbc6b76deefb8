/* SPDX-License-Identifier: Apache-2.0
 *
 * Any bytes as the tables of data/csv: what `transitions`, `limits` and `compare --again` read, and
 * what they then write and read again.
 */
#include "bundle.h"
#include "compare/compare.h"
#include "compare/repeatability.h"
#include "curves/transitions.h"
#include "curves/transitions_table.h"
#include "limits/limits.h"
#include "limits/limits_table.h"

static void again(const char *dir)
{
    struct comparison c = {0};
    struct repeats r;
    char *path = xstrfmt("%s/compare.csv", dir);
    int code = comparison_read(&c, path);
    bundle_reported(code);
    if (!code) {
        repeats_find(&r, &c);
        bundle_reported(repeats_write(&r, dir));
        repeats_free(&r);
    }
    comparison_free(&c);
    free(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static const char *const none[] = {NULL};
    const char *dir = bundle_open(data, n);
    size_t counts[2][LIMITS_VERDICTS];
    bundle_reported(transitions_print(dir, NULL, true, true));
    struct words platforms = {0};
    words_add(&platforms, "p");
    bundle_reported(limits_print(dir, &platforms, true));
    again(dir);
    int code = transitions_write(dir, dir);
    bundle_reported(code);
    if (!code && transitions_print(dir, NULL, true, true))
        abort(); /* it cannot read what it wrote */
    code = limits_write(dir, dir, none, 0, counts, &platforms);
    bundle_reported(code);
    if (!code && limits_print(dir, &platforms, true))
        abort();
    words_free(&platforms);
    bundle_close();
    return 0;
}
