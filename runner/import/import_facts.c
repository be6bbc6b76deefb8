/* SPDX-License-Identifier: Apache-2.0 */
#include "import/import_facts.h"

#include "base/err.h"
#include "base/jsontext.h"
#include "base/sha256.h"
#include "base/text.h"
#include "base/units.h"
#include "config/train_settings.h"
#include "import/import_nccl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const fact_names[FACTS + 1] = {
    [FACT_PLATFORM] = "platform",
    [FACT_CONFIG] = "config",
    [FACT_ALGORITHM] = "algorithm",
    [FACT_PROTOCOL] = "protocol",
    [FACT_CTAS] = "ctas",
    [FACT_MEMORY] = "memory",
    [FACT_CONTENTION] = "contention",
    [FACT_MODE] = "mode",
    [FACT_SIZE] = "size",
    [FACT_RANKS] = "ranks",
    [FACT_NODES] = "nodes",
    [FACT_COLLECTIVE] = "collective",
    [FACT_UNIT] = "unit",
};

/* ---- values ---- */

static bool is_count(const char *s)
{
    int64_t v;
    return units_parse_int(s, &v) && v > 0 && v <= 1 << 20;
}

static bool is_size(const char *s)
{
    uint64_t v;
    return units_parse_size(s, &v) && v > 0 && v < (uint64_t)1 << 60;
}

static bool is_name(const char *s)
{
    for (const char *c = s; *c; c++)
        if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-+=/", *c))
            return false;
    return *s && *s != '.' && strlen(s) < IMP_WORD;
}

static bool is_folder(const char *s)
{
    return is_name(s) && !strchr(s, '/');
}

static bool is_unit(const char *s)
{
    return !strcmp(s, train_units[TRAIN_S]) || !strcmp(s, train_units[TRAIN_MS]) ||
           !strcmp(s, train_units[TRAIN_US]);
}

static bool is_collective(const char *s)
{
    return nccl_program_named(s);
}

static const struct {
    bool (*is)(const char *);
    const char *allowed;
} values[FACTS] = {
    [FACT_PLATFORM] = {is_folder, "a name of letters, digits, '.', '_', '-'"},
    [FACT_CONFIG] = {is_name, "a label, e.g. ring/LL128"},
    [FACT_ALGORITHM] = {is_name, "a name, e.g. ring"},
    [FACT_PROTOCOL] = {is_name, "a name, e.g. LL128"},
    [FACT_CTAS] = {is_count, "a number, at least 1, e.g. 8"},
    [FACT_MEMORY] = {is_name, "a name, e.g. registered"},
    [FACT_CONTENTION] = {is_name, "a name, e.g. low"},
    [FACT_MODE] = {is_name, "a name, e.g. overlapped"},
    [FACT_SIZE] = {is_size, "a size, e.g. 4MiB"},
    [FACT_RANKS] = {is_count, "a number, at least 1, e.g. 8"},
    [FACT_NODES] = {is_count, "a number, at least 1, e.g. 2"},
    [FACT_COLLECTIVE] = {is_collective, "a collective: allreduce, allgather, reducescatter, "
                                        "alltoall, broadcast, reduce, sendrecv, gather, "
                                        "scatter or hypercube"},
    [FACT_UNIT] = {is_unit, "s, ms or us"},
};

int facts_set(struct facts *f, const char *key, size_t n, const char *value, size_t value_n)
{
    char word[IMP_WORD];
    snprintf(word, sizeof word, "%.*s", (int)(n < sizeof word ? n : sizeof word - 1), key);
    for (size_t i = 0; i < FACTS; i++) {
        if (strcmp(fact_names[i], word))
            continue;
        if (f->value[i])
            return fail(GS_USAGE, "import: '%s' is given twice", word);
        char *v = xstrfmt("%.*s", (int)value_n, value);
        if (!values[i].is(v)) {
            int code = fail(GS_USAGE, "import: %s='%s': must be %s", word, v, values[i].allowed);
            free(v);
            return code;
        }
        f->value[i] = v;
        return GS_OK;
    }
    const char *near = text_nearest(word, fact_names, FACTS);
    return fail(GS_USAGE,
                "import: no key is called '%s'%s; the keys are platform, config, algorithm, "
                "protocol, ctas, memory, contention, mode, size, ranks, nodes, collective and unit",
                word, DID_YOU_MEAN(near));
}

int facts_set_word(struct facts *f, const char *word)
{
    const char *equals = strchr(word, '=');
    if (!equals)
        return fail(GS_USAGE, "import: --set '%s': must be KEY=VALUE", word);
    return facts_set(f, word, (size_t)(equals - word), equals + 1, strlen(equals + 1));
}

void facts_copy(struct facts *to, const struct facts *from)
{
    for (size_t i = 0; i < FACTS; i++)
        to->value[i] = from->value[i] ? xstrdup(from->value[i]) : NULL;
}

void facts_free(struct facts *f)
{
    for (size_t i = 0; i < FACTS; i++)
        free(f->value[i]);
    *f = (struct facts){0};
}

/* ---- configs ---- */

