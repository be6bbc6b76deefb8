/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/reason.h"

#include "base/files.h"
#include "base/printable.h"
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TAIL 8192 /* bytes of a log */
#define RESUME "resume measures what is missing"

/* ---- waiting jobs ---- */

static const struct {
    const char *reason, *why, *remedy;
    bool held; /* by gradsync or by Slurm, until it is released */
} waits[] = {
    {"JobHeldUser", "held", "resume releases it", true},
    {"JobHeldAdmin", "held by the cluster's administrators", "ask them to release it", false},
    {"BeginTime", "queued again after a preemption or the loss of its node",
     "nothing to do: it restarts in about 2 minutes", false},
    {"Requeued", "queued again after a preemption or the loss of its node",
     "nothing to do: it restarts", false},
    {"launch failed requeued held", "could not be started on its node, and is held",
     "resume releases it; mend the node first (sinfo -R; spool folder of slurmd)", true},
    {"BadConstraints", "requests processors, memory, GPUs or features that no node has",
     "see sinfo -o '%P %c %m %G %f'; then cancel, edit array-*.sh, resume", false},
    {"PartitionConfig", "requests more processors or nodes than its partition has",
     "see sinfo -o '%P %D %c'; then cancel, edit array-*.sh, resume", false},
    {"PartitionTimeLimit", "requests more time than its partition allows",
     "cancel, lower --time in array-*.sh, resume", false},
    {"PartitionNodeLimit", "requests more nodes than its partition has",
     "cancel, lower --nodes in array-*.sh, resume", false},
    {"PartitionDown", "its partition is down",
     "wait, or cancel, change --partition in array-*.sh, resume", false},
    {"AssocGrp", "your account's limit is reached", "nothing to do: it starts when other jobs end",
     false},
    {"QOSMax", "a limit of its qos is reached", "nothing to do: it starts when other jobs end",
     false},
    {"ReqNodeNotAvail", "the nodes it needs are down or reserved",
     "nothing to do: it waits for them", false},
    {"InvalidAccount", "its account is no longer valid",
     "cancel, change --account in array-*.sh, resume", false},
};

static void say(struct reason *r, const char *why, const char *remedy)
{
    snprintf(r->why, sizeof r->why, "%s", why);
    snprintf(r->remedy, sizeof r->remedy, "%s", remedy);
}

bool reason_waits(struct reason *r, const struct job *j)
{
    for (size_t i = 0; i < sizeof waits / sizeof *waits; i++)
        if (!strncmp(j->reason, waits[i].reason, strlen(waits[i].reason))) {
            say(r, waits[i].why, waits[i].remedy);
            return waits[i].held;
        }
    snprintf(r->why, sizeof r->why, "in the queue (%s)", j->reason);
    r->remedy[0] = '\0';
    return false;
}

/* ---- ended jobs ---- */

struct ending {
    const char *mark; /* a Slurm state, or text in a log */
    const char *why, *remedy;
};

static const struct ending states[] = {
    {"PREEMPTED", "preempted", RESUME},
    {"TIMEOUT", "time limit", RESUME "; to give it more time, edit --time in array-*.sh first"},
    {"DEADLINE", "time limit", RESUME},
    {"NODE_FAIL", "its node failed", RESUME},
    {"BOOT_FAIL", "its node did not start", RESUME},
    {"OUT_OF_MEMORY", "out of memory", "raise --mem in array-*.sh, then resume"},
    {"CANCELLED", "cancelled", RESUME},
};

/* The last match in the log tells how the job ended. */
static const struct ending words[] = {
    {"DUE TO PREEMPTION", "preempted", RESUME},
    {"DUE TO TIME LIMIT", "time limit",
     RESUME "; to give it more time, edit --time in array-*.sh first"},
    {"User defined signal 1: finishing", "stopped before its time limit",
     RESUME "; to give it more time, edit --time in array-*.sh first"},
    {"DUE TO NODE FAILURE", "its node failed", RESUME},
    {"DUE TO JOB REQUEUE", "queued again, then lost", RESUME},
    {"exceeded memory limit", "out of memory", "raise --mem in array-*.sh, then resume"},
    {"oom-kill", "out of memory", "raise --mem in array-*.sh, then resume"},
    {"oom_kill", "out of memory", "raise --mem in array-*.sh, then resume"},
    {"CANCELLED AT", "cancelled", RESUME},
};

