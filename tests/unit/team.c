/* SPDX-License-Identifier: Apache-2.0 */
#include "team.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

struct shared {
    pthread_barrier_t barrier;
    uint8_t data[65536];
};

struct member {
    struct shared *shared;
    int rank;
};

static void barrier(void *ctx)
{
    pthread_barrier_wait(&((struct member *)ctx)->shared->barrier);
}

static void bcast(void *ctx, void *buf, size_t bytes, int root)
{
    struct member *m = ctx;
    if (bytes > sizeof m->shared->data)
        _exit(99);
    if (m->rank == root)
        memcpy(m->shared->data, buf, bytes);
    barrier(ctx);
    memcpy(buf, m->shared->data, bytes);
    barrier(ctx);
}

static void be(struct shared *shared, int rank, int ranks, int nodes, unsigned timeout_s,
               team_body *body, void *arg)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    alarm(timeout_s);
    struct member m = {shared, rank};
    struct wl_host host = {.size = sizeof host,
                           .rank = rank,
                           .ranks = ranks,
                           .local_rank = rank,
                           .local_ranks = ranks,
                           .node = rank % nodes,
                           .nodes = nodes,
                           .ctx = &m,
                           .barrier = barrier,
                           .bcast = bcast};
    barrier(&m);
    int status = body(&host, arg);
    fflush(NULL);
    _exit(status);
}

bool team_run(int ranks, int nodes, unsigned timeout_s, team_body *body, void *arg, int *exits)
{
    struct shared *shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pthread_barrierattr_t attr;
    if (shared == MAP_FAILED)
        return false;
    pthread_barrierattr_init(&attr);
    pthread_barrierattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
    pthread_barrier_init(&shared->barrier, &attr, (unsigned)ranks);
    pid_t pids[TEAM_MAX];
    fflush(NULL);
    for (int r = 0; r < ranks; r++)
        if ((pids[r] = fork()) == 0)
            be(shared, r, ranks, nodes, timeout_s, body, arg);
    bool all = true;
    for (int r = 0; r < ranks; r++) {
        int status = 0;
        waitpid(pids[r], &status, 0);
        int code = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
        if (exits)
            exits[r] = code;
        all = all && code == 0;
    }
    munmap(shared, sizeof *shared);
    return all;
}
