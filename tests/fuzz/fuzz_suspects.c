/* SPDX-License-Identifier: Apache-2.0
 *
 * Any bytes as a run folder of the plugins `pairs` and `wan_links`: what `suspects` and `links` read,
 * judge and print.
 */
#include "bundle.h"
#include "reduce/links_read.h"
#include "suspects/suspects_judge.h"
#include "suspects/suspects_text.h"

static void judge(const char *dir)
{
    struct suspects_data d = {0};
    int code = suspects_data_add(&d, dir);
    bundle_reported(code);
    if (!code) {
        struct verdicts v;
        suspects_judge(&v, &d);
        const struct suspects_report r = {.d = &d, .v = &v};
        char *gauges = xstrfmt("%s/gauges", dir);
        suspects_print(&r);
        suspects_print_json(&r);
        bundle_reported(suspects_write_prometheus(&r, gauges));
        suspects_verdicts_free(&v);
        suspects_judge_since(&v, &d, &d);
        suspects_verdicts_free(&v);
        free(gauges);
    }
    suspects_data_free(&d);
}

static void measure(const char *dir)
{
    struct links l;
    int code = links_read(&l, dir);
    bundle_reported(code);
    if (!code) {
        links_print(&l);
        free(links_config_text(&l, "[sites]\nsite0 = up=1Gbit/s\n[links]\nrtt = 1ms\n", "r"));
    }
    links_free(&l);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    const char *dir = bundle_open(data, n);
    judge(dir);
    measure(dir);
    bundle_close();
    return 0;
}
