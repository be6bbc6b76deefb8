/* SPDX-License-Identifier: Apache-2.0
 *
 * Any bytes as a run folder of training steps: what `advise` and `compare` read and print.
 */
#include "advise/advice.h"
#include "advise/advice_print.h"
#include "bundle.h"

static void advise(char *dir)
{
    static const char *const forms[] = {"env", "pytorch", "sbatch"};
    struct steps_evidence s;
    int code = evidence_read(&s, &dir, 1);
    bundle_reported(code);
    if (!code)
        advice_print(&s);
    for (size_t i = 0; !code && i < sizeof forms / sizeof *forms; i++)
        bundle_reported(emit_print(&s, forms[i]));
    evidence_free(&s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    char *dir = xstrdup(bundle_open(data, n));
    advise(dir);
    bundle_close();
    free(dir);
    return 0;
}
