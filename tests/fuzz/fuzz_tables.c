/* SPDX-License-Identifier: Apache-2.0
 *
 * Any bytes as a table of data/csv: what `query --table` reads.
 */
#include "bundle.h"
#include "store/printer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct store s = {0};
    struct printing how = {.format = PRINT_CSV};
    char *path = xstrfmt("%s/compare.csv", bundle_open(data, n));
    int code = store_open(&s, NULL);
    if (code)
        abort();
    code = store_add_file(&s, path);
    bundle_reported(code);
    if (!code && print_query(&s, "SELECT * FROM compare", &how))
        abort();
    store_close(&s);
    free(path);
    bundle_close();
    return 0;
}
