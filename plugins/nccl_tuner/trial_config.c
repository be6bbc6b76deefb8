/* SPDX-License-Identifier: Apache-2.0 */
#include "nccl_tuner/trial_config.h"

#include "nccl_tuner/trim.h"

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
    {"seed", offsetof(struct trial_config, seed), 1, UINT64_MAX},
    {"steps", offsetof(struct trial_config, steps), 0, TRIAL_STEPS},
    {"visit_s", offsetof(struct trial_config, visit_s), 2, 3600},
    {"warmup", offsetof(struct trial_config, warmup), 20, 1000000},
    {"blocks", offsetof(struct trial_config, blocks), 0, 1000000},
    {"seconds", offsetof(struct trial_config, seconds), 0, 60000000},
    {"calls", offsetof(struct trial_config, calls), 0, 32768},
    {"ranks", offsetof(struct trial_config, ranks), 0, 1 << 24},
};
#define KEYS (sizeof keys / sizeof *keys)

static uint64_t *member(struct trial_config *c, const struct key *k)
{
    return (uint64_t *)((char *)c + k->offset);
}

static bool set_number(struct trial_config *c, const struct key *k, const char *value)
{
    char *end;
    errno = 0;
    unsigned long long v = strtoull(value, &end, 10);
    *member(c, k) = v;
    return isdigit((unsigned char)*value) && !*end && !errno && v <= k->most;
}

static bool add_arm(struct trial_config *c, const char *label)
{
    struct trial_arm *arm = &c->arms[c->n_arms];
    if (c->n_arms == TRIAL_ARMS || strlen(label) >= sizeof arm->label ||
        !choice_parse(&arm->choice, label))
        return false;
    strcpy(arm->label, label);
    c->n_arms++;
    return true;
}

static bool set(struct trial_config *c, const char *key, const char *value)
{
    if (!strcmp(key, "arm"))
        return add_arm(c, value);
    if (!strcmp(key, "out")) {
        snprintf(c->out, sizeof c->out, "%s", value);
        return *value == '/' && strlen(value) < sizeof c->out;
    }
    for (size_t i = 0; i < KEYS; i++)
        if (!strcmp(key, keys[i].name))
            return set_number(c, &keys[i], value);
    return false;
}

static bool take_line(struct trial_config *c, char *line)
{
    char *value = trim(line);
    if (!*value || *value == '#')
        return true;
    char *key = strsep(&value, "=");
    return value && set(c, trim(key), trim(value));
}

bool trial_config_read(struct trial_config *c, const char *path, char *why, size_t n)
{
    char *line = NULL;
    size_t cap = 0, at = 0;
    bool good = true;
    memset(c, 0, sizeof *c);
    for (size_t i = 0; i < KEYS; i++)
        *member(c, &keys[i]) = keys[i].fallback;
    FILE *f = fopen(path, "re");
    if (!f) {
        snprintf(why, n, "%s: cannot be read: %s", path, strerror(errno));
        return false;
    }
    while (good && getline(&line, &cap, f) >= 0) {
        at++;
        good = take_line(c, line);
    }
    fclose(f);
    if (!good)
        snprintf(why, n, "%s:%zu: unknown key, or invalid value", path, at);
    else if (!*c->out || c->n_arms < 2)
        snprintf(why, n, "%s: needs 'out', and two arms or more", path);
    free(line);
    return good && *c->out && c->n_arms >= 2;
}
