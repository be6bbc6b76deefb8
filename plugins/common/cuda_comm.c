/* SPDX-License-Identifier: Apache-2.0 */

#include "common/cuda_comm.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define OLDEST 21900
#define POLLS_A_LOOK 2048 /* looks at errors once in so many polls of the event */

static const char *const algorithm_env[] = {
    [NCCL_AUTO] = NULL,
    [NCCL_RING] = "Ring",
    [NCCL_TREE] = "Tree",
    [NCCL_COLLNET_DIRECT] = "CollnetDirect",
    [NCCL_COLLNET_CHAIN] = "CollnetChain",
    [NCCL_NVLS] = "NVLS",
    [NCCL_NVLS_TREE] = "NVLSTree",
    [NCCL_PAT] = "PAT",
};
static const char *const protocol_env[] = {
    [NCCL_ANY] = NULL, [NCCL_LL] = "LL", [NCCL_LL128] = "LL128", [NCCL_SIMPLE] = "Simple"};

/* Makes NCCL read its log variables again. NCCL will drop it one day: then it is NULL. */
extern void reset_log(void) __asm__("ncclResetDebugInit") __attribute__((weak));

/* WL_SKIP: this NCCL is too old. */
static enum wl_status comms_open(struct comms *c, struct gpu *gpu)
{
    *c = (struct comms){.gpu = gpu, .log.fd = -1};
    ncclResult_t e = ncclGetVersion(&c->version);
    if (e != ncclSuccess || c->version < OLDEST) {
        HOST_FAIL(gpu->host,
                  "NCCL %d.%d is too old, 2.19 is the first that can be used: install a newer one, "
                  "or build with its NCCL_HOME",
                  c->version / 10000, c->version % 10000 / 100);
        return WL_SKIP;
    }
    return WL_OK;
}

enum wl_status comms_pretend(struct comms *c, int hosts)
{
    const struct wl_host *host = c->gpu->host;
    if (c->hosts && c->hosts != hosts) {
        HOST_FAIL(host,
                  "hosts = %d after hosts = %d: NCCL reads its host id once per process, so give "
                  "each value its own section",
                  hosts, c->hosts);
        return WL_SKIP;
    }
    c->hosts = hosts;
    return WL_OK;
}

/* Taken by whoever comes first: a communicator is ended once. */
static ncclComm_t take(struct comm *comm)
{
    return atomic_exchange(&comm->nccl, NULL);
}

static void end_all(struct comms *c)
{
    for (size_t i = 0; i < c->n; i++) {
        ncclComm_t nccl = take(&c->comm[i]);
        if (nccl)
            (void)(atomic_load(&c->gpu->aborted) ? ncclCommAbort(nccl) : ncclCommDestroy(nccl));
    }
}

void comms_close(struct comms *c)
{
    end_all(c);
    c->n = 0;
}

static void comms_abort(struct comms *c)
{
    atomic_store(&c->gpu->aborted, true);
    end_all(c);
}

enum wl_status comm_judge(struct comms *c, struct comm *comm, ncclResult_t result, const char *what,
                          char *why, size_t n)
{
    if (result == ncclSuccess)
        return WL_OK;
    ncclComm_t nccl = comm ? atomic_load(&comm->nccl) : NULL;
    const char *told = ncclGetLastError(nccl), *last = told ? told : "";
    /* NCCL says that it will not, rather than that something broke. What it has no kernel for it calls an
     * internal error, unless NCCL_ALGO is set while the operation is queued. */
    bool refused = result == ncclInvalidArgument || result == ncclInvalidUsage ||
                   strstr(last, "no algorithm/protocol available");
    bool will_not = refused && !atomic_load(&c->gpu->aborted);
    snprintf(why, n, "%s: %s%s%.120s%s", what,
             will_not ? "NCCL refuses it here" : ncclGetErrorString(result), *last ? ": " : "",
             last, result == ncclRemoteError ? " (a peer died or cannot be reached)" : "");
    for (char *p = why; *p; p++)
        if (*p == '\n')
            *p = ' ';
    return will_not ? WL_SKIP : WL_FAIL;
}

enum wl_status comm_try(struct comms *c, struct comm *comm, ncclResult_t result, const char *what)
{
    char why[256];
    enum wl_status status = comm_judge(c, comm, result, what, why, sizeof why);
    if (status != WL_OK)
        HOST_FAIL(c->gpu->host, "%s", why);
    return status;
}

