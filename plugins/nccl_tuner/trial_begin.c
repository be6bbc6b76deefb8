/* SPDX-License-Identifier: Apache-2.0 */
#include "nccl_tuner/trial.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool takes_part(const struct trial_config *c, size_t ranks)
{
    static const char *const names[] = {"WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE"};
    uint64_t want = c->ranks;
    for (size_t i = 0; !want && i < sizeof names / sizeof *names; i++) {
        const char *v = getenv(names[i]);
        want = v && isdigit((unsigned char)*v) ? strtoull(v, NULL, 10) : 0;
        want = want == 1 ? 0 : want;
    }
    return !want || want == ranks;
}

/* FNV-1a */
uint32_t trial_hash(const void *bytes, size_t n)
{
    const unsigned char *b = bytes;
    uint32_t h = 2166136261u;
    for (size_t i = 0; i < n; i++)
        h = (h ^ b[i]) * 16777619u;
    return h;
}

bool trial_begin(struct trial *t, const struct trial_config *c, const char *id, size_t ranks,
                 size_t nodes, int abi)
{
    *t = (struct trial){
        .config = c, .ranks = ranks, .takes_part = takes_part(c, ranks), .settle = TRIAL_SETTLE};
    /* Ranks that read different configs must not take each other for partners. */
    snprintf(t->comm, sizeof t->comm, "%.40s-%08x%s", id, trial_hash(c, sizeof *c),
             t->takes_part ? "" : "-x");
    if (!journal_open(&t->journal, c->out, t->comm))
        return false;
    seq_begin(&t->sequence, c->calls);
    trial_write_comm(t, nodes, abi);
    return true;
}

void trial_end(struct trial *t)
{
    trial_write_end(t);
    journal_close(&t->journal);
    seq_end(&t->sequence);
}

/* ---- for what feeds the calls ---- */

void trial_name(char *id, size_t n, size_t ranks, int rank)
{
    static struct {
        size_t ranks;
        int rank;
        unsigned count;
    } seen[256];
    size_t i = 0;
    while (i < 255 && seen[i].ranks && (seen[i].ranks != ranks || seen[i].rank != rank))
        i++;
    seen[i].ranks = ranks;
    seen[i].rank = rank;
    snprintf(id, n, "r%zuc%u", ranks, seen[i].count++);
}

/* Only the first rank of a host reports, if the launcher numbers them. */
void trial_complain(const char *who, const char *why, const char *effect)
{
    const char *names[] = {"LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "SLURM_LOCALID"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *rank = getenv(names[i]);
        if (rank && strcmp(rank, "0"))
            return;
        if (rank)
            break;
    }
    fprintf(stderr, "%s: %s; %s\n", who, why, effect);
}
