/* SPDX-License-Identifier: Apache-2.0 */
#include "config/settings.h"

#include "base/err.h"
#include "base/text.h"
#include "base/units.h"
#include "config/params.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- by the tables ---- */

/* Why a list may not stand here, for the keys where users try one. */
static const struct {
    const char *key, *why;
} single[] = {
    {"ranks", "use a config for each number, or --set launch:ranks=N"},
    {"nodes", "use a config for each number, or --set launch:nodes=N"},
};

static int refuse_list(const struct config_entry *e)
{
    const char *why = "only a workload section may have lists and ranges";
    for (size_t i = 0; i < COUNT(single); i++)
        if (!strcmp(single[i].key, e->key))
            why = single[i].why;
    return config_error(e, "'%.80s' is a list, but this key takes one value (%s)", e->value, why);
}

static bool part_of_time(const char **s, double most, double *out)
{
    char *end;
    if (**s < '0' || **s > '9')
        return false;
    *out = strtod(*s, &end);
    bool whole = strspn(*s, "0123456789") == (size_t)(end - *s);
    *s = end;
    return whole && *out <= most;
}

/* D-HH, D-HH:MM, D-HH:MM:SS, HH:MM:SS and MM:SS. A number alone is not among them: with Slurm it would
 * be minutes. */
bool settings_slurm_time(const char *text, double *seconds)
{
    double part[3] = {0}, days = 0;
    const char *s = text;
    int n = 0;
    const bool has_days = strchr(text, '-');
    if (has_days && (!part_of_time(&s, 1e5, &days) || *s++ != '-'))
        return false;
    do {
        if (n == 3 || !part_of_time(&s, 1e6, &part[n]))
            return false;
        n++;
    } while (*s++ == ':');
    if (s[-1] || (n == 1 && !has_days))
        return false;
    *seconds = days * 86400;
    *seconds +=
        has_days || n == 3 ? part[0] * 3600 + part[1] * 60 + part[2] : part[0] * 60 + part[1];
    return true;
}

bool settings_slurm_gpus(const struct set_slurm *s)
{
    return s->gpus_per_node[strspn(s->gpus_per_node, "0")];
}

static int read_entry(const struct config_entry *e, const struct wl_param *p, void *object)
{
    char why[512];
    if (p->type == WL_TEXT) {
        if (param_parse_text(p, e->value, (char *)object + p->offset, settings_text_max(p), why,
                             sizeof why))
            return GS_OK;
    } else {
        if (param_parse(p, e->value, object, why, sizeof why))
            return GS_OK;
        if (!strcmp(e->section, "slurm") && !strcmp(e->key, "time") &&
            settings_slurm_time(e->value, (double *)((char *)object + p->offset)))
            return *(double *)((char *)object + p->offset) <= p->max
                       ? GS_OK
                       : config_error(e, "time=%s: must be at most 30 days", e->value);
        if (strpbrk(e->value, ",:"))
            return refuse_list(e);
    }
    return config_error(e, "%s", why);
}

static int read_table(const struct config *c, const struct settings_section *s, void *object)
{
    int code = GS_OK;
    for (size_t i = 0; i < c->n; i++) {
        const struct config_entry *e = &c->entries[i];
        const struct wl_param *p =
            strcmp(e->section, s->name) ? NULL : params_find(s->table, e->key);
        if (p && read_entry(e, p, object))
            code = GS_USAGE;
    }
    return code;
}

/* ---- what no table can say ---- */

/* The platform's name is a folder's and stands unquoted in commands. */
static int check_name(const struct config *c, struct set_platform *p)
{
    const char *allowed = PRINTABLE_NAME_RULE;
    const struct config_entry *e = config_find(c, "platform", "name");
    if (e && e->value[0])
        return printable_name(p->name)
                   ? GS_OK
                   : config_error(e, "'%s' is not a valid name (%s)", p->name, allowed);
    const char *base = path_name(c->path);
    size_t n = strlen(base) - (text_ends(base, ".ini") ? strlen(".ini") : 0);
    snprintf(p->name, sizeof p->name, "%.*s", (int)n, base);
    if (n < sizeof p->name && printable_name(p->name))
        return GS_OK;
    return fail_at(GS_USAGE, c->path, 0,
                   "the file's name is not a valid platform name (%s); set [platform] name",
                   allowed);
}

/* Launchers pass a host's name on to ssh, where a name such as -oProxyCommand is an option. */
static bool is_host(const char *s)
{
    size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.:[]-");
    return *s && *s != '-' && *s != '.' && *s != ':' && !s[n];
}

static int check_hosts(const struct config *c, const struct set_launch *l)
{
    AUTO_WORDS struct words hosts = {0};
    int code = GS_OK;
    if (*l->hosts)
        words_split(&hosts, l->hosts, ',');
    for (size_t i = 0; i < hosts.n && !code; i++)
        if (!is_host(hosts.v[i]))
            code = config_error(config_find(c, "launch", "hosts"),
                                "'%.80s' is not a host (letters, digits and '_.-', then "
                                "optionally ':' and its number of ranks)",
                                hosts.v[i]);
    return code;
}

