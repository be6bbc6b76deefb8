/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cli.h"
#include "base/err.h"
#include "base/text.h"
#include "config/config.h"
#include "config/settings.h"
#include "verbs/commands.h"
#include "wan/wan_report.h"

struct request {
    const char **set;
    const char *csv, *claims;
    bool quiet, plan;
};

static int answer(const struct request *q, const struct wan_report *r)
{
    if (!q->quiet)
        wan_report_print(r);
    int code = q->csv ? wan_report_csv(r, q->csv) : GS_OK;
    return !code && q->claims ? wan_report_claims_csv(r, q->claims) : code;
}

static int plan(const struct request *q, struct wan_map *m, const struct wan_training *t,
                const struct config *c)
{
    struct wan_choice choice;
    if (m->n < 2)
        return fail_at(GS_USAGE, c->path, 0, "[sites] has one site; a plan is for two or more");
    wan_choice_make(&choice, m, t);
    if (!q->quiet)
        wan_choice_print(&choice);
    return GS_OK;
}

static int model_training(const struct request *q, const struct config *c, const char *name,
                          struct wan_map *m)
{
    struct wan_training t;
    struct wan_report r = {.name = name, .map = m, .training = &t};
    int code = wan_training_read(&t, c, m);
    if (!code && q->plan)
        return plan(q, m, &t, c);
    AUTO_FREE struct wan_alternative *alternatives = wan_alternatives_read(c, &r.n_alternatives);
    struct wan_finding *findings =
        code || !alternatives ? NULL : wan_audit(c, m, &t, &r.n_findings);
    r.alternatives = alternatives;
    r.findings = findings;
    code = findings ? answer(q, &r) : GS_USAGE;
    wan_findings_free(findings, r.n_findings);
    return code;
}

static int model(void *request, char **words, int n)
{
    (void)n;
    const struct request *q = request;
    const char *path = words[0];
    if (q->plan && (q->csv || q->claims))
        return fail(GS_USAGE, "model: --plan writes no CSV; leave out --%s or --plan",
                    q->csv ? "csv" : "claims");
    AUTO(config_free_of) struct config *c = NULL;
    struct settings set;
    AUTO(wan_map_free) struct wan_map m = {0};
    int code = config_load(&c, path, q->set);
    if (code)
        return code;
    code = settings_read(c, &set);
    if (!code && !config_section(c, "model"))
        code = fail_at(GS_USAGE, c->path, 0, "no [model] section; add one (gradsync help model)");
    if (!code)
        code = wan_map_read(&m, c);
    if (!code) {
        wan_map_disturb(&m);
        code = model_training(q, c, set.platform.name, &m);
    }
    return code;
}

int cmd_model(int argc, char **argv)
{
    struct request q = {0};
    const struct cli_option options[] = {
        CLI_SET_ROW(&q.set),
        {"csv", 'c', CLI_TEXT, &q.csv, "FILE",
         "write the model for a range of every, bits, rates and strategies"},
        {"claims", 0, CLI_TEXT, &q.claims, "FILE",
         "write the claims and what is physically possible, as CSV"},
        {"plan", 'p', CLI_FLAG, &q.plan, NULL,
         "print which settings to choose: ring order, strategy, wire, every, NCCL, sysctl, others"},
        {"quiet", 'q', CLI_QUIET, &q.quiet, NULL, "print errors only"},
        {0}};
    const struct cli cli = {.verb = "model",
                            .arguments = "CONFIG",
                            .summary = "Computes the efficiency of a training between sites, what "
                                       "it needs, and the alternatives. Runs nothing.",
                            .example = "gradsync model wan-4site --csv model.csv",
                            .options = options,
                            .min_args = 1,
                            .max_args = 1};
    return cli_request(&cli, argc, argv, model, &q);
}
