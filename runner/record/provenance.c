/* SPDX-License-Identifier: Apache-2.0 */
#include "record/provenance.h"

#include "base/files.h"
#include "base/jsontext.h"
#include "base/shell.h"
#include "base/text.h"
#include "base/version.h"
#include "lab/spec.h"
#include "record/record.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

enum env_rule { LEAVE_OUT, KEEP };

/* The first matching pattern decides. Open MPI's launcher passes addresses and job ids in OMPI_MCA_*
 * of its own components and in OMPI_* that are not MCA parameters. */
static const struct {
    const char *pattern;
    enum env_rule rule;
} env_rules[] = {
    {"OMPI_MCA_orte_*", LEAVE_OUT},
    {"OMPI_MCA_ess*", LEAVE_OUT},
    {"OMPI_MCA_pmix*", LEAVE_OUT},
    {"OMPI_MCA_prte_*", LEAVE_OUT},
    {"OMPI_MCA_*_uri", LEAVE_OUT},
    {"OMPI_MCA_initial_wdir", LEAVE_OUT},
    {"OMPI_MCA_plm_rsh_agent", LEAVE_OUT}, /* a path of this machine */
    {"OMPI_MCA_*_directory", LEAVE_OUT},
    {"OMPI_MCA_shmem_RUNTIME_QUERY_hint", LEAVE_OUT},
    {"OMPI_MCA_*", KEEP},
    {"NCCL_*", KEEP},
    {"UCX_*", KEEP},
};

static enum env_rule env_rule_of(const char *name)
{
    static const char *const families[] = {"NCCL_*", "OMPI_*", "UCX_*"};
    bool ours = false;
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        ours = ours || !fnmatch(families[i], name, 0);
    for (size_t i = 0; ours && i < sizeof env_rules / sizeof *env_rules; i++)
        if (!fnmatch(env_rules[i].pattern, name, FNM_CASEFOLD))
            return env_rules[i].rule;
    return LEAVE_OUT;
}

json_t *provenance_env(char *const *environment)
{
    json_t *env = json_object();
    for (char *const *e = environment; *e; e++) {
        size_t n = strcspn(*e, "=");
        AUTO_FREE char *name = xstrfmt("%.*s", (int)n, *e);
        enum env_rule rule = env_rule_of(name);
        const char *value = *e + n + ((*e)[n] == '='); /* an entry may have no '=' */
        AUTO_FREE char *shown = secrets_name(*e, n) ? xstrdup("(hidden)") : secrets_hidden(value);
        if (rule != LEAVE_OUT)
            json_object_set_new(env, name, json_text(shown));
    }
    return env;
}

