/* SPDX-License-Identifier: Apache-2.0
 *
 * Preloaded before CUDA's and NCCL's libraries, pretends a machine that is not here, as far as a
 * GPU plugin looks at it: opening it, and operations (collectives, in graphs too, and GEMMs), one
 * after the other whatever their streams, that each take 10 us and are right. Reductions to a rank
 * and broadcasts really move their data between the ranks, as files in /dev/shm.
 *
 * Linked under the driver's name (-Wl,-soname,libcuda.so.1), it answers for the driver as well.
 *
 *   PRETEND_GPUS     how many, each with an address of its own; 2
 *   PRETEND_DRIVER   the CUDA of its driver, as cudaDriverGetVersion says it; given, it is too old
 *   PRETEND_NCCL     as ncclGetVersion says it
 *   PRETEND_NO_PEER  the GPUs do not reach each other
 *   PRETEND_MEMORY   of a GPU, in MiB; 1024
 *   PRETEND_ERROR    that the GPUs fail to start with
 *   PRETEND_REFUSES  the NCCL_ALGO that NCCL has not
 *   PRETEND_NO_COPIES  NCCL uses no copy engines, whatever the CTA policy
 *   PRETEND_DEAD     a peer dies when so many operations are queued
 *   PRETEND_SLOW     "2 1.3": operations take 1.3 times as long on GPU 2; -1: on every GPU
 *   PRETEND_SILENT   "1 2": a communicator that GPU 1 began never connects on GPU 2
 */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { SUCCESS = 0, OUT_OF_MEMORY = 2, INSUFFICIENT_DRIVER = 35, NOT_READY = 600 };
enum { NCCL_CUDA_ERROR = 1, NCCL_INVALID_USAGE = 5, NCCL_REMOTE_ERROR = 6, NCCL_IN_PROGRESS = 7 };
#define OPERATION_MS 0.01f
#define MIB ((size_t)1 << 20)

/* What it must know of its past: the operations queued are a clock. */
static int operations;
static int captured = -1; /* -1: no graph is being captured */
static int captured_policy;
struct communicator {
    char algorithm[32]; /* the NCCL_ALGO that it was made with */
    char id[64];
    int rank, ranks, moves;
    int policy; /* the CTA policy that it was made with */
    int silent;
};
static struct communicator made_communicators[64];
static int communicators;
static size_t used; /* bytes of device memory */

static void run_operations(int n)
{
    struct timespec t = {.tv_nsec = n * (long)(OPERATION_MS * 1e6f)};
    nanosleep(&t, NULL);
    operations += n;
}

static int number(const char *name, int otherwise)
{
    const char *text = getenv(name);
    return text ? atoi(text) : otherwise;
}

/* Calls that do nothing here but succeed, whatever they are given. */
#define SUCCEEDS(name)                                                                             \
    int name(void)                                                                                 \
    {                                                                                              \
        return SUCCESS;                                                                            \
    }
SUCCEEDS(cudaStreamDestroy)
SUCCEEDS(cudaStreamSynchronize)
SUCCEEDS(cudaMemset)
SUCCEEDS(cudaMemsetAsync)
SUCCEEDS(cudaEventDestroy)
SUCCEEDS(cudaGetLastError)
SUCCEEDS(cudaStreamWaitEvent)
SUCCEEDS(cudaGraphUpload)
SUCCEEDS(cudaGraphDestroy)
SUCCEEDS(cudaGraphExecDestroy)
SUCCEEDS(__cudaLaunchKernel)
SUCCEEDS(__cudaGetKernel)
SUCCEEDS(cublasCreate_v2)
SUCCEEDS(cublasDestroy_v2)
SUCCEEDS(cublasSetStream_v2)
SUCCEEDS(cublasSetWorkspace_v2)
SUCCEEDS(ncclGroupStart)
SUCCEEDS(ncclGroupEnd)
SUCCEEDS(ncclCommWindowDeregister)
SUCCEEDS(ncclCommDestroy)
SUCCEEDS(ncclCommAbort)

static int this_gpu;
int cudaSetDevice(int device)
{
    this_gpu = device;
    return SUCCESS;
}

static float operation_ms(void)
{
    int gpu;
    float factor;
    const char *slow = getenv("PRETEND_SLOW");
    return slow && sscanf(slow, "%d %f", &gpu, &factor) == 2 && (gpu < 0 || gpu == this_gpu)
               ? OPERATION_MS * factor
               : OPERATION_MS;
}

int cudaDriverGetVersion(int *version)
{
    *version = number("PRETEND_DRIVER", 99000);
    return SUCCESS;
}

int cudaGetDeviceCount(int *n)
{
    *n = number("PRETEND_GPUS", 2);
    return getenv("PRETEND_DRIVER") ? INSUFFICIENT_DRIVER : SUCCESS;
}

/* The driver's own, which are asked before anything is started. */
SUCCEEDS(cuInit)
int cuDeviceGetCount(int *n)
{
    *n = number("PRETEND_GPUS", 2);
    return SUCCESS;
}

int cudaDeviceGetAttribute(int *value, int attribute, int device)
{
    (void)attribute;
    (void)device;
    *value = 1 << 20;
    return SUCCESS;
}

int cudaDeviceCanAccessPeer(int *can, int device, int peer)
{
    *can = device != peer && !getenv("PRETEND_NO_PEER");
    return SUCCESS;
}

int cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
    *least = *greatest = 0;
    return SUCCESS;
}

int cudaStreamCreateWithPriority(void **stream, unsigned flags, int priority)
{
    (void)flags;
    (void)priority;
    *stream = stream;
    return SUCCESS;
}

