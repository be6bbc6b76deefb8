/* SPDX-License-Identifier: Apache-2.0 */
#include "rank/place.h"

#include <stdlib.h>
#include <unistd.h>

/* Open MPI's variables first: under srun its ranks have Slurm's variables too. */
static const struct {
    const char *rank, *ranks, *local_rank;
} launchers[] = {
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"},
    {"PMIX_RANK", "PMIX_SIZE", "PMIX_LOCAL_RANK"},
    {"PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID"},
    {"SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID"},
};

static int number(const char *variable, int otherwise)
{
    const char *text = getenv(variable);
    return text ? atoi(text) : otherwise;
}

void place_find(struct rank_place *p)
{
    *p = (struct rank_place){.rank = 0, .ranks = 1, .local_rank = 0};
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++)
        if (getenv(launchers[i].rank)) {
            p->rank = number(launchers[i].rank, 0);
            p->ranks = number(launchers[i].ranks, number("SLURM_NTASKS", 1));
            p->local_rank = number(launchers[i].local_rank, number("SLURM_LOCALID", 0));
            break;
        }
    if (gethostname(p->host, sizeof p->host - 1))
        p->host[0] = '\0';
}
