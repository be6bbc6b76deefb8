/* SPDX-License-Identifier: Apache-2.0 */
#include "job/tune_state.h"

#include "base/err.h"
#include "base/files.h"
#include "base/jsontext.h"
#include "base/text.h"
#include "config/config.h"
#include "job/tune_setting.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* "../../train/RUN"; older states have "FOLDER/train/RUN", whose last two names count. */
static bool is_run(const char *s)
{
    AUTO_FREE char *path = xstrdup(s);
    char *name = strrchr(path, '/');
    if (!*path)
        return true; /* there is none */
    if (!name || !printable_name(name + 1))
        return false;
    *name = '\0';
    const char *workload = path_name(path);
    return !strcmp(workload, "train") || !strcmp(workload, "trial");
}

static bool member_good(const struct state_member *m, const json_t *v)
{
    double number = json_number_value(v);
    switch (m->kind) {
    case STATE_REAL:
        return json_is_number(v) && number >= m->least && number <= m->most;
    case STATE_INT:
    case STATE_WIDE:
        return json_is_integer(v) && number >= m->least && number <= m->most;
    case STATE_FLAG:
        return json_is_boolean(v);
    case STATE_RUN:
        return json_is_string(v) && is_run(json_string_value(v));
    case STATE_TEXT:
        return json_is_string(v);
    }
    return false;
}

/* Each is a setting, and is there once: a setting is found by its place. */
static bool settings_good(const json_t *list, char *why, size_t n)
{
    struct tune_settings all = {0};
    json_t *setting;
    size_t i;
    bool good = !list || (json_is_array(list) && json_array_size(list) <= SETTINGS_MOST);
    if (!good)
        snprintf(why, n, "'settings' is no list of settings");
    tune_settings_add(&all, "", "");
    json_array_foreach(list, i, setting)
    {
        const char *words = json_string_value(setting);
        if (good && words)
            tune_settings_add(&all, words, "");
        if (good && all.n != i + 2) {
            snprintf(why, n, "'settings': '%.80s' is no setting, or is there twice",
                     words ? words : "");
            good = false;
        }
    }
    tune_settings_free(&all);
    return good;
}

static bool texts_good(const json_t *state, const char *key, char *why, size_t n)
{
    const json_t *list = json_object_get(state, key), *v;
    size_t i;
    bool good = !list || json_is_array(list);
    json_array_foreach(list, i, v)
    {
        good = good && json_is_string(v);
    }
    if (!good)
        snprintf(why, n, "'%s' is no list of texts", key);
    return good;
}

static bool state_good(const json_t *state, const struct state_member *members, size_t count,
                       char *why, size_t n)
{
    const json_t *settings = json_object_get(state, "settings");
    if (!texts_good(state, "command", why, n) || !texts_good(state, "changes", why, n) ||
        !settings_good(settings, why, n))
        return false;
    for (size_t i = 0; i < count; i++) {
        const json_t *v = json_object_get(state, members[i].name);
        if (v && !member_good(&members[i], v)) {
            snprintf(why, n, "'%s' is out of range, or of another type", members[i].name);
            return false;
        }
    }
    int64_t most = (int64_t)json_array_size(settings);
    if (json_integer_of(state, "winner") > most) {
        snprintf(why, n, "'winner' is none of its settings");
        return false;
    }
    if (!json_array_size(json_object_get(state, "command"))) {
        snprintf(why, n, "it has no command");
        return false;
    }
    return true;
}

/* Words of the command may hold any character, such as the line feeds of a script. */
static bool names_good(json_t *state, char *why, size_t n)
{
    json_t *command = json_incref(json_object_get(state, "command"));
    json_object_del(state, "command");
    bool good = json_names_good(state, why, n);
    json_object_set_new(state, "command", command);
    return good;
}

int tune_state_read(json_t **state, const char *path, const struct state_member *members,
                    size_t count)
{
    char why[320];
    AUTO_TEXT struct text t = {0};
    json_error_t json;
    if (!files_read(path, FILES_OWN, FILES_WHOLE_MAX, &t))
        return fail_at(GS_FAILED, path, 0, "cannot be read: %s", files_why(errno));
    *state = json_loadb(t.s ? t.s : "", t.len, JSON_REJECT_DUPLICATES, &json);
    if (!*state)
        return fail_at(GS_FAILED, path, json.line, "damaged: %s; restore the file", json.text);
    if (names_good(*state, why, sizeof why) && state_good(*state, members, count, why, sizeof why))
        return GS_OK;
    json_decref(*state);
    *state = NULL;
    return fail_at(GS_FAILED, path, 0, "damaged: %s; restore the file", why);
}
