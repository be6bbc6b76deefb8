/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/script.h"

#include "base/err.h"
#include "base/program_dir.h"
#include "base/secrets.h"
#include "base/shell_quote.h"
#include "base/text.h"
#include "base/units.h"
#include "cluster/client.h"
#include "cluster/slurm.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define START_S 20.0  /* to start a launch: processes, modules, container image */
#define WARNING_S 60  /* from the signal to the time limit */
#define LEAST_S 300.0 /* minimum time limit */

/* ---- resources ---- */

static int refuse(const struct plan *p, const char *key, const char *value, const char *allowed)
{
    const struct config_entry *e = config_find(p->config, "slurm", key);
    if (!e)
        return fail_at(GS_USAGE, p->config->path, 0, "[slurm] %s: refused; %s", key, allowed);
    return config_error(e, "'%.80s' is refused in a job script; %s", value, allowed);
}

static int option(struct text *t, const struct plan *p, const char *key, const char *name,
                  const char *value)
{
    if (!*value)
        return GS_OK;
    if (!sbatch_words_value(value))
        return refuse(p, key, value, "allowed: letters, digits and _.,:=+@/-[]()*&|!?");
    text_addf(t, "#SBATCH --%s=%s\n", name, value);
    return GS_OK;
}

/* Options that gradsync sets: it finds its jobs and results by them, or a key of the config has it. */
static const char *const ours[] = {
    "array",      "comment",   "job-name",    "chdir",        "output",
    "error",      "export",    "hold",        "parsable",     "requeue",
    "wait",       "open-mode", "signal",      "time",         "no-requeue",
    "wrap",       "test-only", "nodes",       "ntasks",       "ntasks-per-node",
    "dependency", "input",     "export-file", "get-user-env", "clusters",
    "help",       "version",   "partition",   "account",      "qos"};

/* The key of [slurm] or [launch] that has the option of sbatch; "": none. */
static const char *key_of(const char *name)
{
    static const char *const keys[][2] = {
        {"time", "[slurm] time"},         {"nodes", "[slurm] nodes"},
        {"ntasks", "[launch] ranks"},     {"ntasks-per-node", "[launch] ranks and nodes"},
        {"clusters", "[slurm] clusters"}, {"partition", "[slurm] partition"},
        {"account", "[slurm] account"},   {"qos", "[slurm] qos"},
        {"array", "[slurm] throttle"}};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (!strcmp(keys[i][0], name))
            return keys[i][1];
    return "";
}

static int other_option(struct text *t, const struct plan *p, const struct config_entry *e)
{
    const char *name = e->key + strlen("sbatch.");
    if (!sbatch_words_option(name))
        return config_error(e, "'%.80s' is not an option of sbatch; use lower case, digits and '-'",
                            name);
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
        if (!strcmp(ours[i], name))
            return config_error(e, "gradsync sets --%s itself; remove the line%s%s", name,
                                *key_of(name) ? ", and use " : "", key_of(name));
    if (!*e->value) {
        text_addf(t, "#SBATCH --%s\n", name);
        return GS_OK;
    }
    return option(t, p, e->key, name, e->value);
}

static int other_options(struct text *t, const struct plan *p)
{
    int code = GS_OK;
    for (size_t i = 0; i < p->config->n; i++) {
        const struct config_entry *e = &p->config->entries[i];
        if (!strcmp(e->section, "slurm") && !strncmp(e->key, "sbatch.", 7) && other_option(t, p, e))
            code = GS_USAGE;
    }
    return code;
}

static int named_options(struct text *t, const struct plan *p)
{
    const struct set_slurm *s = &p->set.slurm;
    const struct {
        const char *key, *name, *value;
    } table[] = {{"account", "account", s->account},
                 {"partition", "partition", s->partition},
                 {"clusters", "clusters", s->clusters},
                 {"gpus_per_node", "gpus-per-node", settings_slurm_gpus(s) ? s->gpus_per_node : ""},
                 {"qos", "qos", s->qos},
                 {"constraint", "constraint", s->constraint},
                 {"gres", "gres", s->gres}};
    int code = GS_OK;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (option(t, p, table[i].key, table[i].name, table[i].value))
            code = GS_USAGE;
    return code;
}