/* value NULL: unset. */
static void scoped_env_set(struct scoped_env *s, const char *name, const char *value)
{
    const char *before = getenv(name);
    s->name = name;
    s->before = before ? strdup(before) : NULL;
    if (value)
        setenv(name, value, 1);
    else
        unsetenv(name);
}

static void scoped_env_restore(struct scoped_env *s)
{
    if (s->before)
        setenv(s->name, s->before, 1);
    else
        unsetenv(s->name);
    free(s->before);
}

static enum wl_status make(struct comms *c, struct comm *comm, char *why, size_t n)
{
    const struct wl_host *host = c->gpu->host;
    struct scoped_env algorithm, protocol, host_id; /* NCCL reads them while it makes one */
    char id_text[48];
    ncclUniqueId id;
    ncclComm_t nccl = NULL;
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    snprintf(id_text, sizeof id_text, "gradsync-%d", host->rank * c->hosts / host->ranks);
    scoped_env_set(&algorithm, "NCCL_ALGO", algorithm_env[comm->key.algorithm]);
    scoped_env_set(&protocol, "NCCL_PROTO", protocol_env[comm->key.protocol]);
    scoped_env_set(&host_id, "NCCL_HOSTID", c->hosts > 1 ? id_text : getenv("NCCL_HOSTID"));
    ncclResult_t e = host->rank == 0 ? ncclGetUniqueId(&id) : ncclSuccess;
    enum wl_status status = comm_judge(c, NULL, e, "ncclGetUniqueId", why, n);
    status = host_agree(host, status, why);
    if (status == WL_OK) {
        host->bcast(host->ctx, &id, sizeof id, 0);
        if (comm->key.ctas)
            config.minCTAs = config.maxCTAs = comm->key.ctas;
        uint64_t start = now_ns();
        e = ncclCommInitRankConfig(&nccl, host->ranks, id, host->rank, &config);
        comm->init_s = (double)(now_ns() - start) * 1e-9;
        status = comm_judge(c, NULL, e, "ncclCommInitRankConfig", why, n);
    }
    scoped_env_restore(&host_id);
    scoped_env_restore(&protocol);
    scoped_env_restore(&algorithm);
    if (status == WL_OK)
        atomic_store(&comm->nccl, nccl);
    return status;
}

enum wl_status comm_get(struct comms *c, struct comm_key key, struct comm **out)
{
    struct comm *comm = c->comm; /* a key is integers alone */
    while (comm < c->comm + c->n && memcmp(&comm->key, &key, sizeof key) != 0)
        comm++;
    if (comm == c->comm + COMMS_MAX) {
        HOST_FAIL(c->gpu->host, "more than %d NCCL configs in one run: split the section",
                  COMMS_MAX);
        return WL_SKIP;
    }
    comm->key = key;
    *out = comm;
    if (atomic_load(&comm->nccl))
        return WL_OK;
    char why[256] = "";
    enum wl_status status = make(c, comm, why, sizeof why);
    status = host_agree(c->gpu->host, status, why);
    if (status == WL_OK) {
        c->n += comm == &c->comm[c->n];
    } else {
        ncclComm_t half = take(comm); /* made here, not on every rank */
        if (half)
            ncclCommAbort(half);
    }
    return status;
}

void comm_note(const struct comms *c, const struct comm *comm)
{
    const struct wl_host *host = c->gpu->host;
    char text[32];
    snprintf(text, sizeof text, "%td", comm - c->comm + 1);
    host->note(host->ctx, "communicator", text);
    snprintf(text, sizeof text, "%.1f", comm->init_s * 1e3);
    host->note(host->ctx, "communicator_ms", text);
}

/* An asynchronous error or an abort, told; WL_OK when there is none. */
static enum wl_status look(struct comms *c, struct comm *comm)
{
    const struct wl_host *host = c->gpu->host;
    ncclComm_t nccl = atomic_load(&comm->nccl);
    ncclResult_t e = ncclSuccess, asked = nccl ? ncclCommGetAsyncError(nccl, &e) : ncclSuccess;
    if (atomic_load(&c->gpu->aborted) || !nccl) {
        HOST_FAIL(host, "not finished by its deadline: a peer is dead or stuck, communicators were "
                        "aborted");
    } else if (asked != ncclSuccess || (e != ncclSuccess && e != ncclInProgress)) {
        comm_try(c, comm, asked != ncclSuccess ? asked : e, "NCCL's asynchronous error");
    } else {
        return WL_OK;
    }
    comms_abort(c);
    return WL_FAIL;
}

