/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/reason.h"

#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TAIL 8192 /* bytes of a log */
#define RESUME "resume measures what is missing"

/* ---- jobs that wait ---- */

static const struct {
    const char *reason, *why, *remedy;
    bool held; /* by us, or by Slurm until somebody releases it */
} waits[] = {
    {"JobHeldUser", "held", "resume releases it", true},
    {"JobHeldAdmin", "held by the cluster's administrators", "ask them", false},
    {"BeginTime", "queued again after a preemption or the loss of its node",
     "nothing: it starts in about 2 minutes and goes on", false},
    {"Requeued", "queued again after a preemption or the loss of its node", "nothing: it goes on",
     false},
    {"launch failed requeued held", "could not be started on its node, and is held",
     "resume releases it, once its node can start jobs (sinfo -R; the spool of its slurmd)", true},
    {"BadConstraints", "asks for processors, memory, GPUs or features that no node has",
     "see sinfo -o '%P %c %m %G %f', then cancel, array-*.sh, resume", false},
    {"PartitionConfig", "asks for more processors or nodes than its partition has",
     "see sinfo -o '%P %D %c', then cancel, array-*.sh, resume", false},
    {"PartitionTimeLimit", "asks for more time than its partition allows",
     "less time in array-*.sh, cancel, resume", false},
    {"PartitionNodeLimit", "asks for more nodes than its partition has",
     "fewer nodes in array-*.sh, cancel, resume", false},
    {"PartitionDown", "its partition is down", "nothing, or another partition in array-*.sh",
     false},
    {"AssocGrp", "your account's limit is reached", "nothing: it starts when others end", false},
    {"QOSMax", "a limit of its qos is reached", "nothing: it starts when others end", false},
    {"ReqNodeNotAvail", "the nodes it needs are down or reserved", "nothing: it waits for them",
     false},
    {"InvalidAccount", "its account is no longer valid", "another account in array-*.sh, resume",
     false},
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

/* ---- jobs that ended ---- */

struct ending {
    const char *mark; /* a state of Slurm, or words in a log */
    const char *why, *remedy;
};

static const struct ending states[] = {
    {"PREEMPTED", "preempted", RESUME},
    {"TIMEOUT", "time limit", RESUME "; more time: --time in array-*.sh"},
    {"DEADLINE", "time limit", RESUME},
    {"NODE_FAIL", "its node failed", RESUME},
    {"BOOT_FAIL", "its node did not start", RESUME},
    {"OUT_OF_MEMORY", "out of memory", "--mem=… in array-*.sh, then resume"},
    {"CANCELLED", "cancelled", RESUME},
};

/* The last of them in the log says how it ended. */
static const struct ending words[] = {
    {"DUE TO PREEMPTION", "preempted", RESUME},
    {"DUE TO TIME LIMIT", "time limit", RESUME "; more time: --time in array-*.sh"},
    {"User defined signal 1: finishing", "left before its time limit",
     RESUME "; more time: --time in array-*.sh"},
    {"DUE TO NODE FAILURE", "its node failed", RESUME},
    {"DUE TO JOB REQUEUE", "queued again, and lost since", RESUME},
    {"exceeded memory limit", "out of memory", "--mem=… in array-*.sh, then resume"},
    {"oom-kill", "out of memory", "--mem=… in array-*.sh, then resume"},
    {"oom_kill", "out of memory", "--mem=… in array-*.sh, then resume"},
    {"CANCELLED AT", "cancelled", RESUME},
};

/* False: there is no such log, or it is empty. */
static bool tail(const char *log, char *buf)
{
    int fd = open(log, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
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

/* Ranks that never came up: as it is, the next job would fare no better. */
static const char *const never_up[][2] = {
    {"srun ended with code",
     "mend that first, or submit anew with [launch] launcher = mpirun (srun "
     "--mpi=list has to name pmix); resume measures the rest"},
    {"mpirun ended with code", "mend that first (modules, setup?); " RESUME},
};

/* What gradsync last complained of: the last line that is not one of its hints. */
static void last_line(struct reason *r, const char *log)
{
    const char *line = NULL;
    for (const char *s = log; (s = strstr(s, "gradsync: ")); s++)
        if (s == log || s[-1] == '\n')
            line = s + strlen("gradsync: ");
    if (!line)
        return;
    snprintf(r->why, sizeof r->why, "%.*s", (int)strcspn(line, "\n"), line);
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
    if (said && (!e || !strcmp(e->mark, "CANCELLED"))) /* an oom kill may be called cancelled */
        e = said;
    if (!e && there && strstr(buf, "Terminated: finishing"))
        e = &states[sizeof states / sizeof *states - 1];
    if (e) {
        say(r, e->why, e->remedy);
        return;
    }
    say(r, state ? "ended without a result" : "ended, and Slurm has forgotten how", RESUME);
    if (there)
        last_line(r, buf);
    else if (state && !strcmp(state, "FAILED"))
        say(r, "could not write its log",
            "put the campaign where compute nodes can write (submit -o), or see sinfo -R");
}

/* ---- cells ---- */

static const struct {
    const char *kind, *remedy;
} kinds[] = {
    {"crash", "see its .log beside the recording"},
    {"hang", "more [measure] deadline if it is only slow; else see its .log"},
    {"lost", "a rank or node vanished: see its .log and dmesg of the node"},
    {"wrong", "the result is wrong: do not trust this configuration"},
    {"failed", "mend what it says, or exclude the cell"},
};

const char *reason_failed(const char *kind)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (!strcmp(kinds[i].kind, kind))
            return kinds[i].remedy;
    return "";
}
