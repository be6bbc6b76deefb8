/* SPDX-License-Identifier: Apache-2.0 */
#include "nccl_tuner/choice.h"
#include "nccl_tuner/nccl_version.h"
#include "nccl_tuner/trial.h"

#include <ctype.h>
#include <stdlib.h>
#include <time.h>

#define FIRST 64 /* words of a step that are written */

static const char *const state_names[] = {
    [TRIAL_LEARN] = "learn", [TRIAL_WARM] = "warm", [TRIAL_RUN] = "run",
    [TRIAL_HOLD] = "hold",   [TRIAL_KEPT] = "kept", [TRIAL_OFF] = "off"};

typedef unsigned long long ull;

static long long job_rank(void)
{
    static const char *const names[] = {"RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *v = getenv(names[i]);
        if (v && isdigit((unsigned char)*v))
            return atoll(v);
    }
    return -1;
}

void trial_write_comm(struct trial *t, size_t nodes, int abi)
{
    struct line l = {0};
    char host[JOURNAL_HOST], gpu[NCCL_GPU_UUID] = "";
    journal_host(host);
    nccl_gpu_uuid(gpu);
    line_add(&l,
             "{\"type\":\"comm\",\"schema\":1,\"file\":\"%s\",\"rank\":%lld,\"comm\":\"%s\","
             "\"ranks\":%zu,\"nodes\":%zu,\"abi\":%d,\"nccl\":%d,\"takes_part\":%s,"
             "\"host\":\"%s\",\"gpu\":\"%s\",\"at_ns\":%llu,\"unix_s\":%lld}",
             t->journal.name, job_rank(), t->comm, t->ranks, nodes, abi, nccl_version(),
             t->takes_part ? "true" : "false", host, gpu, (ull)trial_now_ns(),
             (long long)time(NULL));
    journal_line(&t->journal, &l);
}

void trial_write_step(struct trial *t)
{
    const struct sequence *s = &t->sequence;
    struct line l = {0};
    uint64_t bytes = 0;
    for (size_t i = 0; i < s->period; i++)
        bytes += s->pattern[i] >> 4;
    line_add(&l,
             "{\"type\":\"step\",\"number\":%u,\"call\":%llu,\"calls\":%zu,\"bytes\":%llu,"
             "\"hash\":\"%08x\",\"first\":[",
             t->number, (ull)t->calls, s->period, (ull)bytes, t->step_hash);
    for (size_t i = 0; i < s->period && i < FIRST; i++)
        line_add(&l, "%s[\"%s\",%llu]", i ? "," : "", choice_func_name((int)(s->pattern[i] & 15)),
                 (ull)(s->pattern[i] >> 4));
    line_add(&l, "]}");
    journal_line(&t->journal, &l);
}

void trial_write_begin(struct trial *t)
{
    struct line l = {0};
    line_add(&l, "{\"type\":\"begin\",\"step\":%u,\"steps\":%llu,\"block\":%llu}", t->number,
             (ull)t->steps, (ull)t->block);
    journal_line(&t->journal, &l);
}

static void add_taken(struct line *l, const struct trial *t)
{
    const char *comma = "";
    for (int i = 0; i < NCCL_PAIRS; i++)
        if (t->taken[i]) {
            line_add(l, "%s\"%s/%s\":%llu", comma, choice_algo_name(i / NCCL_PROTOS),
                     choice_proto_name(i % NCCL_PROTOS), (ull)t->taken[i]);
            comma = ",";
        }
}

static void add_ran(struct line *l, const struct trial *t)
{
    const char *comma = "";
    for (int i = 0; i < CHOICE_PARTS; i++)
        if (t->parts[i]) {
            line_add(l, "%s\"%s\":%llu", comma, choice_part_name(i), (ull)t->parts[i]);
            comma = ",";
        }
    for (int i = 0; i < NCCL_PAIRS; i++)
        for (int c = 0; c <= NCCL_MAX_CHANNELS; c++)
            if (t->ran[i][c]) {
                line_add(l, "%s\"%s/%s", comma, choice_algo_name(i / NCCL_PROTOS),
                         choice_proto_name(i % NCCL_PROTOS));
                if (c)
                    line_add(l, " ctas=%d", c);
                line_add(l, "\":%u", t->ran[i][c]);
                comma = ",";
            }
}

void trial_write_visit(struct trial *t)
{
    struct line l = {0};
    line_add(&l,
             "{\"type\":\"visit\",\"step\":%u,\"block\":%llu,\"visit\":%zu,\"arm\":\"%s\","
             "\"copy\":%d,\"steps\":%llu,\"calls\":%llu,\"unavailable\":%llu,\"taken\":{",
             t->number, (ull)t->block, t->visit, t->config->arms[trial_arm_now(t)].label,
             trial_copy_now(t), (ull)t->steps, (ull)t->visit_calls, (ull)t->unavailable);
    add_taken(&l, t);
    line_add(&l, "},\"ran\":{");
    add_ran(&l, t);
    line_add(&l, "},\"at_ns\":[");
    for (uint64_t i = 0; i < t->n_at; i++)
        line_add(&l, "%s%llu", i ? "," : "", (ull)t->at_ns[i]);
    line_add(&l, "]}");
    journal_line(&t->journal, &l);
}

void trial_write_dropped(struct trial *t)
{
    struct line l = {0};
    line_add(&l,
             "{\"type\":\"dropped\",\"block\":%llu,\"visit\":%zu,\"arm\":\"%s\",\"copy\":%d,"
             "\"step\":%llu,\"call\":%llu}",
             (ull)t->block, t->visit, t->config->arms[trial_arm_now(t)].label, trial_copy_now(t),
             (ull)t->n_at, (ull)t->calls);
    journal_line(&t->journal, &l);
}

void trial_write_captured(struct trial *t)
{
    struct line l = {0};
    line_add(&l, "{\"type\":\"captured\",\"call\":%llu}", (ull)t->calls);
    journal_line(&t->journal, &l);
}

void trial_write_over(struct trial *t, const char *why)
{
    struct line l = {0};
    line_add(&l, "{\"type\":\"over\",\"why\":\"%s\",\"visits\":%llu,\"at_ns\":%llu}", why,
             (ull)t->visits, (ull)trial_now_ns());
    journal_line(&t->journal, &l);
}

void trial_write_kept(struct trial *t)
{
    struct line l = {0};
    line_add(&l, "{\"type\":\"kept\",\"arm\":\"%s\",\"call\":%llu}", t->config->arms[t->kept].label,
             (ull)t->calls);
    journal_line(&t->journal, &l);
}

void trial_write_end(struct trial *t)
{
    struct line l = {0};
    line_add(&l,
             "{\"type\":\"end\",\"calls\":%llu,\"bytes\":%llu,\"state\":\"%s\",\"visits\":%llu,"
             "\"dropped\":%llu,\"last_call_ns\":%llu,\"at_ns\":%llu}",
             (ull)t->calls, (ull)t->bytes, state_names[t->state], (ull)t->visits, (ull)t->dropped,
             (ull)t->last_call_ns, (ull)trial_now_ns());
    journal_line(&t->journal, &l);
}
