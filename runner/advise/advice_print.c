/* SPDX-License-Identifier: Apache-2.0 */
#include "advise/advice_print.h"

#include "advise/advice.h"
#include "base/err.h"
#include "base/shell.h"
#include "base/term.h"
#include "base/text.h"
#include "record/runs.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- conditions ----
 *
 * What was set in NCCL's environment for auto and for every setting alike. The advice holds for that
 * environment only.
 */

static bool is_name(const char *name, const char *variable)
{
    size_t n = strcspn(variable, "=");
    return strlen(name) == n && !strncmp(name, variable, n);
}

/* Does a setting of the run set the variable, or leave it out, so that it differs from auto? */
static bool is_set(const struct steps_evidence *s, const struct advice_run *run,
                   const char *variable)
{
    bool found = false;
    for (size_t i = 0; i < s->n && !found; i++) {
        AUTO(setting_free) struct setting setting = {0};
        if (s->v[i].run != run || !setting_of(&setting, s->v[i].c))
            continue;
        for (size_t k = 0; k + 1 < setting.environment.n; k += 2)
            found = found || is_name(setting.environment.v[k], variable);
        for (size_t k = 0; k < setting.unset.n; k++)
            found = found || is_name(setting.unset.v[k], variable);
    }
    return found;
}

/* Adds "NCCL_NVLS_ENABLE=0" for each variable of the run that is not part of a setting. */
static void conditions_of_run(struct words *variables, const struct steps_evidence *s,
                              const struct advice_run *run)
{
    for (size_t i = 0; i < run->machine.nccl_env.n; i++)
        if (!is_set(s, run, run->machine.nccl_env.v[i]))
            words_add(variables, run->machine.nccl_env.v[i]);
}

/* "NAME=VALUE NAME='A VALUE'", to be read; new lines and other control characters are blanks. */
static char *list_of(const struct steps_evidence *s, const struct advice_run *run)
{
    AUTO_WORDS struct words w = {0};
    struct text t = {0};
    text_add(&t, "");
    conditions_of_run(&w, s, run);
    for (size_t i = 0; i < w.n; i++) {
        text_add(&t, i ? " " : "");
        shell_quote(&t, printable_make(w.v[i], ""));
    }
    return t.s;
}

static bool is_meant(const struct evidence *e, size_t shape, const char *config)
{
    return e->counts && e->run->shape == shape &&
           (!config || (evidence_wins(e) && !strcmp(e->c->config, config)));
}

/* "Measured with NCCL_NVLS_ENABLE=0 in the environment of the ranks; without it nothing was
 * measured.": of the steps that `config` shortens, NULL: of all steps of the shape. "" if nothing was
 * set. The caller frees it. */
static char *conditions_sentence(const struct steps_evidence *s, size_t shape, const char *config)
{
    AUTO_WORDS struct words lists = {0};
    struct text t = {0};
    bool any = false;
    for (size_t i = 0; i < s->n; i++)
        if (is_meant(&s->v[i], shape, config)) {
            AUTO_FREE char *list = list_of(s, s->v[i].run);
            words_add_once(&lists, list);
            any = any || *list;
        }
    text_add(&t, "");
    for (size_t i = 0; any && i < lists.n; i++)
        text_addf(&t, "%s%s%s", i ? ", in other runs with " : "Measured with ",
                  *lists.v[i] ? lists.v[i] : "no variable of NCCL",
                  i ? "" : " in the environment of the ranks");
    if (any && lists.n == 1)
        text_addf(&t, "; without %s nothing was measured", strchr(lists.v[0], ' ') ? "them" : "it");
    text_add(&t, any ? "." : "");
    return t.s;
}

/* ---- advice print ----
 *
 * The advice in the terminal.
 */

#define ADVICE_MIN 22 /* columns of a screen for the advice */

/* "LL128" of RING/LL128 beside RING/SIMPLE. */
static const char *protocol_if_alone(const char *a, const char *b)
{
    size_t n = strcspn(b, "/");
    return b[n] && !strncmp(a, b, n + 1) ? b + n + 1 : b;
}

