/* SPDX-License-Identifier: Apache-2.0 */
#include "nccl_allreduce/cuda/nccl_cuda.h"

#include <stdio.h>
#include <stdlib.h>

#define ALIGN_B 256

void release_cuda(void *prepared)
{
    struct prepared *p = prepared;
    graphs_free(p);
    cudaFree(p->record);
    if (p->arena) {
        memory_unregister(&p->state->comms, p->comm, (enum memory)p->cell.memory, &p->registration);
        p->arena->users--;
        if (p->arena->loaded == p)
            p->arena->loaded = NULL;
    }
    free(p);
}

static unsigned slots_for(const struct state *s, const struct nccl_cell *c, size_t slot_B)
{
    if (c->buffers == BUFFERS_HOT || c->metric == METRIC_L_ISO)
        return 1;
    size_t slots = 4 * s->gpu.l2_B / slot_B + 1;
    return slots > BACK_TO_BACK_MOST ? BACK_TO_BACK_MOST : (unsigned)slots;
}

/* Buffers: what one rank may fail at and another not. */
static enum wl_status take_buffers(struct prepared *p, char *why, size_t n)
{
    struct state *s = p->state;
    const struct nccl_cell *c = &p->cell;
    p->slot_B = (c->size + ALIGN_B - 1) / ALIGN_B * ALIGN_B;
    p->what = (struct nccl_operation){.collective = (enum collective)c->collective,
                                      .type = (enum payload_type)c->dtype,
                                      .op = (enum payload_op)c->op,
                                      .count = c->size / payload_dtypes[c->dtype].size_B,
                                      .in_place = c->in_place};
    p->slots = slots_for(s, c, p->slot_B);
    if (s->comms.version < payload_dtypes[c->dtype].nccl_since) {
        snprintf(why, n, "this NCCL, %d.%d, has no %s: it needs 2.24", s->comms.version / 10000,
                 s->comms.version % 10000 / 100, payload_dtypes[c->dtype].name);
        return WL_SKIP;
    }
    if (gpu_record_new(&p->record, why, n) != WL_OK)
        return WL_FAIL;
    if (c->buffers == BUFFERS_COLD && gpu_flush_prepare(&s->gpu, why, n) != cudaSuccess)
        return WL_SKIP;
    return arena_take(s, (c->in_place ? 1 : 2) * p->slots * p->slot_B, (enum memory)c->memory,
                      &p->arena, why, n);
}

static enum wl_status try_out(struct prepared *p)
{
    struct state *s = p->state;
    enum wl_status status = arena_load(p);
    if (host_agree(s->host, status, "the buffers could not be filled") != WL_OK)
        return WL_FAIL;
    return nccl_operation_try(&s->comms, p->comm, &p->what, slot_in(p, 0), slot_out(p, 0), s->done);
}

static enum wl_status prepare_contention(struct prepared *p)
{
    struct state *s = p->state;
    if (p->cell.contention == BURN_NONE || s->can_burn)
        return WL_OK;
    char why[256] = "";
    enum wl_status status = burn_open(&s->burn, &s->gpu, why, sizeof why);
    s->can_burn = status == WL_OK;
    if (!s->can_burn)
        burn_close(&s->burn);
    return host_agree(s->host, status, why);
}

static enum wl_status prepare_steps(struct prepared *p)
{
    struct state *s = p->state;
    char why[256] = "";
    struct comm_key key = {p->cell.algorithm, p->cell.protocol, (int)p->cell.ctas, p->cell.policy,
                           s->host->copy};
    enum wl_status status = comms_pretend(&s->comms, (int)p->cell.hosts);
    if (status == WL_OK)
        status = comm_get(&s->comms, key, &p->comm);
    if (status != WL_OK)
        return status;
    comm_note(&s->comms, p->comm);
    status = take_buffers(p, why, sizeof why);
    status = host_agree(s->host, status, why); /* registering windows is collective */
    if (status == WL_OK) {
        status = memory_register(&s->comms, p->comm, (enum memory)p->cell.memory, p->arena->base,
                                 p->arena->bytes, &p->registration, why, sizeof why);
        status = host_agree(s->host, status, why);
    }
    if (status == WL_OK)
        status = try_out(p);
    return status == WL_OK ? prepare_contention(p) : status;
}

enum wl_status prepare_cuda(void *self, const void *cell, void **prepared)
{
    struct state *s = self;
    struct prepared *p = calloc(1, sizeof *p);
    if (!p)
        return HOST_FAILED(s->host, "out of host memory");
    p->state = s;
    p->cell = *(const struct nccl_cell *)cell;
    enum wl_status status = gpu_status(&s->gpu, prepare_steps(p));
    if (status == WL_OK)
        *prepared = p;
    else
        release_cuda(p);
    return status;
}
