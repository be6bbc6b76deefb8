/* SPDX-License-Identifier: Apache-2.0 */
#include "launcher.h"

#include "cluster/container.h"
#include "err.h"
#include "numa.h"
#include "plugin.h"
#include "text.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct launcher {
    const char *name;
    char *(*find)(void); /* path of the program, the caller's; NULL: not here */
    void (*options)(struct words *argv, const struct set_launch *set, const char *scratch);
    const char *remedy;
};

/* ---- words of a command ---- */

static void add(struct words *w, char *word)
{
    w->v = xrealloc(w->v, (w->n + 2) * sizeof *w->v);
    w->v[w->n++] = word;
    w->v[w->n] = NULL;
}

static void add_all(struct words *w, const char *const *words)
{
    for (; *words; words++)
        add(w, xstrdup(*words));
}

static void add_split(struct words *w, const char *text)
{
    for (;;) {
        text += strspn(text, " \t");
        size_t n = strcspn(text, " \t");
        if (!n)
            return;
        add(w, xstrfmt("%.*s", (int)n, text));
        text += n;
    }
}

/* ---- what is here ---- */

static bool runs(const char *path)
{
    return access(path, X_OK) == 0;
}

char *launcher_find(const char *name)
{
    const char *path = getenv("PATH");
    struct words dirs;
    words_split(&dirs, path ? path : "/usr/local/bin:/usr/bin:/bin", ':');
    char *found = NULL;
    for (size_t i = 0; i < dirs.n && !found; i++) {
        found = xstrfmt("%s/%s", *dirs.v[i] ? dirs.v[i] : ".", name);
        if (!runs(found)) {
            free(found);
            found = NULL;
        }
    }
    words_free(&dirs);
    return found;
}

static bool set_and_not_empty(const char *variable)
{
    const char *value = getenv(variable);
    return value && *value;
}

/* MPI_HOME was built against on purpose: another mpirun on PATH is not a substitute. */
static char *find_mpirun(void)
{
    if (!set_and_not_empty("MPI_HOME"))
        return launcher_find("mpirun");
    char *path = xstrfmt("%s/bin/mpirun", getenv("MPI_HOME"));
    if (runs(path))
        return path;
    free(path);
    return NULL;
}

static char *find_srun(void)
{
    return launcher_find("srun");
}

static bool in_allocation(void)
{
    static const char *const variables[] = {"SLURM_JOB_ID", "PBS_NODEFILE", "LSB_HOSTS",
                                            "PE_HOSTFILE"};
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        if (set_and_not_empty(variables[i]))
            return true;
    return false;
}

static bool is_local(const struct set_launch *set)
{
    return !*set->hosts && set->nodes <= 1 && !in_allocation();
}

/* Processors that this process may use: what a container or taskset left of the machine. */
static long cpus(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        return CPU_COUNT(&set);
    return sysconf(_SC_NPROCESSORS_ONLN);
}

/* ---- binding ---- */

bool launcher_binds_to_gpus(const struct plan *p)
{
    const char *bind = p->set.launch.bind;
    return !strcmp(bind, "gpu") ||
           (!strcmp(bind, "auto") && p->set.platform.device[0] && numa_here());
}

/* What is left to the launcher. */
static const char *launchers_binding(const char *bind)
{
    return !strcmp(bind, "gpu") || !strcmp(bind, "auto") ? "none" : bind;
}

/* ---- mpirun ---- */

/* "a, b:4" to "a:2,b:4": a host without its own count takes its share of the ranks. */
static char *hosts_with_slots(const struct set_launch *set)
{
    struct words hosts;
    struct text t = {0};
    words_split(&hosts, set->hosts, ',');
    int64_t share = (set->ranks + (int64_t)hosts.n - 1) / (int64_t)hosts.n;
    for (size_t i = 0; i < hosts.n; i++) {
        text_addf(&t, "%s%s", i ? "," : "", hosts.v[i]);
        if (!strchr(hosts.v[i], ':'))
            text_addf(&t, ":%lld", (long long)share);
    }
    words_free(&hosts);
    return t.s;
}

/* Other hosts start from an empty environment: what tunes the ranks goes with them, by name. */
static void add_environment(struct words *argv)
{
    static const char *const taken[] = {"GRADSYNC_", "NCCL_",         "UCX_",
                                        "CUDA_",     "OPENBLAS_NUM_", "LD_LIBRARY_PATH="};
    for (char **e = environ; *e; e++)
        for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
            if (!strncmp(*e, taken[i], strlen(taken[i]))) {
                add(argv, xstrdup("-x"));
                add(argv, xstrfmt("%.*s", (int)strcspn(*e, "="), *e));
            }
}

static void mpirun_options(struct words *argv, const struct set_launch *set, const char *scratch)
{
    if (geteuid() == 0)
        add(argv, xstrdup("--allow-run-as-root"));
    add_all(argv, (const char *const[]){"--bind-to", launchers_binding(set->bind), "-n", NULL});
    add(argv, xstrfmt("%lld", (long long)set->ranks));
    if (set->oversubscribe)
        add(argv, xstrdup("--oversubscribe"));
    if (set->nodes > 1 && set->ranks % set->nodes == 0) {
        add(argv, xstrdup("--map-by"));
        add(argv, xstrfmt("ppr:%lld:node", (long long)(set->ranks / set->nodes)));
    }
    if (*set->hosts) {
        add(argv, xstrdup("--host"));
        add(argv, hosts_with_slots(set));
    } else if (is_local(set) && !set->oversubscribe) {
        /* Its own count of slots is the cores; ours, already checked, is the processors. */
        add(argv, xstrdup("--host"));
        add(argv, xstrfmt("localhost:%lld", (long long)set->ranks));
    }
    if (!is_local(set))
        add_environment(argv);
    else if (scratch)
        add_all(argv, (const char *const[]){"--mca", "orte_tmpdir_base", scratch, "--mca",
                                            "btl_vader_backing_directory", scratch, NULL});
}

