/* SPDX-License-Identifier: Apache-2.0 */
#include "nccl_tuner/agree.h"
#include "nccl_tuner/trial.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef unsigned long long ull;

bool trial_ask(struct trial *t, const char *what, uint64_t a, uint64_t b, char answer[TRIAL_ANSWER])
{
    char key[96];
    snprintf(key, sizeof key, "%s-%llu-%llu", what, (ull)a, (ull)b);
    return agree(t->config->out, t->comm, key, answer, TRIAL_ANSWER);
}

static void step_key(char *key, size_t n, const struct trial *t)
{
    snprintf(key, n, "found-%u-%llu-%08x.", t->number, (ull)t->found_at, t->step_hash);
}

void trial_announce_step(const struct trial *t)
{
    char key[512], answer[TRIAL_ANSWER] = "yes";
    step_key(key, sizeof key, t);
    size_t n = strlen(key);
    snprintf(key + n, sizeof key - n, "%s", t->journal.name);
    agree(t->config->out, t->comm, key, answer, sizeof answer);
}

bool trial_all_found_step(const struct trial *t)
{
    char key[96];
    step_key(key, sizeof key, t);
    return agree_count(t->config->out, t->comm, key) >= t->ranks;
}

bool trial_asked_to_stop(const struct trial *t)
{
    char path[4096];
    uint64_t limit = t->config->seconds * 1000000000u;
    snprintf(path, sizeof path, "%s/stop", t->config->out);
    return (limit && trial_now_ns() - t->begun_ns >= limit) || !access(path, F_OK);
}

void trial_read_keep(const struct trial *t, char answer[TRIAL_ANSWER])
{
    char path[4096];
    unsigned long arm = t->config->n_arms;
    snprintf(path, sizeof path, "%s/keep", t->config->out);
    FILE *f = fopen(path, "re");
    if (f && fscanf(f, "%lu", &arm) != 1)
        arm = t->config->n_arms;
    if (f)
        fclose(f);
    if (arm < t->config->n_arms)
        snprintf(answer, TRIAL_ANSWER, "%lu", arm);
    else
        strcpy(answer, "none");
}