/* Both sides in one, with the number of CTAs: "RING/LL 24 -> 8", "RING/LL 24 -> TREE/LL 24". */
static void add_ran(struct words *cells, const char *baseline, const char *setting)
{
    char a[2][64], b[2][32];
    bool pair = sscanf(baseline, "%63[^ ,|] ctas=%31[0-9]", a[0], b[0]) == 2 &&
                sscanf(setting, "%63[^ ,|] ctas=%31[0-9]", a[1], b[1]) == 2 &&
                !strpbrk(baseline, ",|") && !strpbrk(setting, ",|");
    if (!pair)
        words_addf(cells, "%s%s%s", baseline, strcmp(baseline, setting) ? " -> " : "",
                   strcmp(baseline, setting) ? setting : "");
    else if (strcmp(a[0], a[1]) != 0)
        words_addf(cells, "%s %s -> %s %s", a[0], b[0], protocol_if_alone(a[0], a[1]), b[1]);
    else
        words_addf(cells, "%s %s%s%s", a[0], b[0], strcmp(b[0], b[1]) ? " -> " : "",
                   strcmp(b[0], b[1]) ? b[1] : "");
}

static bool one_level(const struct words *rows)
{
    for (size_t i = 2 * ADVICE_COLUMNS; i < rows->n; i += ADVICE_COLUMNS)
        if (strcmp(rows->v[i + ADVICE_LEVEL], rows->v[ADVICE_COLUMNS + ADVICE_LEVEL]))
            return false;
    return rows->n > ADVICE_COLUMNS;
}

/* Nothing does where MPI or a command of the user communicates. */
static bool any_ran(const struct words *rows)
{
    for (size_t i = ADVICE_COLUMNS; i < rows->n; i += ADVICE_COLUMNS)
        if (strcmp(rows->v[i + ADVICE_RAN_BASELINE], "-") ||
            strcmp(rows->v[i + ADVICE_RAN_SETTING], "-"))
            return true;
    return false;
}

/* The cells of the rows, with one column of what NCCL ran. Returns the number of columns. */
static size_t arrange(struct words *cells, const struct words *rows, bool level, bool ran)
{
    for (size_t i = 0; i < rows->n; i += ADVICE_COLUMNS) {
        for (size_t k = 0; k < ADVICE_RAN_BASELINE; k++)
            if (k != ADVICE_LEVEL || level)
                words_add(cells, rows->v[i + k]);
        if (ran && !i)
            words_add(cells, "NCCL ran, CTAs");
        else if (ran)
            add_ran(cells, rows->v[i + ADVICE_RAN_BASELINE], rows->v[i + ADVICE_RAN_SETTING]);
        words_add(cells, rows->v[i + ADVICE_WORDS]);
    }
    return ADVICE_COLUMNS - (level ? 1U : 2U) - (ran ? 0U : 1U);
}

/* A terminal that is too narrow does without what NCCL ran, and gets the level above the rows. */
static void print_rows(const struct words *rows)
{
    AUTO_WORDS struct words all = {0}, fewer = {0};
    size_t columns = arrange(&all, rows, true, any_ran(rows));
    bool level = !one_level(rows);
    if (!isatty(fileno(stdout)) ||
        text_table_before_last(&all, columns) + ADVICE_MIN <= screen_columns(stdout)) {
        text_table_print(&all, columns, 1, NULL);
        return;
    }
    if (!level)
        printf("level of evidence of all rows: %s\n", rows->v[ADVICE_COLUMNS + ADVICE_LEVEL]);
    text_table_print(&fewer, arrange(&fewer, rows, level, false), 1, NULL);
}

/* The winner with the largest gain that is not advised since it lengthens another step. */
static const struct evidence *find_withheld(const struct steps_evidence *s, size_t shape)
{
    struct candidate advised;
    const struct evidence *most = NULL;
    double beyond = advice_find(s, shape, &advised) ? evidence_gain_low(advised.best) : 0;
    for (size_t i = 0; i < s->n; i++) {
        const struct evidence *e = &s->v[i];
        if (e->counts && e->run->shape == shape && e->level > LEVEL_SYNTHETIC && evidence_wins(e) &&
            evidence_gain_low(e) > beyond && candidate_of(s, shape, e->c->config, false).slower) {
            beyond = evidence_gain_low(e);
            most = e;
        }
    }
    return most;
}

