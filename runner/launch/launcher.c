/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/launcher.h"

#include "base/err.h"
#include "base/family.h"
#include "base/files.h"
#include "base/text.h"
#include "plan/plan.h"

#include <dlfcn.h>
#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- NUMA nodes ---- */

/* The processors of a list of the kernel, "0-31,64-95", that `allowed` has. */
static void cpus_of_list(cpu_set_t *cpus, const char *list, const cpu_set_t *allowed)
{
    CPU_ZERO(cpus);
    for (int first, last, n; sscanf(list, "%d%n", &first, &n) == 1; list += *list == ',') {
        last = first;
        list += n;
        if (sscanf(list, "-%d%n", &last, &n) == 1)
            list += n;
        for (int i = first; i <= last && i < CPU_SETSIZE; i++)
            if (CPU_ISSET((size_t)i, allowed))
                CPU_SET((size_t)i, cpus);
    }
}

void numa_bind(json_t *bound, const char *device)
{
    AUTO_FREE char *list = xstrfmt("%s/local_cpulist", device),
                   *node = xstrfmt("%s/numa_node", device);
    AUTO_TEXT struct text cpus = {0}, number = {0};
    cpu_set_t allowed, near;
    const char *why = NULL;
    CPU_ZERO(&near);
    sched_getaffinity(0, sizeof allowed, &allowed);
    if (!files_read(list, FILES_ANY, 4096, &cpus))
        why = "the kernel does not say which processors are beside it";
    else
        cpus_of_list(&near, cpus.s, &allowed);
    if (!why && CPU_COUNT(&near) == 0)
        why = "this job may use none of the processors beside it";
    else if (!why && sched_setaffinity(0, sizeof near, &near))
        why = strerror(errno);
    if (why) {
        json_object_set_new(bound, "why", json_string(why));
        return;
    }
    cpus.s[strcspn(cpus.s, "\n")] = '\0';
    int n = files_read(node, FILES_ANY, 4096, &number) ? atoi(number.s) : -1;
    json_object_set_new(bound, "numa", json_integer(n));
    json_object_set_new(bound, "cpus", json_string(cpus.s));
}

/* ---- GPUs ----
 *
 * Checked before a run folder is created: otherwise the ranks of each section would fail one after
 * the other. */

/* SOME: there are GPUs, or only the plugin can find out. */
enum answer { SOME, NO_DRIVER, NO_GPU };

/* From cuda.h, whose ABI is stable. */
#define CUDA_ERROR_NO_DEVICE 100

/* Devices of other vendors: their plugins need no CUDA. */
static const char *const other_devices[] = {"/dev/kfd", "/dev/accel"};

static int ask_driver(void *none)
{
    (void)none;
    int (*init)(unsigned), (*count)(int *), n = 0;
    void *cuda = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!cuda)
        return NO_DRIVER;
    void *init_symbol = dlsym(cuda, "cuInit"), *count_symbol = dlsym(cuda, "cuDeviceGetCount");
    memcpy(&init, &init_symbol, sizeof init);
    memcpy(&count, &count_symbol, sizeof count);
    if (!init || !count)
        return SOME;
    int error = init(0);
    if (!error)
        error = count(&n);
    return error == CUDA_ERROR_NO_DEVICE || (!error && n == 0) ? NO_GPU : SOME;
}

/* NULL: there is a GPU, or only the plugin can find out. Otherwise the reason and the remedy. A child
 * process asks the driver: the driver keeps threads and descriptors open until the process ends. */
static const char *gpus_here_missing(void)
{
    static int answer = -1;
    static const char *const why[] = {
        [NO_DRIVER] = "no NVIDIA driver on this machine: run where nvidia-smi lists GPUs",
        [NO_GPU] = "the NVIDIA driver sees no GPU: run where nvidia-smi lists some "
                   "(CUDA_VISIBLE_DEVICES may hide them)",
    };
    for (size_t i = 0; i < COUNT(other_devices); i++)
        if (!access(other_devices[i], F_OK))
            answer = SOME;
    if (answer < 0) {
        int status = family_apart(ask_driver, NULL);
        answer = status >= 0 && WIFEXITED(status) ? WEXITSTATUS(status) : SOME;
    }
    return (size_t)answer < COUNT(why) ? why[answer] : NULL;
}