int cudaDeviceGetPCIBusId(char *text, int size, int device)
{
    snprintf(text, (size_t)size, "0000:%02x:00.0", device + 1);
    return SUCCESS;
}

static size_t all_memory(void)
{
    return (size_t)number("PRETEND_MEMORY", 1024) * MIB;
}

/* Untouched pages cost nothing, so that large buffers are no burden here. */
int cudaMalloc(void **p, size_t bytes)
{
    *p = used + bytes > all_memory() ? NULL : calloc(1, bytes);
    if (!*p)
        return OUT_OF_MEMORY;
    used += malloc_usable_size(*p);
    return SUCCESS;
}

int cudaFree(void *p)
{
    used -= malloc_usable_size(p);
    free(p);
    return p ? SUCCESS : number("PRETEND_ERROR", SUCCESS);
}

int cudaMemGetInfo(size_t *available, size_t *total)
{
    *total = all_memory();
    *available = *total - used;
    return SUCCESS;
}

int cudaMallocHost(void **p, size_t bytes)
{
    *p = calloc(1, bytes);
    return *p ? SUCCESS : OUT_OF_MEMORY;
}

int cudaFreeHost(void *p)
{
    free(p);
    return SUCCESS;
}

int ncclMemAlloc(void **p, size_t bytes)
{
    return cudaMalloc(p, bytes) == SUCCESS ? SUCCESS : NCCL_CUDA_ERROR;
}

int ncclMemFree(void *p)
{
    return cudaFree(p);
}

int cudaMemcpyAsync(void *to, const void *from, size_t bytes)
{
    memcpy(to, from, bytes);
    return SUCCESS;
}

/* An event is the number of operations queued before it. */
int cudaEventCreateWithFlags(int **event, unsigned flags)
{
    (void)flags;
    *event = calloc(1, sizeof **event);
    return *event ? SUCCESS : OUT_OF_MEMORY;
}

int cudaEventCreate(int **event)
{
    return cudaEventCreateWithFlags(event, 0);
}

int cudaEventRecord(int *event, void *stream)
{
    (void)stream;
    *event = operations;
    return SUCCESS;
}

static int dead(void)
{
    int after = number("PRETEND_DEAD", 0);
    return after && operations >= after;
}

int cudaEventQuery(const int *event)
{
    (void)event;
    return dead() ? NOT_READY : SUCCESS;
}

int cudaEventElapsedTime(float *ms, const int *from, const int *to)
{
    *ms = (float)(*to - *from) * operation_ms();
    return SUCCESS;
}

/* A graph is known by its address: the number of its operations from here. */
static char graphs[1 << 16];

int cudaStreamBeginCapture(void *stream)
{
    (void)stream;
    captured = 0;
    return SUCCESS;
}

int cudaStreamEndCapture(void *stream, char **graph)
{
    (void)stream;
    *graph = graphs + captured;
    captured = -1;
    return SUCCESS;
}

int cudaGraphInstantiateWithFlags(char **made, char *graph)
{
    *made = graph;
    return SUCCESS;
}

/* A graph has one node; under the CTA policy "zero" it copies. */
enum { ZERO_CTAS = 2, NODE_KERNEL = 0, NODE_MEMCPY = 1 };
struct kernel_node {
    const char *kernel;
    unsigned grid[3];
};

int cudaGraphGetNodes(char *graph, char **nodes, size_t *n)
{
    nodes[0] = graph;
    *n = 1;
    return SUCCESS;
}

/* The driver's: a kernel is its name. */
int cuGraphNodeGetType(const char *node, int *type)
{
    (void)node;
    *type =
        captured_policy == ZERO_CTAS && !getenv("PRETEND_NO_COPIES") ? NODE_MEMCPY : NODE_KERNEL;
    return SUCCESS;
}

int cuGraphKernelNodeGetParams_v2(const char *node, struct kernel_node *params)
{
    (void)node;
    *params = (struct kernel_node){"_Z22ncclDevKernel_SendRecv4args", {8, 1, 1}};
    return SUCCESS;
}

int cuFuncGetName(const char **name, const char *kernel)
{
    *name = kernel;
    return SUCCESS;
}

int cudaGraphLaunch(const char *made)
{
    run_operations((int)(made - graphs));
    return SUCCESS;
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
    *made = (struct communicator){.rank = rank, .ranks = ranks, .policy = config->policy};
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
    captured_policy = c->policy;
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

int ncclAllReduce(const void *in, void *out, size_t n, int type, int op,
                  const struct communicator *comm, void *stream)
{
    (void)in, (void)out, (void)n, (void)type, (void)op, (void)stream;
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

int ncclAlltoAll(const void *in, void *out, size_t n, int type, const struct communicator *comm)
{
    return ncclAllGather(in, out, n, type, comm);
}

int ncclSend(const void *in, size_t n, int type, int peer, const struct communicator *comm)
{
    (void)in, (void)n, (void)type, (void)peer;
    return queue(comm);
}

int ncclRecv(void *out, size_t n, int type, int peer, const struct communicator *comm)
{
    (void)out, (void)n, (void)type, (void)peer, (void)comm;
    return SUCCESS;
}

int ncclCommWindowRegister(void *comm, void *buffer, size_t bytes, void **window)
{
    (void)comm, (void)bytes;
    *window = buffer;
    return SUCCESS;
}

#define GEMM(name)                                                                                 \
    int name(void)                                                                                 \
    {                                                                                              \
        if (captured < 0)                                                                          \
            run_operations(1);                                                                     \
        else                                                                                       \
            captured++;                                                                            \
        return SUCCESS;                                                                            \
    }
GEMM(cublasGemmEx)
GEMM(cublasGemmStridedBatchedEx)

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
