/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/launcher_here.h"

#include "base/err.h"
#include "base/program_dir.h"
#include "base/text.h"

#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

bool here_is_set(const char *variable)
{
    const char *value = getenv(variable);
    return value && *value;
}

bool here_in_allocation(void)
{
    static const char *const variables[] = {"SLURM_JOB_ID", "PBS_NODEFILE", "LSB_HOSTS",
                                            "PE_HOSTFILE"};
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        if (here_is_set(variables[i]))
            return true;
    return false;
}

bool here_alone(const struct set_launch *set)
{
    return !*set->hosts && set->nodes <= 1 && !here_in_allocation();
}

long here_slots(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        return CPU_COUNT(&set);
    return sysconf(_SC_NPROCESSORS_ONLN);
}

char *here_rank_program(void)
{
    static const char *const places[] = {"gradsync-rank", "../libexec/gradsync/gradsync-rank"};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
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