/* ---- this machine, its environment and its batch job ---- */

/* the variable is not empty */
static bool here_is_set(const char *variable)
{
    const char *value = getenv(variable);
    return value && *value;
}

/* this is a job of Slurm or another batch system */
static bool here_in_allocation(void)
{
    static const char *const variables[] = {"SLURM_JOB_ID", "PBS_NODEFILE", "LSB_HOSTS",
                                            "PE_HOSTFILE"};
    for (size_t i = 0; i < COUNT(variables); i++)
        if (here_is_set(variables[i]))
            return true;
    return false;
}

/* all ranks run on this machine */
static bool here_alone(const struct set_launch *set)
{
    return !*set->hosts && set->nodes <= 1 && !here_in_allocation();
}

/* Processors that this process may use; a container or taskset may allow fewer than exist. */
static long here_slots(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        return CPU_COUNT(&set);
    return sysconf(_SC_NPROCESSORS_ONLN);
}

/* Path of gradsync-rank, freed by the caller: in the program's folder or ../libexec/gradsync. NULL:
 * not found, GS_CANNOT reported. */
static char *here_rank_program(void)
{
    static const char *const places[] = {"gradsync-rank", "../libexec/gradsync/gradsync-rank"};
    for (size_t i = 0; i < COUNT(places); i++) {
        char *path = xstrfmt("%s/%s", program_dir(), places[i]);
        if (program_runs(path))
            return path;
        free(path);
    }
    fail(GS_CANNOT,
         "gradsync-rank is neither in %s nor in ../libexec/gradsync; build it with make all on a "
         "machine with Open MPI",
         program_dir());
    return NULL;
}

/* ---- the options of mpirun and srun ---- */

static void add_all(struct words *w, const char *const *words)
{
    for (; *words; words++)
        words_add(w, *words);
}

/* These values leave the binding to the launcher. */
static const char *launchers_binding(const char *bind)
{
    return !strcmp(bind, "gpu") || !strcmp(bind, "auto") ? "none" : bind;
}

/* ---- mpirun ---- */

/* Writes "a, b:4" as "a:2,b:4": a host without a count gets its share of the ranks. */
static void add_hosts(struct words *argv, const struct set_launch *set)
{
    AUTO_WORDS struct words hosts = {0};
    AUTO_TEXT struct text t = {0};
    words_split(&hosts, set->hosts, ',');
    int64_t share = (set->ranks + (int64_t)hosts.n - 1) / (int64_t)hosts.n;
    for (size_t i = 0; i < hosts.n; i++) {
        text_addf(&t, "%s%s", i ? "," : "", hosts.v[i]);
        if (!strchr(hosts.v[i], ':'))
            text_addf(&t, ":%lld", (long long)share);
    }
    words_add(argv, t.s);
}

/* Ranks on other hosts start with an empty environment, so tuning variables are passed by name. */
static void add_environment(struct words *argv)
{
    static const char *const taken[] = {"GRADSYNC_", "NCCL_",         "UCX_",
                                        "CUDA_",     "OPENBLAS_NUM_", "LD_LIBRARY_PATH="};
    for (char **e = environ; *e; e++)
        for (size_t i = 0; i < COUNT(taken); i++)
            if (!strncmp(*e, taken[i], strlen(taken[i]))) {
                words_add(argv, "-x");
                words_addf(argv, "%.*s", (int)strcspn(*e, "="), *e);
            }
}

/* Adds the options to argv, after the program's name. `scratch`: folder for MPI's temporary files if
 * all ranks are on this machine; NULL: MPI's default. */