/* False: there is no such log, or it is empty. */
static bool tail(const char *log, char *buf)
{
    int fd = files_open(log, FILES_OWN);
    if (fd < 0)
        return false;
    off_t size = lseek(fd, 0, SEEK_END);
    ssize_t n = pread(fd, buf, TAIL, size > TAIL ? size - TAIL : 0);
    close(fd);
    buf[n > 0 ? n : 0] = '\0';
    for (char *s = buf; s < buf + n; s++)
        if (!*s)
            *s = ' ';
    return n > 0;
}

static const struct ending *last_words(const char *log)
{
    const struct ending *found = NULL;
    const char *where = log;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        for (const char *s = log; (s = strstr(s, words[i].mark)); s++)
            if (s >= where) {
                where = s;
                found = &words[i];
            }
    return found;
}

/* Nothing was measured. A resubmitted job would fail again, so the cause comes first. The last entry
 * that fits is used. */
static const char *const never_up[][2] = {
    {"srun ended with code",
     "mend that first (srun --mpi=list must show pmix), then resume; or submit again with "
     "[launch] launcher = mpirun"},
    {"[slurm] ", "correct that line in array-*.sh, then resume"},
    {"mpirun ended with code", "mend that first (check modules and setup), then resume"},
};

/* The last error line of gradsync in the log. */
static void last_line(struct reason *r, const char *log)
{
    const char *line = NULL;
    for (const char *s = log; (s = strstr(s, "gradsync: ")); s++)
        if (s == log || s[-1] == '\n')
            line = s + strlen("gradsync: ");
    if (!line)
        return;
    snprintf(r->why, sizeof r->why, "%.*s", (int)strcspn(line, "\n"), line);
    printable_make(r->why, "");
    for (size_t i = 0; i < sizeof never_up / sizeof *never_up; i++)
        if (!strncmp(line, never_up[i][0], strlen(never_up[i][0])))
            snprintf(r->remedy, sizeof r->remedy, "%s", never_up[i][1]);
}

void reason_ended(struct reason *r, const char *state, const char *log)
{
    char buf[TAIL + 1];
    bool there = tail(log, buf);
    const struct ending *e = NULL;
    for (size_t i = 0; state && !e && i < sizeof states / sizeof *states; i++)
        if (!strcmp(state, states[i].mark))
            e = &states[i];
    const struct ending *said = there ? last_words(buf) : NULL;
    if (said &&
        (!e ||
         !strcmp(e->mark, "CANCELLED"))) /* Slurm may report an out-of-memory kill as cancelled */
        e = said;
    if (!e && there && strstr(buf, "Terminated: finishing"))
        e = &states[sizeof states / sizeof *states - 1];
    if (e) {
        say(r, e->why, e->remedy);
        return;
    }
    say(r, state ? "ended without a result" : "ended; Slurm no longer knows how", RESUME);
    if (there)
        last_line(r, buf);
    else if (state && !strcmp(state, "FAILED") && !access(log, F_OK))
        say(r, "its script ended before gradsync began",
            "correct modules and setup in array-*.sh, then resume");
    else if (state && !strcmp(state, "FAILED"))
        say(r, "could not write its log",
            "put the campaign where compute nodes can write (submit -o), or see sinfo -R");
}

/* ---- cells ---- */

static const struct {
    const char *kind, *remedy;
} kinds[] = {
    {"crash", "see the .log beside the recording"},
    {"hang", "raise [measure] deadline if it is only slow; else see the .log"},
    {"lost", "a rank, its GPU or its node was lost; see the .log, and dmesg of the node"},
    {"wrong", "the result is wrong; do not use this config"},
    {"failed", "correct the cause, or exclude the cell"},
};

const char *reason_failed(const char *kind)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (!strcmp(kinds[i].kind, kind))
            return kinds[i].remedy;
    return "";
}
