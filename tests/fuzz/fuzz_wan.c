/* SPDX-License-Identifier: Apache-2.0
 *
 * Any bytes as a config of sites, their links and a training between them: what `model` and `lab` read,
 * and what follows from it.
 */
#include "bundle.h"
#include "config/config.h"
#include "lab/probe.h"
#include "lab/spec.h"
#include "wan/wan_report.h"

static void model(const struct config *c, struct wan_map *m)
{
    struct wan_training t;
    struct wan_report r = {.name = "p", .map = m, .training = &t};
    int code = wan_training_read(&t, c, m);
    bundle_reported(code);
    if (!code) {
        struct wan_finding *findings = wan_audit(c, m, &t, &r.n_findings);
        r.findings = findings;
        bundle_reported(!findings);
        if (findings)
            wan_report_print(&r);
        wan_findings_free(findings, r.n_findings);
        wan_report_plan(m, &t);
    }
}

static void lab(const struct config *c)
{
    struct lab_spec s;
    struct probe_plan p;
    int code = lab_spec_read(&s, c);
    bundle_reported(code);
    if (!code) {
        probe_plan_make(&p, &s, 0);
        probe_plan_free(&p);
    }
    lab_spec_free(&s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct config *c;
    struct wan_map m = {0};
    bundle_open(NULL, 0);
    int code = config_from_text(&c, "fuzz.ini", (const char *)data, n, NULL);
    bundle_reported(code);
    if (!code) {
        code = wan_map_read(&m, c);
        bundle_reported(code);
        if (!code && m.n <= 64)
            model(c, &m);
        wan_map_free(&m);
        lab(c);
    }
    config_free(c);
    bundle_close();
    return 0;
}
