/* SPDX-License-Identifier: Apache-2.0
 *
 * Any bytes as the log of a training, after a first line that is the pattern of `watch` (empty: the
 * known formats).
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

/* regcomp copies a repeated expression, so nested repetitions such as (((a{99}){99}){99}) need more
 * memory than there is. */
static bool affordable(const char *pattern)
{
    size_t repetitions = 0;
    for (; *pattern; pattern++)
        repetitions += strchr("+*?{", *pattern) != NULL;
    return repetitions <= 8;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    bundle_open(NULL, 0);
    char *text = xcalloc(n + 2, 1);
    if (n)
        memcpy(text, data, n);
    char *log = strchrnul(text, '\n');
    bool pattern = *log && log > text;
    if (*log)
        *log++ = '\0';
    struct watch_options o = {.expected_rate = 1e5, .threshold = 8e4, .window = 5, .warmup = 2};
    o.pattern = pattern && log - text < 80 && affordable(text) ? text : NULL;
    struct watch *w = watch_new(&o);
    if (w)
        read_log(w, log);
    else
        bundle_reported(1);
    watch_free(w);
    free(text);
    bundle_close();
    return 0;
}
