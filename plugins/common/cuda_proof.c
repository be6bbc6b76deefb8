/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds the algorithm and protocol that ran, from NCCL's log. Since 2.24 NCCL logs on rank 0, when
 * it plans an operation:
 *   AllReduce: 1048576 Bytes -> Algo RING proto LL128 channel{Lo..Hi}={0..15}
 *   AllReduce [Symmetric]: 1048576 Bytes -> Kernel AllReduce_AGxLL_R nchannels 8 nthreads 512 …
 * A copy engine, and sends and receives, are not in the log; cuda_proof_graph.c finds them.
 * ncclResetDebugInit makes NCCL read its log variables again. The log is a file in memory. An older
 * NCCL has no such log line; the recording then says "unproven".
 */
#include "common/cuda_comm.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <unistd.h>

static const char *const log_variables[] = {"NCCL_DEBUG", "NCCL_DEBUG_SUBSYS", "NCCL_DEBUG_FILE"};
enum { LOG_VARIABLES = sizeof log_variables / sizeof *log_variables };

void comm_log_begin(struct comms *c)
{
    struct comm_log *log = &c->log;
    log->fd = c->reset_log && c->gpu->host->rank == 0 ? memfd_create("nccl-log", MFD_CLOEXEC) : -1;
    if (log->fd < 0)
        return;
    snprintf(log->path, sizeof log->path, "/proc/self/fd/%d", log->fd);
    const char *const values[LOG_VARIABLES] = {"INFO", "TUNING", log->path};
    for (int i = 0; i < LOG_VARIABLES; i++)
        scoped_env_set(&log->variables[i], log_variables[i], values[i]);
    c->reset_log();
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
        c->reset_log();
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
        if (*ran->why)
            host->note(host->ctx, "ran_why", ran->why);
        return WL_OK;
    }
    snprintf(text, sizeof text, "%s%s%s ctas=%d", ran->algorithm, *ran->protocol ? "/" : "",
             ran->protocol, ran->ctas);
    host->note(host->ctx, "ran", text);
    if (comm->key.policy == NCCL_POLICY_ZERO && ran->ctas > 0) {
        HOST_FAIL(host,
                  "NCCL ran %s despite policy=zero: it uses copy engines only for all-gather and "
                  "all-to-all of memory=symmetric on one host",
                  text);
        return WL_SKIP;
    }
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
