/* SPDX-License-Identifier: Apache-2.0 */
#include "config/train_settings.h"

#include "base/err.h"
#include "base/text.h"
#include "config/params.h"

#include <regex.h>
#include <string.h>

#define LOWER "abcdefghijklmnopqrstuvwxyz"
#define UPPER "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGITS "0123456789"
#define ANY_LENGTH 1022 /* of a line of a config (config_scan.h) */

const char *const train_units[] = {
    [TRAIN_S] = "s", [TRAIN_MS] = "ms", [TRAIN_US] = "us", [TRAIN_PER_S] = "1/s", NULL};

/* clang-format off */
const struct wl_param train_keys[] = {
    {"command", WL_TEXT, WL_AXIS, 0, NULL, "", 0, ANY_LENGTH, NULL,
     "shell command to launch; {key} is replaced by the value of that key, {ranks} and {nodes} by [launch], {launch} by the number of the launch; {{ is a brace; required"},
    {"time", WL_TEXT, WL_AXIS, 0, NULL, "", 0, ANY_LENGTH, NULL,
     "regular expression (POSIX extended, any case) for a line with a step time, in a (group); empty: the formats that gradsync watch knows"},
    {"unit", WL_CHOICE, WL_AXIS, WL_FIELD(struct train_settings, unit, int), NULL, "s", 0, 0, train_units,
     "unit of the group in time; 1/s: steps per second"},
    {"file", WL_TEXT, WL_AXIS, 0, NULL, "", 0, ANY_LENGTH, NULL,
     "read the step times from the lines that the command writes to this file; may have placeholders; empty: from its output"},
    {"timeout", WL_TIME, WL_AXIS, WL_FIELD(struct train_settings, timeout, double), "s", "1h", 0.1, 30 * 86400.0, NULL,
     "time limit of one launch of the command; a launch that takes longer is ended and recorded as a hang"},
    {"axes", WL_TEXT, WL_AXIS, 0, NULL, "", 0, ANY_LENGTH, NULL,
     "keys whose values are not compared with each other, e.g. model, batch; the other lists are the configs"},
    {0}};
/* clang-format on */

bool train_is_section(const char *section)
{
    size_t n = strlen(TRAIN_WORKLOAD);
    return !strncmp(section, TRAIN_WORKLOAD, n) && (!section[n] || section[n] == ' ');
}

bool train_is_variable(const char *key)
{
    return strchr(UPPER, *key) && *key && !key[strspn(key, UPPER DIGITS "_")];
}

static int check_pattern(const struct config_entry *e)
{
    regex_t regex;
    char why[200];
    int error = regcomp(&regex, e->value, REG_EXTENDED | REG_ICASE);
    if (error) {
        regerror(error, &regex, why, sizeof why);
        return config_error(e, "'%.80s' is not a regular expression: %s", e->value, why);
    }
    size_t groups = regex.re_nsub;
    regfree(&regex);
    return groups ? GS_OK
                  : config_error(e,
                                 "'%.80s' has no group; put the number in parentheses: "
                                 "step_ms=([0-9.]+)",
                                 e->value);
}

static int read_number(struct train_settings *out, const struct config *c, const char *section,
                       const char *key)
{
    char why[512];
    const struct wl_param *p = params_find(train_keys, key);
    const struct config_entry *e = config_find(c, section, key);
    if (param_parse(p, e ? e->value : p->def, out, why, sizeof why))
        return GS_OK;
    return config_error(e, "%s", why);
}

static const struct config_entry *given(const struct config *c, const char *section,
                                        const char *key)
{
    const struct config_entry *e = config_find(c, section, key);
    return e && *e->value ? e : NULL;
}

int train_settings_read(struct train_settings *out, const struct config *c, const char *section)
{
    *out = (struct train_settings){.command = given(c, section, "command"),
                                   .time = given(c, section, "time"),
                                   .file = given(c, section, "file")};
    int code = read_number(out, c, section, "unit");
    code = err_worse(code, read_number(out, c, section, "timeout"));
    if (out->time)
        code = err_worse(code, check_pattern(out->time));
    if (!out->command)
        code = fail_at(GS_USAGE, c->path, config_section(c, section)->line,
                       "[%s] has no command; add one, e.g. command = python train.py --lr {lr}",
                       section);
    return code;
}

/* The length of "{name}" at s, 0: there is none. */
static size_t placeholder(const char *s)
{
    if (*s != '{' || !s[1] || !strchr(LOWER, s[1]))
        return 0;
    size_t n = 1 + strspn(s + 1, LOWER DIGITS "_.-");
    return s[n] == '}' ? n + 1 : 0;
}

char *train_fill(const char *text, const char *(*value_of)(void *ctx, const char *name), void *ctx)
{
    struct text t = {0};
    text_clear(&t);
    for (const char *s = text; *s;) {
        size_t n = s > text && s[-1] == '$' ? 0 : placeholder(s);
        AUTO_FREE char *name = n ? xstrfmt("%.*s", (int)n - 2, s + 1) : NULL;
        const char *value = name ? value_of(ctx, name) : NULL;
        if (!value)
            n = n ? n : 1;
        text_addn(&t, value ? value : s, value ? strlen(value) : n);
        s += !strncmp(s, "{{", 2) ? 2 : n;
    }
    return t.s;
}