/* "Not advised: ctas=16, although 14.5 to 16.0% shorter in A: it is slower in B." */
static void say_withheld(const struct steps_evidence *s, size_t shape)
{
    const struct evidence *e = find_withheld(s, shape);
    char span[64];
    if (!e)
        return;
    AUTO_FREE char *in = advice_step_name(s, e),
                   *at = advice_step_name(s, candidate_of(s, shape, e->c->config, false).slower);
    AUTO_FREE char *line =
        xstrfmt("Not advised: %s, although %s shorter in %s: it is slower in %s. For such a step "
                "alone: gradsync compare %s",
                e->c->config,
                judgement_span(span, sizeof span, evidence_gain_low(e), evidence_gain_high(e)), in,
                at, e->c->platform);
    screen_say(line);
}

static void say_advice(const struct steps_evidence *s, size_t shape)
{
    AUTO_FREE char *text = advice_sentence(s, shape);
    screen_say(text);
}

static void say_conditions(const struct steps_evidence *s, size_t shape)
{
    struct candidate c;
    AUTO_FREE char *line =
        conditions_sentence(s, shape, advice_find(s, shape, &c) ? c.best->c->config : NULL);
    if (*line)
        screen_say(line);
}

static void print_commands(const struct steps_evidence *s, size_t shape)
{
    AUTO_WORDS struct words commands = {0};
    advice_commands(&commands, s, shape);
    for (size_t i = 0; i < commands.n; i++)
        printf("Next: %s\n", commands.v[i]);
}

static void print_shape(const struct steps_evidence *s, size_t shape)
{
    AUTO_WORDS struct words cells = {0};
    for (int i = 0; i < ADVICE_COLUMNS; i++)
        words_add(&cells, advice_headings[i]);
    advice_rows(&cells, s, shape);
    say_advice(s, shape);
    say_conditions(s, shape);
    say_withheld(s, shape);
    print_commands(s, shape);
    printf("\n");
    print_rows(&cells);
}

/* Those that did not replace an older, complete run of the same. */
static void say_unfinished(const struct steps_evidence *s)
{
    AUTO_WORDS struct words dirs = {0};
    for (size_t i = 0; i < s->n; i++)
        for (size_t k = 0; s->v[i].run->unfinished && k < s->n; k++)
            if (!s->v[k].run->unfinished && evidence_same_step(&s->v[i], &s->v[k]) &&
                !strcmp(s->v[i].c->config, s->v[k].c->config) &&
                strcmp(s->v[i].c->run_id, s->v[k].c->run_id) > 0)
                words_add_once(&dirs, s->v[i].run->dir);
    runs_say_unfinished("advise", &dirs);
}

/* The contrast of imported iteration times with the largest gain; NULL: there are none. */
static const struct contrast *find_imported(const struct steps_evidence *s)
{
    const struct contrast *most = NULL;
    for (size_t i = 0; i < s->comparison.n; i++) {
        const struct contrast *c = &s->comparison.v[i];
        if (evidence_is_imported(c) && (!most || c->effect.value < most->effect.value))
            most = c;
    }
    return most;
}

/* Why recordings without steps of gradsync's own lead to no advice. */
static void say_none(const struct steps_evidence *s)
{
    const struct contrast *c = find_imported(s);
    char span[64] = "";
    if (c && c->judgement.verdict == VERDICT_FASTER)
        judgement_span(span, sizeof span, -expm1(c->effect.hi), -expm1(c->effect.lo));
    AUTO_FREE char *shorter = *span ? xstrfmt("%s %s shorter than %s", c->config, span, c->baseline)
                              : c   ? xstrfmt("nothing shorter than %s", c->baseline)
                                    : NULL;
    AUTO_FREE char *line =
        c ? xstrfmt("No advice for %s: the imported iteration times show %s, but gradsync advises "
                    "only from its own recordings, whose configs share blocks or launches.",
                    s->platforms, shorter)
          : xstrfmt("No advice for %s: no training step was compared with auto there, and a "
                    "collective alone does not tell whether a step gets shorter.",
                    s->platforms);
    screen_say(line);
    printf("Next: %s\n", ADVICE_ASK_YOUR_JOB);
}

void advice_print(const struct steps_evidence *s)
{
    say_unfinished(s);
    if (!s->n)
        say_none(s);
    for (size_t i = 0; i < s->n_shapes; i++) {
        if (!advice_has_steps(s, i))
            continue;
        printf("%s", i ? "\n" : "");
        print_shape(s, i);
    }
}

/* ---- emit ---- */

struct emitted {
    const struct steps_evidence *all;
    const struct shape *shape;
    const struct evidence *of;
    struct setting setting;
};

/* Names, labels and values come from recordings, which may be another person's: a comment is one line
 * of printable characters, whatever they hold. */