static void add_mpirun(struct words *argv, const struct set_launch *set, const char *scratch)
{
    if (geteuid() == 0)
        words_add(argv, "--allow-run-as-root");
    add_all(argv, (const char *const[]){"--bind-to", launchers_binding(set->bind), "-n", NULL});
    words_addf(argv, "%lld", (long long)set->ranks);
    if (set->oversubscribe)
        words_add(argv, "--oversubscribe");
    if (set->nodes > 1 && set->ranks % set->nodes == 0) {
        words_add(argv, "--map-by");
        words_addf(argv, "ppr:%lld:node", (long long)(set->ranks / set->nodes));
    }
    if (*set->hosts) {
        words_add(argv, "--host");
        add_hosts(argv, set);
    } else if (here_alone(set) && !set->oversubscribe) {
        /* mpirun counts cores as slots; gradsync counts processors, and has checked them. */
        words_add(argv, "--host");
        words_addf(argv, "localhost:%lld", (long long)set->ranks);
    }
    if (!here_alone(set))
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
    for (size_t i = 0; i < COUNT(names); i++)
        if (!strcmp(names[i].ours, bind))
            return names[i].theirs;
    return launchers_binding(bind);
}

static void add_srun(struct words *argv, const struct set_launch *set)
{
    add_all(argv, (const char *const[]){"--mpi=pmix", "--kill-on-bad-exit=1", "-n", NULL});
    words_addf(argv, "%lld", (long long)set->ranks);
    words_add(argv, "-N");
    words_addf(argv, "%lld", (long long)(set->nodes > 1 ? set->nodes : 1));
    words_addf(argv, "--cpu-bind=%s", srun_binding(set->bind));
    if (set->oversubscribe)
        words_add(argv, "--overcommit");
    if (*set->hosts)
        words_addf(argv, "--nodelist=%s", set->hosts);
}

/* ---- the choice ---- */

/* The build chose MPI_HOME, so another mpirun in PATH does not replace it. */
static char *find_mpirun(void)
{
    if (!here_is_set("MPI_HOME"))
        return program_find("mpirun");
    char *path = xstrfmt("%s/bin/mpirun", getenv("MPI_HOME"));
    if (program_runs(path))
        return path;
    free(path);
    return NULL;
}

/* In the order of the choices of `launcher` in settings_tables.c. */
enum { AUTO, MPIRUN, SRUN };

/* ---- what can be started here ---- */

bool launcher_binds_to_gpus(const struct plan *p)
{
    const char *bind = p->set.launch.bind;
    return !strcmp(bind, "gpu") || (!strcmp(bind, "auto") && p->set.platform.device[0]);
}

static int refuse(const struct config *c, const char *key, const char *why)
{
    const struct config_entry *e = config_find(c, "launch", key);
    return e ? config_error(e, "%s", why) : fail_at(GS_USAGE, c->path, 0, "%s", why);
}

int launcher_check_slots(const struct plan *p)
{
    const struct set_launch *set = &p->set.launch;
    char why[256];
    if (set->nodes > 1 && !*set->hosts && !here_in_allocation()) {
        snprintf(why, sizeof why,
                 "%lld nodes, but no hosts are named and this is not a batch job; set hosts = a, b "
                 "in [launch], or submit the run",
                 (long long)set->nodes);
        return refuse(p->config, "nodes", why);
    }
    if (here_alone(set) && !set->oversubscribe && set->ranks > here_slots()) {
        snprintf(why, sizeof why,
                 "%lld ranks, but this machine has %ld slots (processors); set oversubscribe = yes "
                 "in [launch], or fewer ranks",
                 (long long)set->ranks, here_slots());
        refuse(p->config, "ranks", why);
        return GS_CANNOT;
    }
    return GS_OK;
}

