/* SPDX-License-Identifier: Apache-2.0
 *
 * Any bytes as tune.json and the recordings beside it: what `resume` and `compare` read. `resume` never gets further, since
 * nobody began this folder.
 */
#include "bundle.h"
#include "job/tune.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    char *dir = xstrfmt("%s/p/train/r", bundle_open(data, n));
    setenv("XDG_STATE_HOME", "/proc/nowhere", 1);
    int code = tune_resume(dir, false);
    if (!code)
        abort(); /* it ran a command */
    bundle_reported(code);
    struct words runs = {0};
    int found = freopen("/dev/null", "w", stdout) ? tune_print(dir, &runs) : GS_OK;
    bundle_reported(found);
    words_free(&runs);
    bundle_close();
    free(dir);
    return 0;
}