/* A fault between two keys, placed at the one of them that the config sets. */
static int clash(const struct config *c, const char *section, const char *key, const char *other,
                 const char *what)
{
    const struct config_entry *e = config_find(c, section, key);
    if (!e)
        e = config_find(c, section, other);
    if (e)
        return config_error(e, "%s", what);
    return fail_at(GS_USAGE, c->path, 0, "[%s] %s: %s", section, key, what);
}

static int check_shapes(const struct config *c, const struct settings *s)
{
    char what[256];
    int code = GS_OK;
    if (s->launch.ranks % s->launch.nodes) {
        snprintf(what, sizeof what,
                 "%lld ranks do not spread evenly over %lld nodes; use a multiple of the nodes",
                 (long long)s->launch.ranks, (long long)s->launch.nodes);
        code = clash(c, "launch", "ranks", "nodes", what);
    }
    if (s->measure.max_blocks < s->measure.blocks) {
        snprintf(what, sizeof what, "max_blocks=%lld is less than blocks=%lld; raise max_blocks",
                 (long long)s->measure.max_blocks, (long long)s->measure.blocks);
        code = clash(c, "measure", "max_blocks", "blocks", what);
    }
    return code;
}

/* ---- [limits] ---- */

static bool parse_size(const char *text, double *value)
{
    uint64_t bytes;
    if (!units_parse_size(text, &bytes))
        return false;
    *value = (double)bytes;
    return true;
}

/* The kinds of number a limit may be, and the limits that some module reads, with theirs. */
static bool (*const limit_kinds[])(const char *, double *) = {units_parse_real, units_parse_rate,
                                                              parse_size, units_parse_time};
enum { REALS_AND_RATES = 2, ANY_KIND = COUNT(limit_kinds) };

static const char *const limit_rates[] = {"busbw", "link", "memory", "flops"};

static size_t limit_kinds_of(const char *key)
{
    for (size_t i = 0; i < COUNT(limit_rates); i++)
        if (!strcmp(limit_rates[i], key))
            return REALS_AND_RATES;
    return ANY_KIND;
}

static bool limit_parse(const char *key, const char *text, double *value)
{
    for (size_t i = 0; i < limit_kinds_of(key); i++)
        if (limit_kinds[i](text, value))
            return true;
    return false;
}

/* "source", "busbw.source", "busbw_source": where the numbers come from, in words. */
static bool is_source(const char *key)
{
    size_t n = strlen(key);
    return !strcmp(key, "source") ||
           (n > 7 && !strcmp(key + n - 6, "source") && strchr("._", key[n - 7]));
}

/* Other names are allowed, but one that nearly is a known name would silently set no limit. */
static const char *limit_meant(const char *key)
{
    static const char *const known[] = {"busbw", "link", "memory", "flops", "network"};
    const char *near = text_nearest(key, known, COUNT(known));
    return near && strncmp(key, near, strlen(near)) != 0 ? near : NULL;
}

static int check_limits(const struct config *c)
{
    int code = GS_OK;
    double value;
    for (size_t i = 0; i < c->n; i++) {
        const struct config_entry *e = &c->entries[i];
        if (strcmp(e->section, "limits") || is_source(e->key))
            continue;
        const char *meant = limit_meant(e->key);
        if (meant)
            code = config_error(e, "no such limit, did you mean '%s'?", meant);
        bool rate = limit_kinds_of(e->key) == REALS_AND_RATES;
        if (!limit_parse(e->key, e->value, &value))
            code = config_error(e, "'%.80s' is not a limit (%s)", e->value,
                                rate ? "a rate, e.g. 900GB/s, or a number"
                                     : "a rate, a time, a size or a number");
        else if (!(value > 0))
            code = config_error(e, "'%s' is not a limit (more than 0)", e->value);
    }
    return code;
}

double settings_limit(const struct config *c, const char *key)
{
    const struct config_entry *e = config_find(c, "limits", key);
    double value;
    return e && limit_parse(key, e->value, &value) ? value : (double)NAN;
}

int settings_read(const struct config *c, struct settings *out)
{
    char why[512];
    int code = GS_OK;
    *out = (struct settings){0};
    for (const struct settings_section *s = settings_sections; s->name; s++) {
        void *object = (char *)out + s->offset;
        if (!s->table)
            continue;
        if (!params_default(s->table, object, why, sizeof why))
            return fail(GS_USAGE, "[%s]: %s", s->name, why);
        if (read_table(c, s, object))
            code = GS_USAGE;
    }
    if (check_name(c, &out->platform) || check_hosts(c, &out->launch))
        code = GS_USAGE;
    TRY(code, check_shapes(c, out));
    int limits = check_limits(c);
    return code ? code : limits;
}