int launcher_check_gpus(struct plan **plans, size_t *n)
{
    size_t all = *n, kept = 0;
    int code = GS_OK;
    AUTO_FREE struct plan **lacking = xcalloc(all, sizeof *lacking);
    for (size_t i = 0; i < all; i++) {
        struct plan *p = plans[i];
        /* Cells that also accept host memory may run on the host (backend = auto of iter_proxy), unless
         * the platform names a device. */
        struct plan_cost cost = plan_cost(p);
        bool lacks = cost.device_B && (!cost.host_B || p->set.platform.device[0]) &&
                     here_alone(&p->set.launch) && gpus_here_missing();
        *(lacks ? &lacking[i - kept] : &plans[kept++]) = p;
    }
    *n = kept;
    if (kept < all) {
        const struct plan *first = lacking[0];
        size_t more = all - kept - 1;
        AUTO_FREE char *others =
            more ? xstrfmt(" and %zu more section%s", more, more == 1 ? "" : "s") : xstrdup("");
        code =
            fail_at(GS_CANNOT, first->config->path,
                    config_section(first->config, first->section)->line, "[%s]%s need%s a GPU: %s",
                    first->section, others, more ? "" : "s", gpus_here_missing());
    }
    for (size_t i = 0; i < all - kept; i++)
        plan_free(lacking[i]);
    return code;
}

/* ---- the command ---- */

static void add_split(struct words *w, const char *text)
{
    for (;;) {
        text += strspn(text, " \t");
        size_t n = strcspn(text, " \t");
        if (!n)
            return;
        words_addf(w, "%.*s", (int)n, text);
        text += n;
    }
}

int launcher_command(const struct plan *p, const char *scratch, const char *const *rank_args,
                     char ***argv)
{
    const struct set_launch *set = &p->set.launch;
    struct words w = {0};
    CHECK(launcher_check_slots(p));
    AUTO_FREE char *rank = here_rank_program(), *in_slurm = program_find("srun");
    const bool may_srun =
        set->launcher == AUTO && here_is_set("SLURM_JOB_ID") && !here_is_set("MPI_HOME");
    const bool srun = set->launcher == SRUN || (may_srun && in_slurm);
    AUTO_FREE char *mpirun = srun ? NULL : find_mpirun();
    const char *program = srun ? in_slurm : mpirun;
    if (!rank)
        return GS_CANNOT;
    if (!program)
        return srun ? fail(GS_CANNOT, "no srun in PATH: run inside a Slurm allocation (sbatch, "
                                      "salloc), or set launcher = mpirun")
                    : fail(GS_CANNOT,
                           "no mpirun in %s%s: install Open MPI (apt install openmpi-bin), or set "
                           "MPI_HOME to where it is",
                           here_is_set("MPI_HOME") ? "MPI_HOME=" : "PATH",
                           here_is_set("MPI_HOME") ? getenv("MPI_HOME") : "");
    words_add(&w, program);
    if (srun)
        add_srun(&w, set);
    else
        add_mpirun(&w, set, scratch);
    add_split(&w, set->args);
    add_split(&w, set->prefix);
    words_add(&w, rank);
    for (; *rank_args; rank_args++)
        words_add(&w, *rank_args);
    *argv = w.v;
    return GS_OK;
}

void launcher_free(char **argv)
{
    for (char **a = argv; a && *a; a++)
        free(*a);
    free(argv);
}

int launcher_check(const struct plan *p)
{
    AUTO(launcher_free_of) char **argv = NULL;
    return launcher_command(p, NULL, (const char *const[]){NULL}, &argv);
}

/* Variables that launchers set in ranks. Slurm also sets SLURM_PROCID in a batch script, which is not
 * a rank: PMIX_RANK tells the two apart. A step of one task is an interactive shell. */
int launcher_refuse_ranks(const char *verb)
{
    static const struct {
        const char *rank, *ranks;
        int least; /* ranks */
    } variables[] = {
        {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", 1},
        {"PMIX_RANK", "SLURM_STEP_NUM_TASKS", 2},
        {"PMIX_RANK", "PMIX_SIZE", 2},
    };
    for (size_t i = 0; i < COUNT(variables); i++) {
        const char *rank = getenv(variables[i].rank), *ranks = getenv(variables[i].ranks);
        if (!rank || !ranks || atoi(ranks) < variables[i].least)
            continue;
        return atoi(rank)
                   ? GS_USAGE /* rank 0 reports */
                   : fail(GS_USAGE,
                          "%s: starts its ranks itself: run it once, without mpirun or srun", verb);
    }
    return GS_OK;
}
