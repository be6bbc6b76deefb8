/* SPDX-License-Identifier: Apache-2.0 */
#include "advise/emit_train.h"

#include "advise/conditions.h"
#include "advise/proof_plan.h"
#include "base/shell_quote.h"
#include "config/config.h"
#include "config/train_settings.h"

#include <stdio.h>
#include <string.h>

static void put_entry(const char *key, const char *value)
{
    const char *quote = !strpbrk(value, ";#\"'") ? "" : strchr(value, '"') ? "'" : "\"";
    printf("%s = %s%s%s\n", key, quote, value, quote);
}

/* For both sides. A value with other characters would be a list, or refused. */
static void put_conditions(const struct steps_evidence *s, const struct evidence *of,
                           const struct config *c, const char *section)
{
    AUTO_WORDS struct words w = {0};
    conditions_of_run(&w, s, of->run);
    for (size_t i = 0; i < w.n; i++) {
        char *value = strchr(w.v[i], '=') + 1;
        bool plain = *value && *value != '-' && !strpbrk(value, " \t,;#'\"\\$`&|<>(){}*?!~:");
        if (!plain) {
            printf("# Also export %s\n", SHELL_WORD(w.v[i]));
            continue;
        }
        value[-1] = '\0';
        if (!c || !config_find(c, section, w.v[i]))
            put_entry(w.v[i], value);
    }
}

static void put_zip(const struct words *names)
{
    for (size_t i = 0; names->n > 1 && i < names->n; i++)
        printf("%s%s", i ? ", " : "zip = ", names->v[i]);
    if (names->n > 1)
        printf("\n");
}

/* ---- a command to be replaced ---- */

/* Each variable is a list of two values, which advance together. */
static void put_template(const struct steps_evidence *s, const struct evidence *of,
                         const struct setting *setting)
{
    const struct shape *shape = &s->shapes[of->run->shape];
    AUTO_FREE char *line = setting_export_line(of->c);
    AUTO_WORDS struct words w = {0}, names = {0};
    bool bucket = setting->bucket_mib > 0;
    if (line)
        words_split(&w, line, ' ');
    printf("[platform]\nname = %s\n[launch]\nranks = %s\n[measure]\nlaunches = 5\n\n[train]\n"
           "# Your command goes here; it prints \"step time: 41.3 ms\" or the like for each step.\n"
           "command = torchrun --standalone --nproc-per-node {ranks} train.py%s\n",
           shape->platform, shape->ranks, bucket ? " --bucket-cap {bucket_cap}" : "");
    put_conditions(s, of, NULL, NULL);
    if (bucket) {
        printf("bucket_cap = 25, %g\n", setting->bucket_mib);
        words_add(&names, "bucket_cap");
    }
    for (size_t i = 0; i < w.n; i++) {
        char *value = strchr(w.v[i], '=');
        *value++ = '\0';
        printf("%s = unset, %s\n", w.v[i], value);
        words_add(&names, w.v[i]);
    }
    put_zip(&names);
}

/* ---- the command of a training ---- */

/* The value of the list that "KEY=VALUE KEY=VALUE" has; without one the first. */
static const char *chosen(const struct words *list, const char *text, char separator,
                          const char *key)
{
    AUTO_FREE char *all = xstrfmt("%c%s%c", separator, text, separator);
    for (size_t i = 0; i < list->n; i++) {
        AUTO_FREE char *word = xstrfmt("%c%s=%s%c", separator, key, list->v[i], separator);
        if (strstr(all, word))
            return list->v[i];
    }
    return list->v[0];
}

static bool is_own(const char *key)
{
    for (const struct wl_param *p = train_keys; p->name; p++)
        if (!strcmp(p->name, key))
            return true;
    return !strcmp(key, "zip") || !strcmp(key, "exclude");
}

/* A list keeps the values of baseline and setting. */
static void put_swept(const struct evidence *of, const struct config_entry *e, struct words *names)
{
    AUTO_WORDS struct words list = {0};
    words_split(&list, e->value, ',');
    const char *a = chosen(&list, of->c->baseline, '/', e->key),
               *b = chosen(&list, of->c->params, ' ', e->key);
    AUTO_FREE char *both = xstrfmt("%s, %s", a, b);
    put_entry(e->key, strcmp(a, b) ? both : a);
    if (strcmp(a, b) != 0)
        words_add(names, e->key);
}

static void put_section(const struct evidence *of, const struct config *c, const char *section,
                        struct words *names)
{
    const struct config_entry *axes = config_find(c, section, "axes");
    bool training = train_is_section(section);
    AUTO_WORDS struct words kept = {0};
    words_split(&kept, axes ? axes->value : "", ',');
    if (config_section(c, section))
        printf("[%s]\n", section);
    for (size_t i = 0; i < c->n; i++) {
        const struct config_entry *e = &c->entries[i];
        if (strcmp(e->section, section) != 0 || !strcmp(e->key, "zip") ||
            !strcmp(e->key, "exclude") || !strcmp(e->key, "seed") || !strcmp(e->key, "baseline") ||
            !strcmp(e->key, "proof_of"))
            continue;
        if (training && !is_own(e->key) && !words_has(&kept, e->key))
            put_swept(of, e, names);
        else
            put_entry(e->key, e->value);
    }
}

static bool put_command(const struct steps_evidence *s, const struct evidence *of)
{
    AUTO(recorded_free_of) struct recorded *r = NULL;
    AUTO(config_free_of) struct config *c = NULL;
    AUTO_WORDS struct words names = {0};
    AUTO_FREE char *section =
        xstrfmt("%s%s%s", TRAIN_WORKLOAD, *of->c->label ? " " : "", of->c->label);
    if (proof_settings(&c, &r, of->run) || !config_find(c, section, "command"))
        return false;
    printf("# The command is that of the recording: read it before you run it.\n");
    put_section(of, c, "platform", &names);
    put_section(of, c, "launch", &names);
    put_section(of, c, "measure", &names);
    put_section(of, c, section, &names);
    put_conditions(s, of, c, section);
    put_zip(&names);
    return true;
}

void emit_train(const struct steps_evidence *s, const struct evidence *of,
                const struct setting *setting)
{
    if (of->level != LEVEL_TRAINING || !put_command(s, of))
        put_template(s, of, setting);
}