__attribute__((format(printf, 1, 2))) static void put_comment(const char *fmt, ...)
{
    AUTO_FREE char *text = NULL;
    size_t n;
    va_list args;
    FILE *f = open_memstream(&text, &n);
    if (!f)
        abort();
    va_start(args, fmt);
    vfprintf(f, fmt, args);
    va_end(args);
    fclose(f);
    printf("# %s\n", printable_make(text, ""));
}

/* ---- the environment ---- */

static void put_shell(const struct setting *s, const char *command)
{
    for (size_t i = 0; i < s->unset.n; i++)
        printf("unset %s\n", s->unset.v[i]);
    for (size_t i = 0; i + 1 < s->environment.n; i += 2) {
        AUTO_TEXT struct text value = {0};
        shell_quote(&value, s->environment.v[i + 1]);
        printf("%s%s=%s\n", command, s->environment.v[i], value.s);
    }
}

static void put_env(const struct emitted *e)
{
    put_shell(&e->setting, "");
}

static void put_sbatch(const struct emitted *e)
{
    put_shell(&e->setting, "export ");
}

/* ---- Python ---- */

/* A string of Python; its source is UTF-8. */
static void python_quote(struct text *t, const char *s)
{
    text_add(t, "\"");
    for (; *s; s++)
        if ((unsigned char)*s < ' ' || *s == 0x7f)
            text_addf(t, "\\x%02x", (unsigned char)*s);
        else if (*s == '"' || *s == '\\')
            text_addf(t, "\\%c", *s);
        else
            text_addn(t, s, 1);
    text_add(t, "\"");
}

/* A process group has no option for an algorithm, a protocol or another variable. */
static bool is_option(const struct setting *s, const char *name)
{
    return s->ctas && (!strcmp(name, "NCCL_MIN_CTAS") || !strcmp(name, "NCCL_MAX_CTAS"));
}

static void put_python_variables(const struct setting *s)
{
    bool any = s->unset.n;
    for (size_t i = 0; i + 1 < s->environment.n; i += 2)
        any = any || !is_option(s, s->environment.v[i]);
    if (any)
        printf("import os\n");
    for (size_t i = 0; i < s->unset.n; i++)
        printf("os.environ.pop(\"%s\", None)\n", s->unset.v[i]);
    for (size_t i = 0; i + 1 < s->environment.n; i += 2) {
        AUTO_TEXT struct text value = {0};
        if (is_option(s, s->environment.v[i]))
            continue;
        python_quote(&value, s->environment.v[i + 1]);
        printf("os.environ[\"%s\"] = %s\n", s->environment.v[i], value.s);
    }
}

static void put_pytorch(const struct emitted *e)
{
    const struct setting *s = &e->setting;
    put_python_variables(s);
    if (s->ctas)
        printf("import torch.distributed as dist\n"
               "options = dist.ProcessGroupNCCL.Options()\n"
               "options.config.min_ctas = %d\n"
               "options.config.max_ctas = %d\n"
               "dist.init_process_group(\"nccl\", pg_options=options)\n",
               s->ctas, s->ctas);
    if (s->bucket_mib > 0)
        printf("model = torch.nn.parallel.DistributedDataParallel(model, bucket_cap_mb=%g)\n",
               s->bucket_mib);
}

/* ---- forms ---- */

static const struct form {
    const char *name;
    void (*put)(const struct emitted *e);
    const char *use;
} forms[] = {
    {"env", put_env, "for a shell: set -a; . FILE; for docker --env-file, if no value has quotes"},
    {"pytorch", put_pytorch, "FSDP2: give the options to init_device_mesh(backend_override=...)"},
    {"sbatch", put_sbatch, "for a job script, below its #SBATCH lines"},
};
#define FORMS COUNT(forms)

static const struct form *find_form(const char *name)
{
    for (size_t i = 0; i < FORMS; i++)
        if (!strcmp(forms[i].name, name))
            return &forms[i];
    return NULL;
}

int emit_known(const char *name)
{
    if (find_form(name))
        return GS_OK;
    const char *near = NEAREST(name, forms, FORMS, name);
    return fail(GS_USAGE, "advise: no form '%s'%s; choose env, pytorch or sbatch", name,
                DID_YOU_MEAN(near));
}

static const char *fact(const struct evidence *e, enum machine_fact f)
{
    return e->run->machine.facts[f] ? e->run->machine.facts[f] : "not recorded";
}