enum wl_status comm_poll(struct comms *c, struct comm *comm, cudaEvent_t event, unsigned nth)
{
    cudaError_t e = cudaEventQuery(event);
    if (e == cudaSuccess)
        return WL_OK;
    if (e != cudaErrorNotReady)
        return gpu_try(c->gpu, e, "waiting for the device");
    return nth % POLLS_A_LOOK == 0 && look(c, comm) != WL_OK ? WL_FAIL : WL_RETRY;
}

enum wl_status comm_wait(struct comms *c, struct comm *comm, cudaEvent_t event)
{
    for (unsigned nth = 1;; nth++) {
        enum wl_status status = comm_poll(c, comm, event, nth);
        if (status != WL_RETRY)
            return status;
        if (nth % POLLS_A_LOOK == 0)
            sched_yield();
    }
}

enum wl_status comm_finish(struct comms *c, struct comm *comm, cudaEvent_t event)
{
    CHECK(gpu_try(c->gpu, cudaEventRecord(event, c->gpu->stream), "cudaEventRecord"));
    return comm_wait(c, comm, event);
}

enum wl_status comm_align(struct comms *c, struct comm *comm)
{
    float *zeros = c->gpu->align;
    ncclComm_t nccl = atomic_load(&comm->nccl);
    ncclResult_t e = comm->key.algorithm == NCCL_PAT /* no all-reduce has it */
                         ? ncclAllGather(zeros, zeros + 1, 1, ncclFloat, nccl, c->gpu->stream)
                         : ncclAllReduce(zeros, zeros, 2, ncclFloat, ncclSum, nccl, c->gpu->stream);
    return comm_try(c, comm, e, "alignment of the ranks");
}

#define ABORT_GRACE_NS 500000000

static void note(const struct wl_host *host, const char *key, const char *format, int a, int b,
                 int c)
{
    char text[96];
    snprintf(text, sizeof text, format, a, b, c);
    host->note(host->ctx, key, text);
}

static void note_machine(const struct gpu *g, const struct comms *comms)
{
    const struct wl_host *host = g->host;
    int runtime = 0, driver = 0, v = comms->version;
    struct cudaDeviceProp prop;
    cudaRuntimeGetVersion(&runtime);
    cudaDriverGetVersion(&driver);
    note(host, "nccl", "%d.%d.%d", v / 10000, v % 10000 / 100, v % 100);
    note(host, "cuda_runtime", "%d.%d", runtime / 1000, runtime % 1000 / 10, 0);
    note(host, "cuda_driver", "%d.%d", driver / 1000, driver % 1000 / 10, 0);
    if (cudaGetDeviceProperties(&prop, g->device) != cudaSuccess)
        return;
    host->note(host->ctx, "gpu", prop.name);
    note(host, "gpu_shape", "%d SMs, %d MiB L2, compute capability %d", g->multiprocessors,
         (int)(g->l2_B >> 20), prop.major * 10 + prop.minor);
}

enum wl_status cuda_open(struct gpu *g, struct comms *c, const struct wl_host *host)
{
    CHECK(gpu_open(g, host));
    gpu_note_peers(g);
    CHECK(comms_open(c, g));
    size_t bytes = (size_t)(host->ranks + 1) * sizeof *g->align;
    cudaError_t e = cudaMalloc((void **)&g->align, bytes);
    TRY(e, cudaMemset(g->align, 0, bytes));
    TRY(e, cudaEventCreate(&g->start));
    TRY(e, cudaEventCreate(&g->stop));
    CHECK(gpu_try(g, e, "setting up"));
    note_machine(g, c);
    return WL_OK;
}

void cuda_close(struct gpu *g, struct comms *c)
{
    comms_close(c);
    cudaFree(g->align);
    if (g->start)
        cudaEventDestroy(g->start);
    if (g->stop)
        cudaEventDestroy(g->stop);
    if (g->stream)
        cudaStreamDestroy(g->stream);
    g->stream = NULL;
}

void cuda_abort(struct gpu *g, struct comms *c)
{
    struct timespec grace = {.tv_nsec = ABORT_GRACE_NS};
    atomic_store(&g->aborted, true);
    nanosleep(&grace, NULL);
    comms_abort(c);
}