static void add_size(struct text *t, const struct plan *p)
{
    const struct set_launch *l = &p->set.launch;
    const struct set_slurm *s = &p->set.slurm;
    int64_t nodes = s->nodes ? s->nodes : l->nodes;
    text_addf(t, "#SBATCH --nodes=%lld\n#SBATCH --ntasks=%lld\n", (long long)nodes,
              (long long)l->ranks);
    if (l->oversubscribe)
        text_add(t, "#SBATCH --overcommit\n");
    if (l->ranks % nodes == 0)
        text_addf(t, "#SBATCH --ntasks-per-node=%lld\n", (long long)(l->ranks / nodes));
    if (s->exclusive)
        text_add(t, "#SBATCH --exclusive\n");
}

/* ---- before the run ---- */

/* Without what it was to prepare, the job would measure something else. */
#define SOUND                                                                                      \
    "sound() {\n"                                                                                  \
    "    [ \"$1\" = 0 ] || {\n"                                                                    \
    "        echo \"gradsync: [slurm] $2 ended with code $1; nothing was measured\" >&2\n"         \
    "        exit \"$1\"\n"                                                                        \
    "    }\n"                                                                                      \
    "}\n"

static int modules(struct text *t, const struct plan *p)
{
    const char *s = p->set.slurm.modules;
    int code = GS_OK;
    for (size_t n; !code && *(s += strspn(s, " \t,")); s += n) {
        n = strcspn(s, " \t,");
        AUTO_FREE char *name = xstrfmt("%.*s", (int)n, s);
        if (sbatch_words_module(name))
            text_addf(t, "module load %s\nsound $? 'module load %s'\n", name, name);
        else
            code = refuse(p, "modules", name, "allowed: letters, digits and _.+/-");
    }
    return code;
}

/* `setup` is the only value that the shell executes. */
static int setup(struct text *t, const struct plan *p)
{
    const char *line = p->set.slurm.setup;
    if (!*line)
        return GS_OK;
    if (!sbatch_words_line(line))
        return refuse(p, "setup", "…", "allowed: one line without control characters");
    AUTO_FREE char *shown = secrets_hidden(line);
    bool secret = strcmp(shown, line) != 0;
    text_addf(t, "%s\nsound $? setup\n", line);
    return secret ? refuse(p, "setup", "…",
                           "it holds a secret, and others may read the script; read it from a "
                           "file: export NAME=$(cat FILE)")
                  : GS_OK;
}

/* A job that asks for no GPU gets none, or those of another job. */
static int check_gpus(const struct plan *p)
{
    const struct set_slurm *s = &p->set.slurm;
    const char *count = strrchr(s->gpus_per_node, ':');
    count = count ? count + 1 : s->gpus_per_node;
    if (*s->gpus_per_node && (!*count || count[strspn(count, "0123456789")]))
        return refuse(p, "gpus_per_node", s->gpus_per_node,
                      "write the GPUs of a node, e.g. 4 or h100:4");
    if (strchr(s->clusters, ','))
        return refuse(p, "clusters", s->clusters, "name one cluster");
    bool gpus = *p->set.platform.device || !strncmp(p->section, "nccl_", 5);
    bool asked = *s->gpus_per_node || *s->gres;
    for (size_t i = 0; i < p->config->n && !asked; i++)
        asked = !strcmp(p->config->entries[i].section, "slurm") &&
                (!strncmp(p->config->entries[i].key, "sbatch.gpus", 11) ||
                 !strncmp(p->config->entries[i].key, "sbatch.tres", 11));
    if (!gpus || asked)
        return GS_OK;
    return fail_at(GS_USAGE, p->config->path, 0,
                   "[slurm] gpus_per_node: missing, so the jobs would ask for no GPU; set "
                   "gpus_per_node = %lld, or gres; 0 if this cluster gives out whole nodes",
                   (long long)(p->set.launch.ranks / p->set.launch.nodes));
}

