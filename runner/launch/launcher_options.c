/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/launcher_options.h"

#include "launch/launcher_here.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

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

const char *launcher_mpirun_binding(const char *bind)
{
    static const char *const words[] = {"auto",   "gpu",     "none",    "hwthread",
                                        "core",   "l1cache", "l2cache", "l3cache",
                                        "socket", "package", "numa",    "board"};
    const size_t count = sizeof words / sizeof *words;
    AUTO_FREE char *word = xstrfmt("%.*s", (int)strcspn(bind, ":"), bind);
    const char *near = text_nearest(word, words, count);
    for (size_t i = 0; i < count; i++)
        near = strcasecmp(word, words[i]) ? near : NULL;
    return near;
}

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
        for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
            if (!strncmp(*e, taken[i], strlen(taken[i]))) {
                words_add(argv, "-x");
                words_addf(argv, "%.*s", (int)strcspn(*e, "="), *e);
            }
}

void launcher_mpirun_options(struct words *argv, const struct set_launch *set, const char *scratch)
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
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(names[i].ours, bind))
            return names[i].theirs;
    return launchers_binding(bind);
}

void launcher_srun_options(struct words *argv, const struct set_launch *set, const char *scratch)
{
    (void)scratch;
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
