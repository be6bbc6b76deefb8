/* SPDX-License-Identifier: Apache-2.0 */
#include "nccl_tuner/rules.h"

#include "nccl_tuner/nccl_abi.h"
#include "nccl_tuner/trim.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIELDS_MIN 8
#define FIELDS_MAX 10
#define RULES_MAX 100000

/* A whole number; -1 is `any` where `any` is not 0. */
static bool number(const char *s, uint64_t most, bool any, uint64_t *out)
{
    char *end;
    if (any && !strcmp(s, "-1")) {
        *out = UINT64_MAX;
        return true;
    }
    errno = 0;
    unsigned long long v = strtoull(s, &end, 10);
    *out = v;
    return isdigit((unsigned char)*s) && !*end && !errno && v <= most;
}

static bool small(const char *s, int least, int most, int *out)
{
    uint64_t v;
    if (!number(s, (uint64_t)most, true, &v))
        return false;
    *out = v == UINT64_MAX ? -1 : (int)v;
    return *out < 0 || *out >= least;
}

static bool one_of(const char *s, int (*find)(const char *), int *out)
{
    *out = find(s);
    return *out >= 0 || !strcmp(s, "-1");
}

/* NULL, or what is wrong with the fields, with *field the one that is. */
static const char *fill(struct rule *r, char **f, int n, int *field)
{
    *r = (struct rule){.pipe_ops = -1, .reg_buff = -1};
    int channels = -1;
    const struct {
        bool good;
        const char *allowed;
    } check[FIELDS_MAX] = {
        {(r->func = choice_func(f[0])) >= 0,
         "broadcast, reduce, allgather, reducescatter or allreduce"},
        {number(f[1], UINT64_MAX, false, &r->min), "a number of bytes"},
        {number(f[2], UINT64_MAX, true, &r->max) && r->max >= r->min,
         "a number of bytes, not below min_bytes, or -1 for no limit"},
        {one_of(f[3], choice_algo, &r->choice.algo),
         "tree, ring, collnet_direct, collnet_chain, nvls, nvls_tree, pat, or -1 for NCCL's "
         "choice"},
        {one_of(f[4], choice_proto, &r->choice.proto),
         "ll, ll128, simple, or -1 for NCCL's choice"},
        {small(f[5], 1, NCCL_MAX_CHANNELS, &channels), "1 to 64 channels, or -1 for NCCL's choice"},
        {small(f[6], 1, 1 << 24, &r->nodes), "a number of nodes, or -1 for any"},
        {small(f[7], 1, 1 << 24, &r->ranks), "a number of ranks, or -1 for any"},
        {n < 9 || small(f[8], 0, 1 << 24, &r->pipe_ops), "a number of operations, or -1 for any"},
        {n < 10 || small(f[9], 0, 1, &r->reg_buff), "0, 1, or -1 for any"},
    };
    r->choice.channels = channels > 0 ? channels : 0;
    for (*field = 0; *field < n; ++*field)
        if (!check[*field].good)
            return check[*field].allowed;
    return NULL;
}

static const char *const field_names[FIELDS_MAX] = {
    "collective", "min_bytes", "max_bytes", "algorithm",  "protocol",
    "channels",   "nNodes",    "nRanks",    "numPipeOps", "regBuff"};

static bool parse_line(struct rule *r, char *line, char *why, size_t size)
{
    char *f[FIELDS_MAX + 1], *rest = line;
    int n = 0, field;
    while (rest && n <= FIELDS_MAX)
        f[n++] = trim(strsep(&rest, ","));
    if (n < FIELDS_MIN || n > FIELDS_MAX) {
        snprintf(why, size, "a rule has 8 to 10 fields separated by commas");
        return false;
    }
    const char *allowed = fill(r, f, n, &field);
    if (allowed)
        snprintf(why, size, "%s '%.40s': must be %s", field_names[field], f[field], allowed);
    return !allowed;
}

static bool add(struct rules *r, const struct rule *rule)
{
    if (!(r->n & (r->n - 1))) { /* full at each power of two */
        struct rule *v = realloc(r->v, (r->n ? 2 * r->n : 1) * sizeof *v);
        if (!v)
            return false;
        r->v = v;
    }
    r->v[r->n++] = *rule;
    return true;
}

static bool take_line(struct rules *r, char *line, size_t bytes, char *why, size_t n)
{
    struct rule rule;
    if (strlen(line) != bytes) {
        snprintf(why, n, "a NUL byte: this is not a text file");
        return false;
    }
    char *text = trim(line);
    if (!*text || *text == '#')
        return true;
    if (!parse_line(&rule, text, why, n))
        return false;
    if (r->n < RULES_MAX && add(r, &rule))
        return true;
    snprintf(why, n, "too many rules: at most %d", RULES_MAX);
    return false;
}

bool rules_load(struct rules *r, const char *path, char *why, size_t n)
{
    char *line = NULL, what[320] = "";
    size_t cap = 0, at = 0;
    ssize_t bytes;
    *r = (struct rules){0};
    FILE *f = fopen(path, "re");
    if (!f) {
        snprintf(why, n, "%s: cannot be read: %s", path, strerror(errno));
        return false;
    }
    errno = 0;
    while (!*what && (bytes = getline(&line, &cap, f)) >= 0) {
        at++;
        take_line(r, line, (size_t)bytes, what, sizeof what);
    }
    if (*what)
        snprintf(why, n, "%s:%zu: %s", path, at, what);
    else if (ferror(f))
        snprintf(why, n, "%s: cannot be read: %s", path, strerror(errno));
    bool good = !*what && !ferror(f);
    fclose(f);
    free(line);
    if (!good)
        rules_free(r);
    return good;
}

void rules_free(struct rules *r)
{
    free(r->v);
    *r = (struct rules){0};
}

static bool matches(const struct rule *r, const struct call *c)
{
    return r->func == c->func && c->bytes >= r->min && c->bytes <= r->max &&
           (r->nodes < 0 || r->nodes == c->nodes) && (r->ranks < 0 || r->ranks == c->ranks) &&
           (r->pipe_ops < 0 || r->pipe_ops == c->pipe_ops) &&
           (r->reg_buff < 0 || r->reg_buff == c->reg_buff);
}

const struct rule *rules_apply(const struct rules *r, const struct call *call)
{
    for (size_t i = 0; i < r->n; i++)
        if (matches(&r->v[i], call) && choice_apply(&r->v[i].choice, call))
            return &r->v[i];
    return NULL;
}