int script_shape(struct text *t, const struct plan *p)
{
    int code = named_options(t, p);
    if (check_gpus(p))
        code = GS_USAGE;
    add_size(t, p);
    if (other_options(t, p))
        code = GS_USAGE;
    text_add(t, "\n# The job starts with a login environment; its ranks inherit the environment of "
                "this script.\n"
                "export SLURM_EXPORT_ENV=ALL\n");
    if (*p->set.slurm.modules || *p->set.slurm.setup)
        text_add(t, SOUND);
    if (modules(t, p) || setup(t, p))
        code = GS_USAGE;
    return code;
}

/* ---- time ---- */

static double part(const struct plan *p, double all, int launches)
{
    return all * launches / (double)p->set.measure.launches + START_S * launches + WARNING_S;
}

double script_time_most(const struct plan *p, int launches)
{
    double given = p->set.slurm.time;
    return given > 0 ? given : fmax(LEAST_S, part(p, plan_cost(p).most_s, launches));
}

double script_time_least(const struct plan *p, int launches)
{
    return part(p, plan_cost(p).time_s, launches);
}

static void add_time(struct text *t, double seconds)
{
    long long min = (long long)ceil(seconds / 60);
    text_addf(t, "#SBATCH --time=%lld-%02lld:%02lld:00\n", min / 1440, min / 60 % 24, min % 60);
}

/* ---- the script ---- */

void script_text(struct text *t, const struct script *s)
{
    AUTO_FREE char *program = xstrfmt("%s/gradsync", program_dir());
    text_addf(t, "#!/bin/bash\n# %s: tasks %zu to %zu of tasks.tsv, one per index of the array.\n",
              path_name(s->campaign), s->first + 1, s->first + s->n);
    text_add(
        t, "# You may edit this file; 'gradsync resume' submits the edited version.\n#\n"
           "# A job that is preempted or loses its node is queued again and measures the missing\n"
           "# cells. A signal before the time limit tells it to finish its block and stop.\n"
           "#SBATCH --requeue\n#SBATCH --open-mode=append\n");
    text_addf(t, "#SBATCH --signal=B:USR1@%d\n", WARNING_S);
    add_time(t, s->time_s);
    text_add(t, s->shape);
    text_add(t, "\ngradsync=");
    shell_quote(t, program);
    text_add(t, "\ncampaign=");
    shell_quote(t, s->campaign);
    /* exec, because the signal goes to the process of the script only. */
    text_addf(t, "\nexec \"$gradsync\" run \"$campaign\" --task $((%zu + SLURM_ARRAY_TASK_ID))\n",
              s->first);
}

/* ---- shapes ---- */

static int launches_of_a_task(const struct plan *p)
{
    int64_t n = p->set.slurm.launches;
    return (int)(n < p->set.measure.launches ? n : p->set.measure.launches);
}

static struct shape *shape_of(struct shapes *s, char *text)
{
    for (size_t i = 0; i < s->n; i++)
        if (!strcmp(s->v[i].text, text)) {
            free(text);
            return &s->v[i];
        }
    APPEND(s->v, s->n) = (struct shape){.text = text};
    return &s->v[s->n - 1];
}

int compose_shapes(struct shapes *s, struct plan *const *plans, size_t n)
{
    const struct config *refused = NULL; /* report the faults of a [slurm] once, not per workload */
    *s = (struct shapes){0};
    for (size_t i = 0; i < n; i++) {
        struct text t = {0};
        if (plans[i]->config == refused)
            continue;
        if (script_shape(&t, plans[i]))
            refused = plans[i]->config;
        struct shape *h = shape_of(s, t.s);
        double time_s = script_time_most(plans[i], launches_of_a_task(plans[i]));
        h->time_s = time_s > h->time_s ? time_s : h->time_s;
        APPEND(h->plans, h->n) = i;
    }
    return refused ? GS_USAGE : GS_OK;
}

void shapes_free(struct shapes *s)
{
    for (size_t i = 0; i < s->n; i++) {
        free(s->v[i].text);
        free(s->v[i].plans);
    }
    free(s->v);
    *s = (struct shapes){0};
}

/* ---- limits ---- */

