/* SPDX-License-Identifier: Apache-2.0 */
#include "advise/advice.h"
#include "advise/proof_plan.h"
#include "base/cli.h"
#include "base/err.h"
#include "base/shell_quote.h"
#include "base/text.h"
#include "launch/run.h"
#include "trial/trial_job.h"
#include "verbs/commands.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

struct request {
    const char **set;
    const char *out;
    struct cli_int launches, minutes, blocks, steps, calls;
    bool quiet;
    char **command; /* NULL: measure the steps again */
};

/* ---- the same steps again ---- */

static int run_plan(const struct request *q, struct proof_plan *p, const char *platform)
{
    size_t first = p->overrides.n; /* of the user's */
    if (q->launches.value)
        words_addf(&p->overrides, "measure:launches=%ld", q->launches.value);
    for (size_t i = 0; q->set && q->set[i]; i++)
        words_add(&p->overrides, q->set[i]);
    const char *const *overrides = (const char *const *)p->overrides.v;
    AUTO_FREE char *again =
        shell_command("prove", platform, NULL, overrides ? overrides + first : NULL);
    struct run_options options = {
        .overrides = overrides, .data = q->out, .again = again, .quiet = q->quiet};
    return run_config_text("proof", &p->config, &options);
}

static int prove_run(const struct request *q, const struct steps_evidence *s,
                     const struct advice_run *run, size_t *plans)
{
    AUTO(proof_plan_free) struct proof_plan p = {0};
    AUTO_WORDS struct words settings = {0};
    advice_settings(&settings, s, run->shape);
    int code = proof_plan(&p, s, run, &settings, (const char *const *)q->set);
    if (!code && p.config.len) {
        ++*plans;
        code = run_plan(q, &p, s->shapes[run->shape].platform);
    }
    return code;
}

/* Without a step to replay: how the advised settings are measured again. */
static void say_nothing(const struct steps_evidence *s)
{
    bool any = false;
    for (size_t i = 0; i < s->n_shapes; i++) {
        struct candidate c;
        if (!advice_find(s, i, &c))
            continue;
        any = true;
        if (c.best->level == LEVEL_TRAINING)
            say("prove: %s was shown in a training; measure it again: gradsync train CONFIG",
                c.best->c->config);
        else
            say("prove: %s was shown in a trial; measure it again: gradsync prove %s -- COMMAND",
                c.best->c->config, s->shapes[i].platform);
    }
    if (!any)
        say("prove: nothing to repeat: no setting is advised on %s (see gradsync advise)",
            s->platforms);
}

static int prove_steps(const struct request *q, const struct steps_evidence *s, size_t *plans)
{
    int code = GS_OK;
    for (size_t i = 0; i < s->n_runs && !code; i++)
        if (level_of(s->runs[i].machine.facts[FACT_WORKLOAD], "overlapped", "") < LEVEL_TRIAL)
            code = prove_run(q, s, &s->runs[i], plans);
    if (!code && !*plans)
        say_nothing(s);
    return code;
}

/* ---- inside a job ---- */

static bool can_switch(const struct steps_evidence *s, const char *config)
{
    struct setting setting;
    struct candidate c = candidate_of(s, 0, config);
    return setting_of(&setting, c.best->c) && setting_is_tunable(&setting, c.best->c);
}

static int prove_in_job(const struct request *q, const struct steps_evidence *s)
{
    struct candidate best;
    AUTO_WORDS struct words settings = {0};
    AUTO_TEXT struct text arms = {0};
    if (s->n_shapes > 1)
        return fail(GS_USAGE, "prove: a job needs the advice of one run, or of one platform with "
                              "one number of ranks: gradsync prove RUN -- COMMAND");
    if (!s->n_shapes || !advice_find(s, 0, &best))
        return say("prove: no setting is advised on %s; the job was not started", s->platforms),
               GS_OK;
    advice_settings(&settings, s, 0);
    for (size_t i = 0; i < settings.n; i++)
        if (can_switch(s, settings.v[i]))
            text_addf(&arms, "%s%s", arms.len ? "," : "", settings.v[i]);
    if (!arms.len)
        return fail(GS_USAGE,
                    "prove: a trial cannot switch %s; compare launches of the command instead: "
                    "gradsync train (docs/training.md; gradsync advise %s --emit train "
                    "begins its config)",
                    settings.v[0], s->platforms);
    const struct trial_options o = {.arms = arms.s,
                                    .platform = s->shapes[0].platform,
                                    .proof_of = best.best->c->run_id,
                                    .out = q->out,
                                    .launches.value = q->launches.value ? q->launches.value : 3,
                                    .visit_s.value = 2,
                                    .warmup.value = 20,
                                    .minutes = q->minutes,
                                    .blocks = q->blocks,
                                    .steps = q->steps,
                                    .calls = q->calls,
                                    .seed.value = (long)time(NULL)};
    return trial_job(&o, q->command);
}

