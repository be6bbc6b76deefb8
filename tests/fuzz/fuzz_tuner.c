/* SPDX-License-Identifier: Apache-2.0
 *
 * Any bytes as the file of a trial, or as a sequence of calls: the first byte says which.
 */
#include "bundle.h"
#include "nccl_tuner/nccl_abi.h"
#include "nccl_tuner/trial_config.h"

#include <sys/mman.h>

static void file(const char *path)
{
    char why[600] = "";
    static struct trial_config c;
    if (!trial_config_read(&c, path, why, sizeof why) && !*why)
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
    file(path);
    close(fd);
    return 0;
}
