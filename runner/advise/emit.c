/* SPDX-License-Identifier: Apache-2.0 */
#include "advise/emit.h"

#include "advise/advice.h"
#include "advise/conditions.h"
#include "base/err.h"
#include "base/printable.h"
#include "base/shell_quote.h"
#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
        e->of->c->config, advice_span(span, sizeof span, c->low, c->high),
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