/* Finds the algorithm and protocol that ran, from NCCL's log. Since 2.24 NCCL logs on rank 0, when
 * it plans an operation:
 *   AllReduce: 1048576 Bytes -> Algo RING proto LL128 channel{Lo..Hi}={0..15}
 *   AllReduce [Symmetric]: 1048576 Bytes -> Kernel AllReduce_AGxLL_R nchannels 8 nthreads 512 …
 * The log is a file in memory. An older
 * NCCL has no such log line, nor has any for copy engines and for sends and receives; the recording
 * then says "unproven". */

static const char *const log_variables[] = {"NCCL_DEBUG", "NCCL_DEBUG_SUBSYS", "NCCL_DEBUG_FILE"};
enum { LOG_VARIABLES = sizeof log_variables / sizeof *log_variables };

void comm_log_begin(struct comms *c)
{
    struct comm_log *log = &c->log;
    log->fd = reset_log && c->gpu->host->rank == 0 ? memfd_create("nccl-log", MFD_CLOEXEC) : -1;
    if (log->fd < 0)
        return;
    snprintf(log->path, sizeof log->path, "/proc/self/fd/%d", log->fd);
    const char *const values[LOG_VARIABLES] = {"INFO", "TUNING", log->path};
    for (int i = 0; i < LOG_VARIABLES; i++)
        scoped_env_set(&log->variables[i], log_variables[i], values[i]);
    reset_log();
}

static void read_line(const char *log, struct comm_ran *ran)
{
    const char *at = strstr(log, " Bytes -> Algo ");
    int low = 0, high = 0;
    if (at && sscanf(at, " Bytes -> Algo %31s proto %31s channel{Lo..Hi}={%d..%d}", ran->algorithm,
                     ran->protocol, &low, &high) == 4) {
        ran->ctas = high - low + 1;
        ran->known = true;
        return;
    }
    at = strstr(log, " Bytes -> Kernel ");
    ran->protocol[0] = 0;
    ran->known =
        at && sscanf(at, " Bytes -> Kernel %31s nchannels %d", ran->algorithm, &ran->ctas) == 2;
}

struct comm_ran comm_log_end(struct comms *c)
{
    struct comm_ran ran = {0};
    const struct wl_host *host = c->gpu->host;
    if (c->log.fd >= 0) {
        char text[4096];
        for (int i = LOG_VARIABLES; i-- > 0;)
            scoped_env_restore(&c->log.variables[i]);
        reset_log();
        ssize_t n = pread(c->log.fd, text, sizeof text - 1, 0);
        text[n > 0 ? n : 0] = 0;
        read_line(text, &ran);
        close(c->log.fd);
        c->log.fd = -1;
    }
    host->bcast(host->ctx, &ran, sizeof ran, 0);
    return ran;
}

static const char *const algorithm_log[] = {
    [NCCL_AUTO] = "",
    [NCCL_RING] = "RING",
    [NCCL_TREE] = "TREE",
    [NCCL_COLLNET_DIRECT] = "COLLNET_DIRECT",
    [NCCL_COLLNET_CHAIN] = "COLLNET_CHAIN",
    [NCCL_NVLS] = "NVLS",
    [NCCL_NVLS_TREE] = "NVLS_TREE",
    [NCCL_PAT] = "PAT",
};
static const char *const protocol_log[] = {
    [NCCL_ANY] = "", [NCCL_LL] = "LL", [NCCL_LL128] = "LL128", [NCCL_SIMPLE] = "SIMPLE"};

static bool kept(const char *asked, const char *ran)
{
    return !*asked || !strcasecmp(asked, ran);
}

enum wl_status comm_prove(struct comms *c, const struct comm *comm, const struct comm_ran *ran)
{
    const struct wl_host *host = c->gpu->host;
    char text[96];
    if (!ran->known) {
        host->note(host->ctx, "ran", "unproven: this NCCL does not say what it ran");
        return WL_OK;
    }
    snprintf(text, sizeof text, "%s%s%s ctas=%d", ran->algorithm, *ran->protocol ? "/" : "",
             ran->protocol, ran->ctas);
    host->note(host->ctx, "ran", text);
    if (kept(algorithm_log[comm->key.algorithm], ran->algorithm) &&
        kept(protocol_log[comm->key.protocol], ran->protocol))
        return WL_OK;
    HOST_FAIL(host,
              "NCCL ran %s despite algorithm %s, protocol %s: it has no such kernel for this "
              "cell here",
              text,
              *algorithm_log[comm->key.algorithm] ? algorithm_log[comm->key.algorithm] : "auto",
              *protocol_log[comm->key.protocol] ? protocol_log[comm->key.protocol] : "auto");
    return WL_SKIP;
}
