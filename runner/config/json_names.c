/* SPDX-License-Identifier: Apache-2.0 */
#include "config/config.h"

#include "base/err.h"
#include "base/files.h"
#include "base/text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum kind { TEXT, NAME, LABEL, WORDS, CONFIG_FILE };

/* A negative number is a value of a parameter, but "-x" is an option to most programs. */
static bool is_value(const char *s)
{
    return printable_label(*s == '-' && s[1] >= '0' && s[1] <= '9' ? s + 1 : s);
}

static const struct {
    bool (*good)(const char *s);
    const char *rule;
} kinds[] = {[CONFIG_FILE] = {NULL, ""},
             [NAME] = {printable_name, "a name (" PRINTABLE_NAME_RULE ")"},
             [LABEL] = {is_value, "a label (" PRINTABLE_LABEL_RULE ")"},
             [WORDS] = {printable_words, "words (" PRINTABLE_LABEL_RULE ")"}};

/* Members by their key, wherever they are. A header's "config" is the text of a file. */
static const struct {
    const char *key;
    enum kind kind;
} members[] = {{"run_id", NAME}, {"platform", NAME}, {"workload", NAME}, {"cell", NAME},
               {"id", NAME},     {"group", NAME},    {"label", LABEL},   {"section", LABEL},
               {"mode", LABEL},  {"unit", LABEL},    {"params", LABEL},  {"config", LABEL}};

static enum kind kind_of(const char *key, const json_t *parent, enum kind inherited)
{
    const char *note = json_string_value(json_object_get(parent, "key"));
    if (!strcmp(key, "config") && json_object_get(parent, "config_sha256"))
        return CONFIG_FILE;
    if (!strcmp(key, "params") && json_is_string(json_object_get(parent, key)))
        return WORDS;
    if (!strcmp(key, "value") && note && !strcmp(note, "ran"))
        return LABEL;
    if (!strcmp(key, "name") && json_object_get(parent, "unit"))
        return LABEL;
    for (size_t i = 0; i < COUNT(members); i++)
        if (!strcmp(members[i].key, key))
            return members[i].kind;
    return inherited;
}

static bool text_good(const char *key, const char *s, enum kind kind, char *why, size_t n)
{
    const char *rule = "printable text: it holds a control character";
    bool good = printable(s, kind == CONFIG_FILE ? "\n\t\r" : "");
    if (good && *s && kinds[kind].good) {
        good = kinds[kind].good(s);
        rule = kinds[kind].rule;
    }
    if (!good)
        snprintf(why, n, "'%.40s' = '%.80s' is not %s", key, s, rule);
    return good;
}

static bool walk(const char *key, json_t *v, enum kind kind, char *why, size_t n)
{
    const char *name;
    json_t *child;
    size_t i;
    bool good = !json_is_string(v) || text_good(key, json_string_value(v), kind, why, n);
    json_array_foreach(v, i, child)
    {
        good = good && walk(key, child, kind, why, n);
    }
    json_object_foreach(v, name, child)
    {
        good = good && text_good("key", name, kind, why, n) &&
               walk(name, child, kind_of(name, v, kind), why, n);
    }
    return good;
}

int json_names_load(json_t **out, const char *path)
{
    AUTO_TEXT struct text t = {0};
    json_error_t json = {.line = 0};
    char why[320];
    int code = GS_OK;
    *out = NULL;
    if (files_read(path, FILES_OWN, FILES_WHOLE_MAX, &t)) {
        *out = json_loadb(t.s, t.len, JSON_REJECT_DUPLICATES, &json);
        snprintf(why, sizeof why, "%s", json.text);
        if (!*out || !json_names_good(*out, why, sizeof why))
            code = fail_at(GS_FAILED, path, *out ? 0 : json.line, "damaged: %s; restore the file",
                           why);
    } else if (errno != ENOENT && errno != ENOTDIR) {
        code = fail_at(GS_FAILED, path, 0, "cannot be read: %s", files_why(errno));
    }
    if (code) {
        json_decref(*out);
        *out = NULL;
    }
    return code;
}

bool json_names_good(json_t *document, char *why, size_t n)
{
    return walk("", document, TEXT, why, n);
}

bool json_names_simple(const char *key, const char *s)
{
    for (size_t i = 0; i < COUNT(members); i++)
        if (members[i].kind == NAME && !strcmp(members[i].key, key))
            return printable_name(s);
    return printable_label(s);
}
