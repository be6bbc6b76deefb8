/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/config.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct key {
    const char *name;
    size_t offset;
    uint64_t fallback, most;
} keys[] = {
#define KEY(name, fallback, most)                                                                  \
    {                                                                                              \
#name, offsetof(struct engine_config, name), fallback, most                                \
    }
    KEY(seed, 1, UINT64_MAX), KEY(visit_ms, 500, 3600000),     KEY(seconds, 0, 60000000),
    KEY(calls, 0, 32768),     KEY(bytes_least, 0, UINT64_MAX), KEY(bytes_most, 0, UINT64_MAX),
    KEY(wait_s, 30, 100000),  KEY(margin_MiB, 2048, 1 << 24),  KEY(later, 0, 1),
    KEY(keep, 0, 1),          KEY(percent, 100, 100),
};
#define COUNT(a) (sizeof(a) / sizeof *(a))

static const char *const parts[ENGINE_PARTS] = {"all", "half", "one", "none"};

const char *engine_part_name(enum engine_part part)
{
    return parts[part];
}

/* Without the white space at both ends; in place. */
static char *trim(char *s)
{
    while (isspace((unsigned char)*s))
        s++;
    for (char *end = s + strlen(s); end > s && isspace((unsigned char)end[-1]);)
        *--end = '\0';
    return s;
}

static bool add_text(char ***list, size_t *n, const char *text)
{
    char **more = realloc(*list, (*n + 1) * sizeof **list);
    if (more)
        *list = more;
    char *own = more ? strdup(text) : NULL;
    if (own)
        more[(*n)++] = own;
    return own;
}

/* A line that begins an arm, or of the latest one. */
static bool arm_line(struct engine_config *c, const char *word, char *rest)
{
    struct engine_arm *arm = c->n_arms ? &c->arms[c->n_arms - 1] : NULL;
    if (!strcmp(word, "arm")) {
        if (c->n_arms == ENGINE_ARMS || !*rest || strlen(rest) >= ENGINE_ID ||
            rest[strspn(rest, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_")])
            return false;
        for (size_t i = 0; i < c->n_arms; i++)
            if (!strcmp(c->arms[i].id, rest))
                return false;
        arm = &c->arms[c->n_arms++];
        strcpy(arm->id, rest);
        return true;
    }
    if (!arm)
        return false;
    if (!strcmp(word, "part")) {
        arm->part = ENGINE_PARTS - 1;
        while (arm->part && strcmp(rest, parts[arm->part]))
            arm->part--;
        return arm->part != PART_ALL;
    }
    if (!strcmp(word, "copy")) {
        arm->copy = true;
        arm->library = *rest ? strdup(rest) : NULL;
        return !*rest || arm->library;
    }
    if (!strcmp(word, "without"))
        return *rest && !strchr(rest, '=') && add_text(&arm->without, &arm->n_without, rest);
    if (strchr(rest, '=') <= rest) /* none, or no name before it */
        return false;
    if (!strcmp(word, "set"))
        return add_text(&arm->set, &arm->n_set, rest);
    return !strcmp(word, "mpi") && add_text(&arm->mpi, &arm->n_mpi, rest);
}

static bool key_line(struct engine_config *c, const char *key, const char *value)
{
    if (!strcmp(key, "out")) {
        free(c->out);
        c->out = strdup(value);
        return *value == '/' && c->out;
    }
    for (size_t i = 0; i < COUNT(keys); i++)
        if (!strcmp(key, keys[i].name)) {
            char *end;
            errno = 0;
            unsigned long long v = strtoull(value, &end, 10);
            *(uint64_t *)((char *)c + keys[i].offset) = v;
            return isdigit((unsigned char)*value) && !*end && !errno && v <= keys[i].most;
        }
    return false;
}

static bool take_line(struct engine_config *c, char *text, bool arms_only)
{
    char *line = trim(text);
    size_t word = strcspn(line, " \t=");
    if (!*line || *line == '#')
        return true;
    char *rest = line + word + strspn(line + word, " \t");
    bool key = *rest == '=';
    if (key && arms_only)
        return false;
    if (key)
        rest = trim(rest + 1);
    line[word] = '\0';
    return key ? key_line(c, line, rest) : arm_line(c, line, rest);
}

static bool read_lines(struct engine_config *c, const char *path, bool arms_only, char *why,
                       size_t n)
{
    char *line = NULL;
    size_t cap = 0, at = 0;
    bool good = true;
    FILE *f = fopen(path, "re");
    if (!f) {
        snprintf(why, n, "%s: cannot be read: %s", path, strerror(errno));
        return false;
    }
    while (good && getline(&line, &cap, f) >= 0) {
        at++;
        good = take_line(c, line, arms_only);
    }
    if (!good)
        snprintf(why, n, "%s:%zu: unknown key, or invalid value", path, at);
    fclose(f);
    free(line);
    return good;
}

static bool check_arms(const struct engine_config *c, const char *path, char *why, size_t n)
{
    const struct engine_arm *first = &c->arms[0];
    if (c->n_arms && (strcmp(first->id, "auto") || first->part || first->copy || first->n_mpi)) {
        snprintf(why, n, "%s: the first arm must be 'auto', which changes nothing", path);
        return false;
    }
    for (size_t i = 0; i < c->n_arms && c->keep; i++)
        if (c->arms[i].part) {
            snprintf(why, n, "%s: arm '%s' makes results worthless, so it cannot be kept", path,
                     c->arms[i].id);
            return false;
        }
    return true;
}

struct engine_config *engine_config_read(const char *path, char *why, size_t n)
{
    struct engine_config *c = calloc(1, sizeof *c);
    snprintf(why, n, "%s: no memory", path);
    if (!c)
        return NULL;
    for (size_t i = 0; i < COUNT(keys); i++)
        *(uint64_t *)((char *)c + keys[i].offset) = keys[i].fallback;
    if (!read_lines(c, path, false, why, n) || !check_arms(c, path, why, n))
        return NULL;
    if (!c->out || (!c->later && !c->n_arms)) {
        snprintf(why, n, "%s: needs 'out' and 'arm auto'", path);
        return NULL;
    }
    return c;
}

bool engine_config_arms(struct engine_config *c, const char *path, char *why, size_t n)
{
    c->n_arms = 0;
    return read_lines(c, path, true, why, n) && check_arms(c, path, why, n);
}
