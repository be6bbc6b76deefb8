/* SPDX-License-Identifier: Apache-2.0
 *
 * Any bytes as the log of a training.
 */
#include "bundle.h"
#include "wan/watch.h"

static void read_log(struct watch *w, char *log)
{
    for (char *end; *log; log = end + 1) {
        end = strchrnul(log, '\n');
        bool last = !*end;
        watch_line(w, log, (size_t)(end - log));
        if (last)
            break;
    }
    if (watch_end(w) > 1000000)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    bundle_open(NULL, 0);
    char *text = xcalloc(n + 2, 1);
    if (n)
        memcpy(text, data, n);
    struct watch_options o = {.expected_rate = 1e5, .threshold = 8e4, .window = 5, .warmup = 2};
    struct watch *w = watch_new(&o);
    read_log(w, text);
    watch_free(w);
    free(text);
    bundle_close();
    return 0;
}
