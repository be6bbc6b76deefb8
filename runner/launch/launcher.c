/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/launcher.h"

#include "base/err.h"
#include "base/program_dir.h"
#include "base/text.h"
#include "launch/gpus_here.h"
#include "launch/launcher_here.h"
#include "launch/launcher_options.h"
#include "launch/numa.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct launcher {
    const char *name;
    char *(*find)(void); /* path of the program, freed by the caller; NULL: not on this machine */
    void (*options)(struct words *argv, const struct set_launch *set, const char *scratch);
    const char *remedy;
};

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

static char *find_srun(void)
{
    return program_find("srun");
}

/* In the order of the choices of `launcher` in settings_tables.c, after "auto". */
static const struct launcher launchers[] = {
    {"mpirun", find_mpirun, launcher_mpirun_options,
     "install Open MPI (apt install openmpi-bin), or set MPI_HOME to where it is"},
    {"srun", find_srun, launcher_srun_options,
     "run inside a Slurm allocation (sbatch, salloc), or set launcher = mpirun"},
};
enum { AUTO, MPIRUN, SRUN };

static const struct launcher *choose(const struct set_launch *set)
{
    if (set->launcher != AUTO)
        return &launchers[set->launcher - 1];
    AUTO_FREE char *srun =
        here_is_set("SLURM_JOB_ID") && !here_is_set("MPI_HOME") ? find_srun() : NULL;
    return &launchers[(srun ? SRUN : MPIRUN) - 1];
}

/* ---- what can be started here ---- */

bool launcher_binds_to_gpus(const struct plan *p)
{
    const char *bind = p->set.launch.bind;
    return !strcmp(bind, "gpu") ||
           (!strcmp(bind, "auto") && p->set.platform.device[0] && numa_here());
}

static int refuse(const struct config *c, const char *key, const char *why)
{
    const struct config_entry *e = config_find(c, "launch", key);
    return e ? config_error(e, "%s", why) : fail_at(GS_USAGE, c->path, 0, "%s", why);
}

int launcher_check_binding(const struct config *c, const struct set_launch *set)
{
    char why[256];
    const char *near =
        choose(set) == &launchers[MPIRUN - 1] ? launcher_mpirun_binding(set->bind) : NULL;
    if (!near)
        return GS_OK;
    snprintf(why, sizeof why, "mpirun does not bind to '%.80s'%s", set->bind, DID_YOU_MEAN(near));
    return refuse(c, "bind", why);
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
    if (!strcmp(set->bind, "gpu") && !numa_here())
        return refuse(p->config, "bind",
                      "gpu needs hwloc, and this gradsync was built without it; "
                      "install libhwloc-dev and run make, or set bind = numa");
    if (launcher_check_binding(p->config, set))
        return GS_USAGE;
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

static int no_gpu(const struct plan *first, size_t more, const char *why)
{
    char others[48] = "";
    if (more)
        snprintf(others, sizeof others, " and %zu more section%s", more, more == 1 ? "" : "s");
    const struct config_entry *e = config_find(first->config, first->section, "backend");
    bool file = !e || e->line; /* else the command line asks for GPUs */
    AUTO_FREE char *set = file ? NULL : xstrfmt("--set %s:%s=%s", e->section, e->key, e->value);
    return fail_at(GS_CANNOT, file ? first->config->path : set,
                   file ? config_section(first->config, first->section)->line : 0,
                   "[%s]%s need%s a GPU: %s", first->section, others, more ? "" : "s", why);
}

/* True for device memory only, or if the platform names a device. Otherwise cells that also accept
 * host memory may run on the host (backend = auto of iter_proxy). */
static bool needs_gpu(const struct plan *p)
{
    struct plan_cost cost = plan_cost(p);
    return cost.device_B && (!cost.host_B || p->set.platform.device[0]);
}

int launcher_check_gpus(struct plan **plans, size_t *n)
{
    size_t all = *n, kept = 0;
    int code = GS_OK;
    AUTO_FREE struct plan **lacking = xcalloc(all, sizeof *lacking);
    for (size_t i = 0; i < all; i++) {
        struct plan *p = plans[i];
        bool lacks = needs_gpu(p) && here_alone(&p->set.launch) && gpus_here_missing();
        *(lacks ? &lacking[i - kept] : &plans[kept++]) = p;
    }
    *n = kept;
    if (kept < all)
        code = no_gpu(lacking[0], all - kept - 1, gpus_here_missing());
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

int launcher_command_in(const struct plan *p, const char *scratch, const char *const *rank_args,
                        char ***argv)
{
    const struct set_launch *set = &p->set.launch;
    const struct launcher *l = choose(set);
    struct words w = {0};
    int code = launcher_check_slots(p);
    if (code)
        return code;
    AUTO_FREE char *rank = here_rank_program(), *program = rank ? l->find() : NULL;
    if (!rank)
        return GS_CANNOT;
    if (!program)
        return fail(GS_CANNOT, "no %s in %s%s: %s", l->name,
                    here_is_set("MPI_HOME") ? "MPI_HOME=" : "PATH",
                    here_is_set("MPI_HOME") ? getenv("MPI_HOME") : "", l->remedy);
    words_add(&w, program);
    l->options(&w, set, scratch);
    add_split(&w, set->args);
    add_split(&w, set->prefix);
    words_add(&w, rank);
    for (; *rank_args; rank_args++)
        words_add(&w, *rank_args);
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
    AUTO(launcher_free_of) char **argv = NULL;
    return launcher_command(p, (const char *const[]){NULL}, &argv);
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