const char *provenance_time(char *buf, size_t n)
{
    time_t now = time(NULL);
    struct tm utc;
    strftime(buf, n, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
    return buf;
}

/* Architectures name the processor differently in /proc/cpuinfo; the first match counts. */
static char *cpu_model(const char *machine)
{
    static const char *const names[] = {"model name", "cpu model", "cpu\t", "Model"};
    AUTO_TEXT struct text cpuinfo = {0};
    char *model = NULL;
    bool there = text_read_file("/proc/cpuinfo", &cpuinfo);
    for (size_t i = 0; there && !model && i < sizeof names / sizeof *names; i++) {
        const char *line = strstr(cpuinfo.s, names[i]);
        const char *value = line ? strchr(line, ':') : NULL;
        if (value)
            model = xstrfmt("%.*s", (int)strcspn(value + 2, "\n"), value + 2);
    }
    return model ? model : xstrdup(machine);
}

json_t *provenance_host(int rank)
{
    struct utsname u;
    if (uname(&u))
        memset(&u, 0, sizeof u);
    AUTO_FREE char *cpu = cpu_model(u.machine);
    AUTO_FREE char *kernel = xstrfmt("%s %s %s", u.sysname, u.release, u.machine);
    json_t *host = json_object();
    json_object_set_new(host, "rank", json_integer(rank));
    json_object_set_new(host, "host", json_text(u.nodename));
    json_object_set_new(host, "cpu", json_text(cpu));
    json_object_set_new(host, "cores", json_integer(sysconf(_SC_NPROCESSORS_ONLN)));
    json_object_set_new(host, "kernel", json_text(kernel));
    json_object_set_new(host, "memory_B",
                        json_integer((json_int_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE)));
    return host;
}

/* The text with its line breaks. JSON cannot hold a config that is not UTF-8; the run folder's
 * config.ini has its exact bytes. */
static json_t *verbatim(const char *text)
{
    json_t *value = json_string(text);
    return value ? value : json_text(text);
}

static json_t *overrides(const struct config *c)
{
    json_t *list = json_array();
    for (char **o = c->overrides; o && *o; o++)
        json_array_append_new(list, json_text(*o));
    return list;
}

/* The folder's name without trailing slashes. */
static json_t *run_id(const char *dir)
{
    size_t n = strlen(dir);
    while (n && dir[n - 1] == '/')
        n--;
    size_t start = n;
    while (start && dir[start - 1] != '/')
        start--;
    AUTO_FREE char *name = xstrfmt("%.*s", (int)(n - start), dir + start);
    return json_text(name);
}

/* NULL outside a Slurm job. */
static json_t *slurm_job(void)
{
    static const char *const told[][2] = {
        {"id", "SLURM_JOB_ID"},           {"array", "SLURM_ARRAY_JOB_ID"},
        {"task", "SLURM_ARRAY_TASK_ID"},  {"restarts", "SLURM_RESTART_COUNT"},
        {"nodes", "SLURM_JOB_NODELIST"},  {"partition", "SLURM_JOB_PARTITION"},
        {"cluster", "SLURM_CLUSTER_NAME"}};
    if (!getenv("SLURM_JOB_ID"))
        return NULL;
    json_t *job = json_object();
    for (size_t i = 0; i < sizeof told / sizeof *told; i++)
        if (getenv(told[i][1]))
            json_object_set_new(job, told[i][0], json_text(getenv(told[i][1])));
    return job;
}

/* Of plan.json, so that a reader sees whether the plan was edited since. */
static json_t *plan_hash(const char *dir)
{
    char hex[65], *path = xstrfmt("%s/plan.json", dir);
    bool there = !access(path, F_OK) && !sha256_file(path, hex);
    free(path);
    return there ? json_string(hex) : json_null();
}

json_t *provenance_header(const struct plan *p, const char *dir, int launch, int attempt)
{
    char started[32];
    json_t *h = json_object();
    json_object_set_new(h, "type", json_string("header"));
    json_object_set_new(h, "schema", json_integer(RECORD_SCHEMA));
    json_object_set_new(h, "gradsync", json_string(GRADSYNC_VERSION));
    json_object_set_new(h, "commit", json_text(gradsync_commit));
    json_object_set_new(h, "run_id", run_id(dir));
    json_object_set_new(h, "platform", json_text(p->set.platform.name));
    json_object_set_new(h, "workload", json_text(p->workload));
    json_object_set_new(h, "label", json_text(p->label));
    json_object_set_new(h, "launch", json_integer(launch));
    json_object_set_new(h, "attempt", json_integer(attempt));
    json_object_set_new(h, "started", json_string(provenance_time(started, sizeof started)));
    json_object_set_new(h, "seed", json_integer((json_int_t)p->seed));
    json_object_set_new(h, "config", verbatim(p->config->text));
    json_object_set_new(h, "config_sha256", json_string(p->config_sha256));
    json_object_set_new(h, "plan_sha256", plan_hash(dir));
    json_object_set_new(h, "overrides", overrides(p->config));
    json_object_set_new(h, "ranks", json_integer(p->set.launch.ranks));
    json_object_set_new(h, "nodes", json_integer(p->set.launch.nodes));
    json_object_set_new(h, "plugin", json_text(p->plugin->wl.version));
    json_object_set_new(h, "env", provenance_env(environ));
    if (*p->set.measure.proof_of)
        json_object_set_new(h, "proof_of", json_text(p->set.measure.proof_of));
    json_t *job = slurm_job();
    if (job)
        json_object_set_new(h, "job", job);
    json_t *lab = lab_facts_recorded();
    if (lab)
        json_object_set_new(h, "lab", lab);
    return h;
}
