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

/* D-HH, D-HH:MM, D-HH:MM:SS, HH:MM:SS and MM:SS. A number alone is not among them: with Slurm it would
 * be minutes. */
bool settings_slurm_time(const char *text, double *seconds)
{
    const bool days = strchr(text, '-');
    double d = 0, part[3] = {0};
    int colons = 0, n;
    if (!*text || text[strspn(text, "0123456789:-")] || strchr(text, '-') != strrchr(text, '-'))
        return false;
    for (const char *s = text; *s; s++)
        colons += *s == ':';
    if (days)
        n = sscanf(text, "%lf-%lf:%lf:%lf", &d, &part[0], &part[1], &part[2]) - 1;
    else
        n = sscanf(text, "%lf:%lf:%lf", &part[0], &part[1], &part[2]);
    if (n != colons + 1 || n > 3 || (n == 1 && !days) || fmin(d, part[0]) < 0)
        return false;
    *seconds = days || n == 3 ? d * 86400 + part[0] * 3600 + part[1] * 60 + part[2]
                              : part[0] * 60 + part[1];
    return true;
}

static int read_entry(const struct config_entry *e, const struct wl_param *p, void *object)
{
    char why[512];
    double *member = (double *)((char *)object + p->offset);
    if (p->type == WL_TEXT)
        return param_parse_text(p, e->value, (char *)object + p->offset,
                                p->max >= WL_TEXT_MAX ? (size_t)p->max + 1 : WL_TEXT_MAX, why,
                                sizeof why)
                   ? GS_OK
                   : config_error(e, "%s", why);
    if (param_parse(p, e->value, object, why, sizeof why))
        return GS_OK;
    if (!strcmp(e->section, "slurm") && !strcmp(e->key, "time") &&
        settings_slurm_time(e->value, member))
        return *member <= p->max ? GS_OK
                                 : config_error(e, "time=%s: must be at most 30 days", e->value);
    if (strpbrk(e->value, ",:"))
        return config_error(e,
                            "'%.80s' is a list, but this key takes one value (use a config for "
                            "each, or --set %s:%s=VALUE)",
                            e->value, e->section, e->key);
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

static int check_hosts(const struct config *c, const struct set_launch *l)
{
    AUTO_WORDS struct words hosts = {0};
    int code = GS_OK;
    if (*l->hosts)
        words_split(&hosts, l->hosts, ',');
    /* Launchers pass a host's name on to ssh, where a name such as -oProxyCommand is an option. */
    for (size_t i = 0; i < hosts.n && !code; i++)
        if (!*hosts.v[i] || strchr("-.:", *hosts.v[i]) ||
            hosts.v[i][strspn(hosts.v[i], "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                          "0123456789_.:[]-")])
            code = config_error(config_find(c, "launch", "hosts"),
                                "'%.80s' is not a host (letters, digits and '_.-', then "
                                "optionally ':' and its number of ranks)",
                                hosts.v[i]);
    return code;
}

/* A fault between two keys stands at the one that the config sets. */
static int check_shapes(const struct config *c, const struct settings *s)
{
    const struct config_entry *ranks = config_find(c, "launch", "ranks"),
                              *most = config_find(c, "measure", "max_blocks");
    int code = GS_OK;
    if (s->launch.ranks % s->launch.nodes)
        code = config_error(ranks ? ranks : config_find(c, "launch", "nodes"),
                            "%lld ranks do not spread evenly over %lld nodes; use a multiple of "
                            "the nodes",
                            (long long)s->launch.ranks, (long long)s->launch.nodes);
    if (s->measure.max_blocks < s->measure.blocks)
        code = config_error(most ? most : config_find(c, "measure", "blocks"),
                            "max_blocks=%lld is less than blocks=%lld; raise max_blocks",
                            (long long)s->measure.max_blocks, (long long)s->measure.blocks);
    return code;
}

/* ---- [limits] ---- */

/* The limits that some module reads as rates; other names may have a number of any kind. */
static bool is_rate(const char *key)
{
    return text_lists("busbw,link,memory,flops", ",", key);
}

static bool limit_parse(const char *key, const char *text, double *value)
{
    uint64_t bytes;
    if (units_parse_real(text, value) || units_parse_rate(text, value))
        return true;
    if (is_rate(key))
        return false;
    if (!units_parse_size(text, &bytes))
        return units_parse_time(text, value);
    *value = (double)bytes;
    return true;
}

static int check_limits(const struct config *c)
{
    static const char *const known[] = {"busbw", "link", "memory", "flops", "network"};
    int code = GS_OK;
    double value;
    for (size_t i = 0; i < c->n; i++) {
        const struct config_entry *e = &c->entries[i];
        /* "source", "busbw.source", "busbw_source": where a number comes from, in words. */
        if (strcmp(e->section, "limits") || !strcmp(e->key, "source") ||
            text_ends(e->key, ".source") || text_ends(e->key, "_source"))
            continue;
        /* Other names are allowed, but one that nearly is a known name would silently set no limit. */
        const char *near = text_nearest(e->key, known, COUNT(known));
        if (near && strncmp(e->key, near, strlen(near)) != 0)
            code = config_error(e, "no such limit, did you mean '%s'?", near);
        if (!limit_parse(e->key, e->value, &value))
            code = config_error(e, "'%.80s' is not a limit (%s)", e->value,
                                is_rate(e->key) ? "a rate, e.g. 900GB/s, or a number"
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
