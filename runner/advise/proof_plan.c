/* SPDX-License-Identifier: Apache-2.0 */
#include "advise/proof_plan.h"

#include "base/err.h"
#include "base/shell_quote.h"
#include "config/config.h"
#include "config/params.h"
#include "plugin/plugin.h"
#include "record/recorded.h"

#include <string.h>

/* ---- a step ---- */

static bool is_of_step(const struct wl_param *params, const char *key)
{
    const struct wl_param *p = params_find(params, key);
    return p && p->role != WL_CONFIG;
}

/* "size=16MiB" becomes "size = 16MiB"; values of configs are those of `configs`. */
static void add_params(struct text *t, const char *words, const struct wl_param *params)
{
    AUTO_WORDS struct words w = {0};
    words_split(&w, words, ' ');
    for (size_t i = 0; i < w.n; i++) {
        char *value = strchr(w.v[i], '=');
        if (!value || !value[1])
            continue;
        *value++ = '\0';
        if (is_of_step(params, w.v[i]))
            text_addf(t, "%s = %s\n", w.v[i], value);
    }
}

static bool is_to_prove(const struct evidence *e, const struct evidence *of,
                        const struct words *settings)
{
    return e->run == of->run && e->counts && evidence_wins(e) && evidence_same_step(e, of) &&
           words_has(settings, e->c->config);
}

/* The settings to prove in the step of s->v[first]; none unless it is the first of them. */
static void winners(struct words *out, const struct steps_evidence *s, size_t first,
                    const struct words *settings)
{
    for (size_t i = 0; i < s->n; i++) {
        if (!is_to_prove(&s->v[i], &s->v[first], settings))
            continue;
        if (!out->n && i != first)
            return;
        words_add(out, s->v[i].c->config);
    }
}

static void add_step(struct proof_plan *p, const struct steps_evidence *s, size_t first,
                     const struct words *settings, const struct wl_param *params, int *number)
{
    AUTO_WORDS struct words configs = {0};
    winners(&configs, s, first, settings);
    if (configs.n) {
        text_addf(&p->config, "[%s proof-%d]\n", s->v[first].c->workload, ++*number);
        add_params(&p->config, s->v[first].c->params, params);
        text_addf(&p->config, "configs = %s", s->v[first].c->baseline);
        for (size_t i = 0; i < configs.n; i++)
            text_addf(&p->config, ", %s", configs.v[i]);
        text_add(&p->config, "\n\n");
    }
}

static int add_steps(struct proof_plan *p, const struct steps_evidence *s,
                     const struct advice_run *run, const struct words *settings)
{
    struct plugin *plugin;
    int number = 0, code = plugin_load(&plugin, run->machine.facts[FACT_WORKLOAD]);
    if (code)
        return code;
    for (size_t i = 0; i < s->n; i++)
        if (s->v[i].run == run)
            add_step(p, s, i, settings, plugin->wl.params, &number);
    plugin_unload(plugin);
    return GS_OK;
}

/* ---- the settings of the run ---- */

static bool is_kept(const struct config_entry *e)
{
    return (!strcmp(e->section, "platform") && strcmp(e->key, "name") != 0) ||
           !strcmp(e->section, "launch") ||
           (!strcmp(e->section, "measure") && strcmp(e->key, "seed") != 0 &&
            strcmp(e->key, "proof_of") != 0);
}

/* A recording may be another person's, and these are commands. */
static bool is_command(const struct config_entry *e)
{
    return !strcmp(e->section, "launch") && *e->value &&
           (!strcmp(e->key, "prefix") || !strcmp(e->key, "args"));
}

static bool is_given(const struct config_entry *e, const char *const *set)
{
    AUTO_FREE char *start = xstrfmt("%s:%s=", e->section, e->key);
    for (; set && *set; set++)
        if (!strncmp(*set, start, strlen(start)))
            return true;
    return false;
}

static int add_entry(struct proof_plan *p, const struct config_entry *e, const char *const *set)
{
    AUTO_FREE char *entry = xstrfmt("%s:%s=%s", e->section, e->key, e->value);
    if (is_command(e) && !is_given(e, set))
        return config_error(e,
                            "a command of a recording runs only with your consent; read it, then "
                            "give it: --set %s",
                            SHELL_WORD(entry));
    words_add(&p->overrides, entry);
    return GS_OK;
}

int proof_settings(struct config **c, struct recorded **r, const struct advice_run *run)
{
    int code = recorded_read(r, run->dir);
    AUTO_FREE char *path = xstrfmt("%s/config.ini", run->dir);
    return code ? code : config_load(c, path, (const char *const *)(*r)->overrides);
}

int proof_commands(struct words *commands, const struct advice_run *run)
{
    AUTO(recorded_free_of) struct recorded *r = NULL;
    AUTO(config_free_of) struct config *c = NULL;
    int code = proof_settings(&c, &r, run);
    for (size_t i = 0; !code && i < c->n; i++) {
        const struct config_entry *e = &c->entries[i];
        AUTO_FREE char *entry = xstrfmt("%s:%s=%s", e->section, e->key, e->value);
        if (is_command(e))
            words_add_once(commands, entry);
    }
    return code;
}

static int add_overrides(struct proof_plan *p, const struct advice_run *run, const char *const *set)
{
    AUTO(recorded_free_of) struct recorded *r = NULL;
    AUTO(config_free_of) struct config *c = NULL;
    int code = proof_settings(&c, &r, run);
    if (code)
        return code;
    for (size_t i = 0; !code && i < c->n; i++)
        if (is_kept(&c->entries[i]))
            code = add_entry(p, &c->entries[i], set);
    words_addf(&p->overrides, "platform:name=%s", r->platform);
    words_addf(&p->overrides, "measure:proof_of=%s", r->run_id);
    return code;
}

int proof_plan(struct proof_plan *p, const struct steps_evidence *s, const struct advice_run *run,
               const struct words *settings, const char *const *set)
{
    *p = (struct proof_plan){0};
    text_add(&p->config, "");
    int code = add_steps(p, s, run, settings);
    return code || !p->config.len ? code : add_overrides(p, run, set);
}

void proof_plan_free(struct proof_plan *p)
{
    text_free(&p->config);
    words_free(&p->overrides);
}
