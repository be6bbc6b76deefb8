/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/joined.h"

#include "base/err.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE_S 60
#define LOOK_NS 20000000L

/* Variables that launchers set in ranks. Slurm also sets SLURM_PROCID in a batch script, which is not
 * a rank: PMIX_RANK tells the two apart. A step of one task is an interactive shell. */
static const struct {
    const char *rank, *ranks, *job;
    int least; /* ranks */
} launchers[] = {
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_MCA_orte_precondition_transports", 1},
    {"PMIX_RANK", "SLURM_STEP_NUM_TASKS", "PMIX_NAMESPACE", 2},
    {"PMIX_RANK", "PMIX_SIZE", "PMIX_NAMESPACE", 2},
};

bool joined_find(struct joined *j)
{
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++) {
        const char *rank = getenv(launchers[i].rank), *ranks = getenv(launchers[i].ranks);
        const char *job = getenv(launchers[i].job);
        if (!rank || !ranks || !job || atoi(ranks) < launchers[i].least)
            continue;
        *j = (struct joined){.rank = atoi(rank), .ranks = atoi(ranks), .job = job};
        return true;
    }
    return false;
}

static char *file_of(const struct joined *j, const char *place)
{
    struct text t = {0};
    text_addf(&t, "%s/.join-", place);
    for (const char *s = j->job; *s; s++)
        text_addn(&t, *s == '/' ? "-" : s, 1);
    return t.s;
}

int joined_tell(const struct joined *j, const char *place, const struct assignment *a)
{
    AUTO_FREE char *path = file_of(j, place), *temp = xstrfmt("%s.new", path);
    FILE *f = fopen(temp, "w");
    int bad =
        !f || fprintf(f, "%d %d %d %s\n", a->code, a->launch, a->attempt, a->dir ? a->dir : "") < 0;
    int error = errno;
    if (f && fclose(f)) {
        bad = 1;
        error = errno;
    }
    if (!bad && rename(temp, path)) {
        bad = 1;
        error = errno;
    }
    return bad ? fail_at(GS_FAILED, path, 0,
                         "rank 0 cannot send the assignment to the other ranks: %s",
                         strerror(error))
               : GS_OK;
}

static bool parse(const char *s, struct assignment *a)
{
    int at = 0;
    if (sscanf(s, "%d %d %d %n", &a->code, &a->launch, &a->attempt, &at) != 3 || !at)
        return false;
    a->dir = xstrfmt("%.*s", (int)strcspn(s + at, "\n"), s + at);
    return true;
}

int joined_ask(const struct joined *j, const char *place, const char *over, struct assignment *a)
{
    AUTO_FREE char *path = file_of(j, place);
    AUTO_TEXT struct text t = {0};
    bool told = false;
    *a = (struct assignment){0};
    for (long ns = 0; !told && ns < PATIENCE_S * 1000000000L; ns += LOOK_NS) {
        told = (text_read_file(path, &t) && parse(t.s, a)) || (over && !access(over, F_OK));
        if (!told)
            nanosleep(&(struct timespec){.tv_nsec = LOOK_NS}, NULL);
    }
    return told ? GS_OK
                : fail_at(GS_CANNOT, place, 0,
                          "rank %d received nothing from rank 0 through this folder for %d s; "
                          "all ranks must see the same folder",
                          j->rank, PATIENCE_S);
}

void joined_forget(const struct joined *j, const char *place)
{
    AUTO_FREE char *path = file_of(j, place);
    unlink(path);
}
