/* SPDX-License-Identifier: Apache-2.0
 *
 * Limits of a cluster, parsed from the output of scontrol.
 */
#include "cluster/slurm.h"

#include "base/err.h"
#include "base/text.h"
#include "cluster/client.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- "Key=value Key=value" ---- */

static bool member(const char *line, const char *key, char *buf, size_t n)
{
    size_t k = strlen(key);
    for (const char *s = line; (s = strstr(s, key)); s += k)
        if ((s == line || s[-1] == ' ') && s[k] == '=') {
            snprintf(buf, n, "%.*s", (int)strcspn(s + k + 1, " \n"), s + k + 1);
            return true;
        }
    return false;
}

/* "UNLIMITED", "30", "10:00", "1-00:00:00" (days, hours, minutes, seconds). */
static double parse_time(const char *s)
{
    double days = 0, part[3] = {0};
    int n = 0;
    char *end;
    double first = strtod(s, &end);
    if (end == s)
        return (double)INFINITY;
    if (*end == '-') {
        days = first;
        s = end + 1;
    }
    for (; n < 3; n++) {
        part[n] = strtod(s, &end);
        if (*end != ':') {
            n++;
            break;
        }
        s = end + 1;
    }
    if (days > 0 || n == 3)
        return days * 86400 + part[0] * 3600 + part[1] * 60 + part[2];
    return part[0] * 60 + part[1];
}

static long count(const char *line, const char *key, long otherwise)
{
    char value[64];
    char *end;
    if (!member(line, key, value, sizeof value))
        return otherwise;
    long n = strtol(value, &end, 10);
    return end == value ? otherwise : n;
}

static void parse_partition(struct partition *p, const char *line)
{
    char value[64];
    *p = (struct partition){.max_time_s = (double)INFINITY};
    member(line, "PartitionName", p->name, sizeof p->name);
    p->up = member(line, "State", value, sizeof value) && !strcmp(value, "UP");
    if (member(line, "MaxTime", value, sizeof value))
        p->max_time_s = parse_time(value);
    p->total_nodes = count(line, "TotalNodes", 0);
    p->max_nodes = count(line, "MaxNodes", p->total_nodes);
}

/* ---- partitions ---- */

static int no_partition(const struct config *c, const char *name, const struct words *lines)
{
    const char *names[64];
    char buf[64][128];
    size_t n = 0;
    AUTO_TEXT struct text all = {0};
    for (size_t i = 0; i < lines->n && n < 64; i++)
        if (member(lines->v[i], "PartitionName", buf[n], sizeof buf[n])) {
            text_addf(&all, "%s%s", n ? ", " : "", buf[n]);
            names[n] = buf[n];
            n++;
        }
    const char *near = *name ? text_nearest(name, names, n) : NULL;
    const char *there = all.s ? all.s : "there is none";
    const struct config_entry *e = config_find(c, "slurm", "partition");
    return *name && e
               ? config_error(e, "no partition '%s' here%s (%s)", name, DID_YOU_MEAN(near), there)
               : fail_at(GS_USAGE, c->path, 0,
                         "[slurm] partition is empty and the cluster has no default; set it (%s)",
                         there);
}

int slurm_partition(struct partition *p, const struct config *c, const char *name)
{
    struct reply r;
    AUTO_WORDS struct words lines = {0};
    char value[128];
    int code = client_run(&r, (const char *const[]){"scontrol", "show", "partition", "-o", NULL},
                          "nothing was submitted");
    if (code) {
        reply_free(&r);
        return code;
    }
    words_split(&lines, r.out.s ? r.out.s : "", '\n');
    bool found = false;
    for (size_t i = 0; i < lines.n && !found; i++) {
        const char *key = *name ? "PartitionName" : "Default", *want = *name ? name : "YES";
        found = member(lines.v[i], key, value, sizeof value) && !strcmp(value, want);
        if (found)
            parse_partition(p, lines.v[i]);
    }
    if (!found)
        code = no_partition(c, name, &lines);
    reply_free(&r);
    return code;
}

int slurm_array_max(long *indices)
{
    AUTO(reply_free) struct reply r = {0};
    *indices = 1001;
    int code = client_run(&r, (const char *const[]){"scontrol", "show", "config", NULL},
                          "nothing was submitted");
    const char *at = !code && r.out.s ? strstr(r.out.s, "MaxArraySize") : NULL;
    const char *value = at ? strchr(at, '=') : NULL;
    if (value)
        *indices = strtol(value + 1, NULL, 10);
    return code;
}