static void put_origin(const struct emitted *e, const struct candidate *c, const struct form *form)
{
    char span[64];
    AUTO_FREE char *conditions = conditions_sentence(e->all, e->of->run->shape, e->of->c->config);
    put_comment(
        "%s: %s shorter steps, level of evidence: %s, %zu of %zu steps faster, none slower.",
        e->of->c->config, judgement_span(span, sizeof span, c->low, c->high),
        level_names[e->of->level], c->wins, c->steps);
    put_comment("Run %s; NCCL %s; GPU %s; %s. Holds for this number of ranks and nodes.",
                e->of->c->run_id, fact(e->of, FACT_NCCL), fact(e->of, FACT_GPU),
                RANKS_ON(atoll(e->shape->ranks), atoll(e->shape->nodes)));
    if (*conditions)
        put_comment("%s", conditions);
    put_comment("%s", form->use);
}

/* Parts of a config of iter_proxy and nccl_allreduce, and how a program sets them. */
static const char *const program_settings[][2] = {
    {"zero", "ncclConfig_t.CTAPolicy = NCCL_CTA_POLICY_ZERO"},
    {"efficiency", "ncclConfig_t.CTAPolicy = NCCL_CTA_POLICY_EFFICIENCY"},
    {"symmetric", "buffers from ncclMemAlloc, registered by ncclCommWindowRegister with "
                  "NCCL_WIN_COLL_SYMMETRIC"},
    {"registered", "buffers from ncclMemAlloc, registered by ncclCommRegister"},
    {"ncclMemAlloc", "buffers from ncclMemAlloc"},
};

static const char *program_setting(const char *part)
{
    const char *equals = strrchr(part, '='), *value = equals ? equals + 1 : part;
    for (size_t i = 0; i < COUNT(program_settings); i++)
        if (!strcmp(value, program_settings[i][0]))
            return program_settings[i][1];
    return NULL;
}

static void put_parts(const struct emitted *e)
{
    const struct words *parts = &e->setting.rest;
    for (size_t i = 0; i < parts->n; i++) {
        const char *how = e->of->level < LEVEL_TRIAL ? program_setting(parts->v[i]) : NULL;
        if (how)
            put_comment("Set in the program, for %s: %s.", parts->v[i], how);
        else
            put_comment("Also set %s, in the communicator's config or the command.", parts->v[i]);
    }
}

/* What the form has no place for. */
static void put_rest(const struct emitted *e, const struct form *form)
{
    put_parts(e);
    if (e->setting.bucket_mib > 0 && form->put != put_pytorch)
        put_comment("Also set DDP's bucket_cap_mb=%g.", e->setting.bucket_mib);
}

static void put_shape(const struct steps_evidence *s, size_t shape, const struct form *form)
{
    struct candidate c;
    struct emitted e = {.all = s, .shape = &s->shapes[shape]};
    bool advised = advice_find(s, shape, &c);
    e.of = c.best;
    if (!advised)
        put_comment("Nothing to set on %s with %s: no setting is advised.", e.shape->platform,
                    RANKS_ON(atoll(e.shape->ranks), atoll(e.shape->nodes)));
    else if (!setting_of(&e.setting, c.best->c))
        put_comment("%s is advised on %s, but is not a setting of NCCL.", c.best->c->config,
                    e.shape->platform);
    else {
        put_origin(&e, &c, form);
        form->put(&e);
        put_rest(&e, form);
    }
    setting_free(&e.setting);
}

/* Those with steps: only they can have advice. */
static int need_one(const struct steps_evidence *s)
{
    AUTO_TEXT struct text names = {0};
    size_t n = 0;
    for (size_t i = 0; i < s->n_shapes; i++)
        if (!i || strcmp(s->shapes[i].platform, s->shapes[i - 1].platform) != 0)
            text_addf(&names, "%s%s", n++ ? ", " : "", s->shapes[i].platform);
    return n < 2 ? GS_OK
                 : fail(GS_USAGE, "advise: --emit needs one platform; with steps there are %s",
                        names.s);
}

int emit_print(const struct steps_evidence *s, const char *name)
{
    int code = need_one(s);
    if (code)
        return code;
    if (!s->n_shapes)
        put_comment("Nothing to set: no steps were measured on %s.", s->platforms);
    for (size_t i = 0; i < s->n_shapes; i++)
        put_shape(s, i, find_form(name));
    return GS_OK;
}
