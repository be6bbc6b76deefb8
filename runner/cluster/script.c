/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/script.h"

#include "base/err.h"
#include "base/program_dir.h"
#include "base/secrets.h"
#include "base/shell_quote.h"
#include "cluster/sbatch_words.h"

#include <math.h>
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
