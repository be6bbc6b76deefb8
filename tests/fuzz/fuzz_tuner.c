/* SPDX-License-Identifier: Apache-2.0
 *
 * Any bytes as a file of tuning rules, as the file of a trial, or as a sequence of calls: the first
 * byte says which.
 */
#include "nccl_tuner/nccl_abi.h"
#include "nccl_tuner/rules.h"
#include "nccl_tuner/sequence.h"
#include "nccl_tuner/trial_config.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* What NCCL relies on: channels in range, and a pair to run. */
static void apply(const struct rules *r)
{
    for (int func = 0; func < NCCL_FUNCS; func++)
        for (size_t bytes = 1; bytes && bytes < SIZE_MAX / 16; bytes *= 16) {
            float costs[NCCL_ALGOS][NCCL_PROTOS];
            int channels = 0;
            for (int i = 0; i < NCCL_ALGOS * NCCL_PROTOS; i++)
                costs[i / NCCL_PROTOS][i % NCCL_PROTOS] = i > 6 ? NCCL_IGNORE : (float)i;
            struct call c = {func, bytes,        1,          0,           8,
                             1,    &costs[0][0], NCCL_ALGOS, NCCL_PROTOS, &channels};
            rules_apply(r, &c);
            if (channels < 0 || channels > NCCL_MAX_CHANNELS || choice_taken(&c) > 6)
                abort();
        }
}

static void file(const char *path, int kind)
{
    char why[600] = "";
    static struct trial_config c;
    struct rules r;
    if (kind == 0 && rules_load(&r, path, why, sizeof why))
        apply(&r);
    else if (kind == 0 && (r.n || !*why))
        abort();
    if (kind == 0)
        rules_free(&r);
    if (kind == 1 && !trial_config_read(&c, path, why, sizeof why) && !*why)
        abort();
}

/* What the trial relies on: a step begins one period after the last, unless calls came between. */
static void sequence(const uint8_t *data, size_t n)
{
    struct sequence s;
    size_t since = 0;
    seq_begin(&s, n && data[0] < 64 ? data[0] : 0);
    for (size_t i = 0; i < 4 * n; i++) {
        enum seq_event e = seq_call(&s, data[i % n] & 3, data[i % n] >> 2);
        if (e == SEQ_STEP && since && since != s.period)
            abort();
        since = e == SEQ_STEP ? 1 : e == SEQ_INSIDE && since ? since + 1 : 0;
        if (s.period && (s.at > s.period || (s.following && s.at == s.period)))
            abort();
    }
    seq_end(&s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    char path[64];
    if (!n)
        return 0;
    if (data[0] % 3 == 2) {
        sequence(data + 1, n - 1);
        return 0;
    }
    int fd = memfd_create("tuner", 0);
    if (fd < 0 || write(fd, data + 1, n - 1) != (ssize_t)(n - 1))
        abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    file(path, data[0] % 3);
    close(fd);
    return 0;
}