/* ---- the answer ---- */

static bool is_new(const struct evidence *e, const struct steps_evidence *before)
{
    for (size_t i = 0; i < before->n_runs; i++)
        if (!strcmp(before->runs[i].machine.facts[FACT_RUN], e->c->run_id))
            return false;
    return evidence_proof(e);
}

/* From the platform's recordings, where the new runs are. */
static int answer(const struct request *q, const struct steps_evidence *before)
{
    AUTO(evidence_free) struct steps_evidence after = {0};
    AUTO_FREE char *root = xstrfmt("%s/%s", q->out, before->shapes[0].platform);
    int code = evidence_read(&after, &root, 1);
    for (size_t i = 0; i < after.n && !code; i++) {
        const struct evidence *e = &after.v[i];
        char span[64];
        if (is_new(e, before))
            printf("%s: %s, gain %s at level %s (run %s)\n", e->c->config,
                   proof_names[evidence_proof(e)],
                   evidence_has_numbers(e)
                       ? advice_span(span, sizeof span, evidence_gain_low(e), evidence_gain_high(e))
                       : "unknown",
                   level_names[e->level], e->c->run_id);
    }
    return code;
}

static int prove(void *request, char **roots, int n)
{
    const struct request *q = request;
    AUTO(evidence_free) struct steps_evidence s = {0};
    size_t plans = 0;
    if (q->command && !*q->command)
        return fail(GS_USAGE, "prove: there is no command after '--'");
    int code = evidence_read(&s, roots, (size_t)n);
    if (!code)
        code = q->command ? prove_in_job(q, &s) : prove_steps(q, &s, &plans);
    if (!code && !q->quiet && s.n_shapes && (q->command || plans))
        code = answer(q, &s);
    return code;
}

/* Cuts argv at "--"; the command is behind it. */
static char **take_command(int *argc, char **argv)
{
    for (int i = 1; i < *argc; i++)
        if (!strcmp(argv[i], "--")) {
            *argc = i;
            return argv + i + 1;
        }
    return NULL;
}

int cmd_prove(int argc, char **argv)
{
    struct request q = {.out = RUN_DATA,
                        .launches = {0, 1, 99},
                        .minutes = {10, 0, 1000000},
                        .blocks = {0, 0, 1000000},
                        .steps = {0, 0, 256},
                        .calls = {0, 0, 32768}};
    const struct cli_option options[] = {
        {"set", 's', CLI_LIST, &q.set, "SECTION:KEY=VALUE",
         "override a key of the recorded config, such as measure:budget=20s; may be repeated"},
        {"launches", 'l', CLI_INT, &q.launches, "N",
         "number of launches (default: as many as the run has; 3 with COMMAND)"},
        {"minutes", 'm', CLI_INT, &q.minutes, "N",
         "time limit of the trial inside COMMAND; 0: no limit (default 10)"},
        {"blocks", 'b', CLI_INT, &q.blocks, "N",
         "with COMMAND: end the trial after N blocks; 0: no limit (default 0)"},
        {"steps", 0, CLI_INT, &q.steps, "N",
         "with COMMAND: steps that a setting runs before the next one; 0: for 2 s (default 0)"},
        {"calls", 0, CLI_INT, &q.calls, "N",
         "with COMMAND: collectives per step; 0: detect from their sequence (default 0)"},
        {"output", 'o', CLI_TEXT, &q.out, "RAW", "folder for the recordings (default data/raw)"},
        {"quiet", 'q', CLI_QUIET, &q.quiet, NULL, "print errors only"},
        {0}};
    const struct cli cli = {
        .verb = "prove",
        .arguments = "PLATFORM | RUN [-- COMMAND...]",
        .summary =
            "Tests the settings that 'advise' recommends on new data: measures them again beside "
            "auto, in the same steps or inside a training job. Afterwards, 'advise' prints whether "
            "the gain was kept.",
        .example = "gradsync prove h200-4gpu",
        .options = options,
        .min_args = 1,
        .max_args = 1};
    q.command = take_command(&argc, argv);
    return cli_request(&cli, argc, argv, prove, &q);
}
