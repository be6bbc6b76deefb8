/* SPDX-License-Identifier: Apache-2.0
 *
 * NCCL, pretended (pretend.h).
 */
#include "pretend.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct communicator {
    char algorithm[32]; /* the NCCL_ALGO that it was made with */
    char id[64];
    int rank, ranks, moves;
    int silent;
};
static struct communicator made_communicators[64];
static int communicators;

SUCCEEDS(ncclGroupStart)
SUCCEEDS(ncclGroupEnd)
SUCCEEDS(ncclCommDestroy)
SUCCEEDS(ncclCommAbort)

int ncclMemAlloc(void **p, size_t bytes)
{
    return cudaMalloc(p, bytes) == SUCCESS ? SUCCESS : NCCL_CUDA_ERROR;
}

int ncclMemFree(void *p)
{
    return cudaFree(p);
}

int ncclGetVersion(int *version)
{
    *version = number("PRETEND_NCCL", 22803);
    return SUCCESS;
}

/* ncclConfig_t of NCCL 2.27 and later, up to what is read here. */
struct config {
    size_t size;
    unsigned magic, version;
    int blocking, cga_size, least_ctas, most_ctas;
    const char *net;
    int split, traffic;
    const char *name;
    int collnet, policy;
};

struct unique_id {
    char text[128];
};

int ncclGetUniqueId(struct unique_id *id)
{
    snprintf(id->text, sizeof id->text, "%d-%ld-%d", this_gpu, (long)getpid(), communicators);
    return SUCCESS;
}

int ncclCommInitRankConfig(struct communicator **comm, int ranks, struct unique_id id, int rank,
                           const struct config *config)
{
    const char *algorithm = getenv("NCCL_ALGO");
    struct communicator *made = &made_communicators[communicators++ % 64];
    *made = (struct communicator){.rank = rank, .ranks = ranks};
    snprintf(made->algorithm, sizeof made->algorithm, "%s", algorithm ? algorithm : "");
    snprintf(made->id, sizeof made->id, "%.63s", id.text);
    *comm = made;
    int from, to;
    const char *silent = getenv("PRETEND_SILENT");
    made->silent = silent && sscanf(silent, "%d %d", &from, &to) == 2 && from == atoi(id.text) &&
                   to == this_gpu && ranks == 2;
    return made->silent ? NCCL_IN_PROGRESS : SUCCESS;
}

/* ---- data that moves: a file that its reader removes ---- */

enum { PATIENCE = 20000 }; /* ms */

static void name_of(char *path, size_t n, const struct communicator *c, int from, int to)
{
    snprintf(path, n, "/dev/shm/pretended-%s-%d-%d-%d", c->id, c->moves, from, to);
}

static int put(const struct communicator *c, int to, const float *x, size_t n)
{
    char path[160], part[176];
    name_of(path, sizeof path, c, c->rank, to);
    snprintf(part, sizeof part, "%s.part", path);
    FILE *f = fopen(part, "wb");
    int good = f && fwrite(x, sizeof *x, n, f) == n;
    return f && fclose(f) == 0 && good && rename(part, path) == 0 ? SUCCESS : NCCL_REMOTE_ERROR;
}

static int get(const struct communicator *c, int from, float *x, size_t n, int add)
{
    char path[160];
    FILE *f = NULL;
    name_of(path, sizeof path, c, from, c->rank);
    for (int ms = 0; ms < PATIENCE && !(f = fopen(path, "rb")); ms++)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    float *come = malloc(n * sizeof *come);
    int good = f && come && fread(come, sizeof *come, n, f) == n;
    for (size_t i = 0; good && i < n; i++)
        x[i] = add ? x[i] + come[i] : come[i];
    if (f)
        fclose(f);
    unlink(path);
    free(come);
    return good ? SUCCESS : NCCL_REMOTE_ERROR;
}

/* One operation, or a node of the graph that is being captured. */
static int queue(const struct communicator *c)
{
    const char *refused = getenv("PRETEND_REFUSES");
    if (refused && !strcmp(c->algorithm, refused))
        return NCCL_INVALID_USAGE;
    if (captured < 0)
        run_operations(1);
    else
        captured++;
    return SUCCESS;
}

int ncclReduce(const float *in, float *out, size_t n, int type, int op, int root,
               struct communicator *c)
{
    int result = SUCCESS;
    (void)type, (void)op;
    if (captured >= 0)
        return queue(c);
    if (c->rank != root)
        result = put(c, root, in, n);
    else if (in != out)
        memcpy(out, in, n * sizeof *out);
    for (int r = 0; c->rank == root && r < c->ranks && result == SUCCESS; r++)
        result = r == root ? SUCCESS : get(c, r, out, n, 1);
    c->moves++;
    run_operations(1);
    return result;
}

int ncclBroadcast(const float *in, float *out, size_t n, int type, int root, struct communicator *c)
{
    int result = SUCCESS;
    (void)type;
    if (captured >= 0)
        return queue(c);
    for (int r = 0; c->rank == root && r < c->ranks && result == SUCCESS; r++)
        result = r == root ? SUCCESS : put(c, r, in, n);
    if (c->rank != root)
        result = get(c, root, out, n, 0);
    c->moves++;
    run_operations(1);
    return result;
}

/* A kernel fails, which the call that queues it does not see. */
static void look_for_failure(const struct communicator *c, size_t n)
{
    char algorithm[32];
    size_t elements;
    int gpu, after;
    static int done;
    const char *keeps = getenv("PRETEND_KEEPS");
    if (keeps && sscanf(keeps, "%31s %zu %d %d", algorithm, &elements, &gpu, &after) == 4 &&
        !strcmp(c->algorithm, algorithm) && n == elements && gpu == this_gpu && ++done >= after)
        kept = ILLEGAL_ADDRESS;
}

int ncclAllReduce(const void *in, void *out, size_t n, int type, int op,
                  const struct communicator *comm, void *stream)
{
    (void)in, (void)out, (void)type, (void)op, (void)stream;
    look_for_failure(comm, n);
    return queue(comm);
}

int ncclReduceScatter(const void *in, void *out, size_t n, int type, int op,
                      const struct communicator *comm, void *stream)
{
    return ncclAllReduce(in, out, n, type, op, comm, stream);
}

int ncclAllGather(const void *in, void *out, size_t n, int type, const struct communicator *comm)
{
    (void)in, (void)out, (void)n, (void)type;
    return queue(comm);
}

int ncclCommGetAsyncError(const struct communicator *comm, int *error)
{
    *error = dead() ? NCCL_REMOTE_ERROR : comm && comm->silent ? NCCL_IN_PROGRESS : SUCCESS;
    return SUCCESS;
}

const char *ncclGetLastError(void *comm)
{
    (void)comm;
    return "";
}