static int check_plan(const struct plan *p, const struct partition *q)
{
    char need[32], most[32];
    int64_t nodes = p->set.slurm.nodes ? p->set.slurm.nodes : p->set.launch.nodes;
    double least = script_time_least(p, launches_of_a_task(p)), given = p->set.slurm.time;
    if (nodes > q->max_nodes)
        return fail_at(GS_USAGE, p->config->path, 0,
                       "%s: %lld nodes, but partition '%s' allows at most %ld per job", p->section,
                       (long long)nodes, q->name, q->max_nodes);
    if ((given > 0 ? given : least) <= q->max_time_s)
        return GS_OK;
    units_human_time(most, sizeof most, q->max_time_s);
    units_human_time(need, sizeof need, least);
    if (given > 0)
        return config_error(config_find(p->config, "slurm", "time"),
                            "more than the %s that partition '%s' allows; lower it, or leave it "
                            "out (a job takes %s at least)",
                            most, q->name, need);
    return fail_at(GS_USAGE, p->config->path, 0,
                   "%s: a job takes %s at least, but partition '%s' ends it after %s; use a "
                   "smaller [measure] budget, fewer cells per section, or another partition",
                   p->section, need, q->name, most);
}

static int check_shape(struct shape *h, struct plan *const *plans)
{
    struct partition q;
    const struct plan *p = plans[h->plans[0]];
    int code = slurm_partition(&q, p->set.slurm.partition);
    if (code)
        return code;
    for (size_t i = 0; i < h->n && !(code && p->set.slurm.time > 0); i++) {
        int one = check_plan(plans[h->plans[i]], &q);
        code = code ? code : one;
    }
    if (h->time_s > q.max_time_s)
        h->time_s = q.max_time_s;
    return code;
}

int compose_check(struct shapes *s, struct plan *const *plans)
{
    int code = GS_OK;
    for (size_t i = 0; !code && i < s->n; i++)
        code = check_shape(&s->v[i], plans);
    return code;
}

/* ---- tasks ---- */

static int throttle_of(const struct shape *h, struct plan *const *plans)
{
    int64_t least = 0;
    for (size_t i = 0; i < h->n; i++) {
        int64_t n = plans[h->plans[i]]->set.slurm.throttle;
        least = n && (!least || n < least) ? n : least;
    }
    return (int)least;
}

/* Adds all tasks of a shape; arrays are assigned later. The first launch of every workload comes
 * before the second of any, so that figures can be drawn early. */
static void add_tasks(struct campaign *c, const struct shape *h, struct plan *const *plans)
{
    bool more = true;
    for (int round = 0; more; round++) {
        more = false;
        for (size_t i = 0; i < h->n; i++) {
            const struct plan *p = plans[h->plans[i]];
            int step = launches_of_a_task(p), first = 1 + round * step;
            int all = (int)p->set.measure.launches;
            int last = first + step - 1 < all ? first + step - 1 : all;
            if (first > all)
                continue;
            more = true;
            campaign_add_task(c, (struct camp_task){h->plans[i], 0, first, last});
        }
    }
}

static int add_array(struct campaign *c, const struct shape *h, size_t first, size_t n,
                     int throttle,
                     int (*script)(const struct campaign *, const char *, const char *))
{
    char name[32];
    AUTO_TEXT struct text t = {0};
    snprintf(name, sizeof name, "array-%zu.sh", c->n_arrays + 1);
    for (size_t i = first; i < first + n; i++)
        c->tasks[i].array = c->n_arrays;
    campaign_add_array(c, name, first, n, throttle);
    script_text(&t, &(struct script){h->text, c->dir, first, n, h->time_s});
    return script(c, name, t.s);
}

int compose_tasks(struct campaign *c, const struct shapes *s, struct plan *const *plans,
                  long array_max,
                  int (*script)(const struct campaign *, const char *, const char *))
{
    const size_t most = array_max > 2 ? (size_t)array_max - 1 : 1;
    int code = GS_OK;
    for (size_t k = 0; !code && k < s->n; k++) {
        size_t at = c->n_tasks;
        add_tasks(c, &s->v[k], plans);
        for (size_t n; !code && at < c->n_tasks; at += n) {
            n = c->n_tasks - at < most ? c->n_tasks - at : most;
            code = add_array(c, &s->v[k], at, n, throttle_of(&s->v[k], plans), script);
        }
    }
    return code;
}