/* ---- srun ---- */

static const char *srun_binding(const char *bind)
{
    static const struct {
        const char *ours, *theirs;
    } names[] = {
        {"core", "cores"}, {"numa", "ldoms"}, {"socket", "sockets"}, {"hwthread", "threads"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(names[i].ours, bind))
            return names[i].theirs;
    return launchers_binding(bind);
}

static void srun_options(struct words *argv, const struct set_launch *set, const char *scratch)
{
    (void)scratch;
    add_all(argv, (const char *const[]){"--mpi=pmix", "--kill-on-bad-exit=1", "-n", NULL});
    add(argv, xstrfmt("%lld", (long long)set->ranks));
    add(argv, xstrdup("-N"));
    add(argv, xstrfmt("%lld", (long long)(set->nodes > 1 ? set->nodes : 1)));
    add(argv, xstrfmt("--cpu-bind=%s", srun_binding(set->bind)));
    if (set->oversubscribe)
        add(argv, xstrdup("--overcommit"));
    if (*set->hosts)
        add(argv, xstrfmt("--nodelist=%s", set->hosts));
}

/* ---- the choice ---- */

/* In the order of the choices of `launcher` in settings.c, after "auto". */
static const struct launcher launchers[] = {
    {"mpirun", find_mpirun, mpirun_options,
     "install Open MPI (apt install openmpi-bin), or set MPI_HOME to where it is"},
    {"srun", find_srun, srun_options,
     "run inside a Slurm allocation (sbatch, salloc), or set launcher = mpirun"},
};
enum { AUTO, MPIRUN, SRUN };

static const struct launcher *choose(const struct set_launch *set)
{
    if (set->launcher != AUTO)
        return &launchers[set->launcher - 1];
    char *srun =
        set_and_not_empty("SLURM_JOB_ID") && !set_and_not_empty("MPI_HOME") ? find_srun() : NULL;
    const struct launcher *l = &launchers[(srun ? SRUN : MPIRUN) - 1];
    free(srun);
    return l;
}

static int refuse(const struct plan *p, const char *key, const char *why)
{
    const struct config_entry *e = config_find(p->config, "launch", key);
    return e ? config_error(e, "%s", why) : fail_at(GS_USAGE, p->config->path, 0, "%s", why);
}

int launcher_check_slots(const struct plan *p)
{
    const struct set_launch *set = &p->set.launch;
    char why[256];
    if (set->nodes > 1 && !*set->hosts && !in_allocation()) {
        snprintf(why, sizeof why,
                 "%lld nodes, but no hosts are named and this is no batch job (set hosts = a, b "
                 "in [launch], or submit it)",
                 (long long)set->nodes);
        return refuse(p, "nodes", why);
    }
    if (!strcmp(set->bind, "gpu") && !numa_here())
        return refuse(p, "bind",
                      "gpu needs hwloc, and this gradsync was built without it "
                      "(libhwloc-dev, then make; or bind = numa)");
    if (is_local(set) && !set->oversubscribe && set->ranks > cpus()) {
        snprintf(why, sizeof why,
                 "%lld ranks, but this machine has %ld slots (processors); set oversubscribe = yes "
                 "in [launch], or fewer ranks",
                 (long long)set->ranks, cpus());
        refuse(p, "ranks", why);
        return GS_CANNOT;
    }
    return GS_OK;
}

char *launcher_rank_program(void)
{
    static const char *const places[] = {"gradsync-rank", "../libexec/gradsync/gradsync-rank"};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        char *path = xstrfmt("%s/%s", program_dir(), places[i]);
        if (runs(path))
            return path;
        free(path);
    }
    fail(GS_CANNOT,
         "gradsync-rank is neither in %s nor in ../libexec/gradsync: build it (make all) where "
         "Open MPI is installed",
         program_dir());
    return NULL;
}

int launcher_command_in(const struct plan *p, const char *scratch, const char *const *rank_args,
                        char ***argv)
{
    const struct set_launch *set = &p->set.launch;
    const struct launcher *l = choose(set);
    struct words w = {0};
    int code = launcher_check_slots(p);
    if (code)
        return code;
    char *rank = launcher_rank_program();
    if (!rank)
        return GS_CANNOT;
    char *program = l->find();
    if (!program) {
        free(rank);
        return fail(GS_CANNOT, "no %s in %s%s: %s", l->name,
                    set_and_not_empty("MPI_HOME") ? "MPI_HOME=" : "PATH",
                    set_and_not_empty("MPI_HOME") ? getenv("MPI_HOME") : "", l->remedy);
    }
    add(&w, program);
    l->options(&w, set, scratch);
    add_split(&w, set->args);
    add_split(&w, set->prefix);
    code = container_prefix(&w, p, rank_args[0]);
    if (code) {
        free(rank);
        launcher_free(w.v);
        return code;
    }
    add(&w, rank);
    add_all(&w, rank_args);
    *argv = w.v;
    return GS_OK;
}

int launcher_command(const struct plan *p, const char *const *rank_args, char ***argv)
{
    return launcher_command_in(p, NULL, rank_args, argv);
}

void launcher_free(char **argv)
{
    for (char **a = argv; a && *a; a++)
        free(*a);
    free(argv);
}

int launcher_check(const struct plan *p)
{
    char **argv = NULL;
    int code = launcher_command(p, (const char *const[]){NULL}, &argv);
    launcher_free(argv);
    return code;
}
