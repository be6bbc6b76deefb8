/* SPDX-License-Identifier: Apache-2.0 */
#include "record/attempt_number.h"

#include "base/err.h"
#include "base/text.h"
#include "record/record.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define ATTEMPTS 10000

/* An empty log is removed after its attempt, and then only the recording shows that the number is
 * taken. So this looks for the recording after the log was created. */
static bool taken(const char *dir, int launch, int attempt, const char *log)
{
    AUTO_FREE char *recording = record_path(dir, launch, attempt, "jsonl");
    bool there = access(recording, F_OK) == 0;
    if (there)
        unlink(log);
    return there;
}

int attempt_number_take(const char *dir, int launch, int *attempt)
{
    for (int end = *attempt + ATTEMPTS; *attempt < end; ++*attempt) {
        AUTO_FREE char *log = record_path(dir, launch, *attempt, "log");
        int fd = open(log, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666), error = errno;
        bool mine = fd >= 0 && !taken(dir, launch, *attempt, log);
        if (fd >= 0)
            close(fd);
        int code = fd < 0 && error != EEXIST
                       ? fail_at(GS_FAILED, log, 0, "cannot be created: %s", strerror(error))
                       : GS_OK;
        if (mine || code)
            return code;
    }
    return fail_at(GS_FAILED, dir, 0, "launch %d has no free attempt number; measure a new run",
                   launch);
}