static const struct {
    const char *said, *name;
    enum fact of;
} words[] = {
    {"ring", "ring", FACT_ALGORITHM},
    {"tree", "tree", FACT_ALGORITHM},
    {"collnet-direct", "collnet-direct", FACT_ALGORITHM},
    {"collnetdirect", "collnet-direct", FACT_ALGORITHM},
    {"collnet-chain", "collnet-chain", FACT_ALGORITHM},
    {"collnetchain", "collnet-chain", FACT_ALGORITHM},
    {"nvls", "nvls", FACT_ALGORITHM},
    {"nvls-tree", "nvls-tree", FACT_ALGORITHM},
    {"nvlstree", "nvls-tree", FACT_ALGORITHM},
    {"pat", "pat", FACT_ALGORITHM},
    {"ll", "LL", FACT_PROTOCOL},
    {"ll128", "LL128", FACT_PROTOCOL},
    {"simple", "Simple", FACT_PROTOCOL},
    {"auto", "auto", FACT_CONFIG},
};

/* Which fact the word is a value of; FACTS: unknown. */
static enum fact known(const char *s, size_t n, const char **name)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i].said) == n && !strncasecmp(words[i].said, s, n)) {
            *name = words[i].name;
            return words[i].of;
        }
    return FACTS;
}

/* Two sources of one fact must agree. */
static int agree(struct facts *f, enum fact of, const char *value, const char *path)
{
    const char *name = value;
    known(value, strlen(value), &name);
    const char *mine = f->value[of];
    if (mine)
        known(mine, strlen(mine), &mine);
    if (mine && strcmp(mine, name))
        return fail_at(GS_USAGE, path, 0, "two values of %s: %s and %s", fact_names[of], mine,
                       name);
    char *copy = xstrdup(name);
    free(f->value[of]);
    f->value[of] = copy;
    return GS_OK;
}

/* "auto_ll128" is made of known words; "nightly" is not, and is kept unchanged. */
static bool made_of_words(const char *config)
{
    for (const char *s = config; *s; s += strcspn(s, "_/"), s += *s != '\0') {
        const char *name;
        if (known(s, strcspn(s, "_/"), &name) == FACTS)
            return false;
    }
    return true;
}

static int take_config(struct facts *f, const char *config, const char *path)
{
    int code = GS_OK;
    for (const char *s = config; *s && !code; s += strcspn(s, "_/"), s += *s != '\0') {
        const char *name = s;
        enum fact of = known(s, strcspn(s, "_/"), &name);
        if (of != FACT_CONFIG)
            code = agree(f, of, name, path);
    }
    return code;
}

static void add_part(struct text *t, const char *key, const char *value)
{
    if (value && strcmp(value, "auto"))
        text_addf(t, "%s%s%s%s", t->len ? "/" : "", key, *key ? "=" : "", value);
}

static const struct {
    const char *name;
    enum fact fact;
} of_facts[] = {{"NCCL_ALGO", FACT_ALGORITHM}, {"NCCL_PROTO", FACT_PROTOCOL}};

bool facts_has(const char *setting)
{
    for (size_t i = 0; i < sizeof of_facts / sizeof *of_facts; i++)
        if (!strcmp(of_facts[i].name, setting))
            return true;
    return false;
}

#define PART_MAX 40 /* bytes of a value in a label; a hash tells longer ones apart */

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Settings that no fact has, by their names: "NCCL_NVLS_ENABLE=0". */
static void add_settings(struct text *t, json_t *settings)
{
    size_t n = 0;
    const char *key;
    json_t *v;
    AUTO_FREE const char **names = xcalloc(json_object_size(settings) + 1, sizeof *names);
    json_object_foreach(settings, key, v) if (!facts_has(key)) names[n++] = key;
    qsort(names, n, sizeof *names, by_name);
    for (size_t i = 0; i < n; i++) {
        char hex[65] = "";
        const char *value = json_text_of(settings, names[i]);
        if (strlen(value) > PART_MAX)
            sha256_hex(value, strlen(value), hex);
        text_addf(t, "%s%s=%.*s%s%.6s", t->len ? "/" : "", names[i], PART_MAX, value,
                  *hex ? "~" : "", hex);
    }
}

int facts_config(struct facts *f, const struct imp_test *t, const char *path, char **label)
{
    const char *config = f->value[FACT_CONFIG];
    bool words_alone = config && made_of_words(config);
    int code = words_alone ? take_config(f, config, path) : GS_OK;
    for (size_t i = 0; i < sizeof of_facts / sizeof *of_facts && !code; i++) {
        const char *value = json_text_of(t->settings, of_facts[i].name);
        if (*value)
            code = agree(f, of_facts[i].fact, value, path);
    }
    if (code)
        return code;
    struct text s = {0};
    text_add(&s, "");
    if (config && !words_alone)
        add_part(&s, "", config);
    add_part(&s, "", f->value[FACT_ALGORITHM]);
    add_part(&s, "", f->value[FACT_PROTOCOL]);
    add_part(&s, "ctas", f->value[FACT_CTAS]);
    add_part(&s, "", f->value[FACT_MEMORY]);
    add_settings(&s, t->settings);
    if (!s.len)
        text_add(&s, config || f->value[FACT_ALGORITHM] || f->value[FACT_PROTOCOL] ? "auto"
                                                                                   : "unstated");
    *label = s.s;
    return GS_OK;
}
