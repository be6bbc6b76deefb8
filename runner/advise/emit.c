/* SPDX-License-Identifier: Apache-2.0 */
#include "advise/emit.h"

#include "advise/advice.h"
#include "advise/conditions.h"
#include "base/err.h"
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct emitted {
    const struct steps_evidence *all;
    const struct shape *shape;
    const struct evidence *of;
    struct setting setting;
};

/* ---- the environment ---- */

static void put_variables(const struct setting *s, const char *before, const char *quote)
{
    if (*s->algorithm)
        printf("%sNCCL_ALGO=%s%s%s\n", before, quote, s->algorithm, quote);
    if (*s->protocol)
        printf("%sNCCL_PROTO=%s\n", before, s->protocol);
    if (s->ctas)
        printf("%sNCCL_MIN_CTAS=%d\n%sNCCL_MAX_CTAS=%d\n", before, s->ctas, before, s->ctas);
    AUTO_WORDS struct words w = {0};
    words_split(&w, s->variables, ' ');
    for (size_t i = 0; i < w.n; i++)
        if (*w.v[i])
            printf("%s%s\n", before, w.v[i]);
}

static void put_env(const struct emitted *e)
{
    put_variables(&e->setting, "", "");
}

static void put_sbatch(const struct emitted *e)
{
    put_variables(&e->setting, "export ", "'");
}

/* ---- communicators ---- */

static void put_python_variables(const struct emitted *e)
{
    AUTO_FREE char *line = setting_export_line(e->of->c);
    const struct setting *s = &e->setting;
    if (line && (*s->algorithm || *s->protocol || *s->variables))
        printf("# In the environment, since a process group has no option for all of it: %s\n",
               line);
}

static void put_pytorch(const struct emitted *e)
{
    const struct setting *s = &e->setting;
    put_python_variables(e);
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
    {"env", put_env, "for docker --env-file, or 'set -a; . FILE'"},
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
    return fail(GS_USAGE,
                "advise: no form '%s'%s; choose env, pytorch or sbatch", name, DID_YOU_MEAN(near));
}

static const char *fact(const struct evidence *e, enum machine_fact f)
{
    return e->run->machine.facts[f] ? e->run->machine.facts[f] : "not recorded";
}

static void put_origin(const struct emitted *e, const struct candidate *c, const struct form *form)
{
    char span[64];
    AUTO_FREE char *conditions = conditions_sentence(e->all, e->of->run->shape, e->of->c->config);
    printf("# %s: %s shorter steps, level of evidence: %s, %zu of %zu steps faster, none slower.\n"
           "# Run %s; NCCL %s; GPU %s; %s. Holds for this number of ranks and "
           "nodes.\n"
           "%s%s%s# %s\n",
           e->of->c->config, advice_span(span, sizeof span, c->low, c->high),
           level_names[e->of->level], c->wins, c->steps, e->of->c->run_id,
           fact(e->of, FACT_NCCL),
           fact(e->of, FACT_GPU), RANKS_ON(atoll(e->shape->ranks), atoll(e->shape->nodes)),
           *conditions ? "# " : "", conditions, *conditions ? "\n" : "", form->use);
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
    AUTO_WORDS struct words parts = {0};
    words_split(&parts, e->setting.rest, '/');
    for (size_t i = 0; i < parts.n && *e->setting.rest; i++) {
        const char *how = e->of->level < LEVEL_TRIAL ? program_setting(parts.v[i]) : NULL;
        if (how)
            printf("# Set in the program, for %s: %s.\n", parts.v[i], how);
        else
            printf("# Also set %s, in the communicator's config or the command.\n", parts.v[i]);
    }
}

/* What the form has no place for. */
static void put_rest(const struct emitted *e, const struct form *form)
{
    const struct setting *s = &e->setting;
    put_parts(e);
    if (s->bucket_mib > 0 && form->put != put_pytorch)
        printf("# Also set DDP's bucket_cap_mb=%g.\n", s->bucket_mib);
}

static void put_shape(const struct steps_evidence *s, size_t shape, const struct form *form)
{
    struct candidate c;
    struct emitted e = {.all = s, .shape = &s->shapes[shape]};
    bool advised = advice_find(s, shape, &c);
    e.of = c.best;
    if (!advised)
        printf("# Nothing to set on %s with %s: no setting is advised.\n", e.shape->platform,
               RANKS_ON(atoll(e.shape->ranks), atoll(e.shape->nodes)));
    else if (!setting_of(&e.setting, c.best->c))
        printf("# %s is advised on %s, but is not a setting of NCCL.\n", c.best->c->config,
               e.shape->platform);
    else {
        put_origin(&e, &c, form);
        form->put(&e);
        put_rest(&e, form);
    }
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
        printf("# Nothing to set: no steps were measured on %s.\n", s->platforms);
    for (size_t i = 0; i < s->n_shapes; i++)
        put_shape(s, i, find_form(name));
    return GS_OK;
}
