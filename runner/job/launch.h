/* SPDX-License-Identifier: Apache-2.0
 *
 * One launch of the user's command with a setting and the engine (plugins/engine). The times of its steps come from
 * the engine, which counts steps by the sequence of collectives; without it, from the lines that the command
 * prints. The command is ended as soon as the caller has enough.
 */
#pragma once

#include "base/family.h"
#include "job/job_output.h"
#include "job/job_process.h"
#include "job/job_watch.h"
#include "job/journal.h"
#include "job/tune_setting.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* A variable of a setting: the launch runs without communication (plugins/engine/engine.h). */
#define LAUNCH_PART "GRADSYNC_PRICE_ARM"

#define LAUNCH_VISIT_MS 150.0 /* short: an arm that lost leaves after few blocks */

struct launch_job {
    char *command; /* for a shell */
    bool one_word; /* it was one word: the shell's own line */
    char *out; /* an absolute folder that all ranks see; each launch makes one of its own in it */
    char *object, *audit; /* libgradsync-engine.so, -audit.so; NULL: none */
    char *python;         /* folder of sitecustomize.py; NULL: not to be used */
    struct interrupts *interrupts;
    double step_s; /* of the job, about; 0: unknown */
    int64_t calls; /* collectives of a step; 0: unknown */
    int64_t bytes; /* of these; 0: unknown */
    int log;       /* file for what the command prints */
};

/* Consecutive steps, the slowest rank. */
struct launch_sample {
    uint64_t ns;
    int64_t steps;
    double at; /* Unix seconds */
};

/* A launch, and what is known of it so far. */
struct launched {
    struct job_watch *watch; /* its GPUs, and what else ran on them */
    struct journals journals;
    struct launch_sample *v; /* visits of auto, or lines */
    size_t n;
    double took_s, step_s;   /* step_s: the median of the samples */
    double begun_s;          /* from the beginning to its first visit or line; 0: none yet */
    double line_s;           /* of a step, by the lines that it prints; 0: unknown */
    bool by_calls;           /* the samples are visits */
    double memory_B;         /* the most that PyTorch allocated on a GPU; 0: unknown */
    int nccl, torch;         /* torch: bits, what the job has of PyTorch's */
    char torch_changed[160]; /* what a switch changed; "": nothing */
    enum tune_link link;
    struct words
        set_inside; /* variables that NCCL saw, and that are not in the environment of gradsync: NAME=VALUE */
    size_t progress; /* visits, when there were more of them than before */
    double progress_at, longest_s;
    double halted_at; /* a process was seen stopped before the first visit; 0: none */
    const char *kind; /* as in a fail line; NULL: measured */
    char why[700];
    char crash[400];  /* how it ended by itself; "": well, or it was ended */
    bool stopped;     /* by a signal */
    bool ended;       /* by itself */
    char holder[300]; /* the file into which NCCL is linked statically; "": none is known */
    bool gloo;        /* DDP made some steps over Gloo, which nothing sees */
};

struct launch {
    struct job_output output; /* the first member: the context of hooks */
    const struct launch_job *job;
    /* What the caller wants. */
    const char *arms; /* for the engine; NULL: they come later (launch_tell) */
    long seed;
    double timeout_s;
    bool ask_link; /* let NCCL report its link */
    /* > 0: the job's results are wanted. Its visits end after so long, and copies take at most this share of a GPU's
     * memory. */
    double keep_s, memory_share;
    /* Looks at what is known; true: it has enough. */
    bool (*enough)(void *ctx, struct launch *l);
    void *ctx;
    /* The rest is the launch's own. */
    struct launched *r;
    struct job_times *times;
    char *folder;
    int lock;
    double began, look_at, full_at; /* full_at: when to see next whether there is room */
};

/* GS_OK, also if the command failed, or reported: nothing can be started. */
int launch_run(struct launch *l, const struct tune_setting *s, struct launched *r);
/* The command takes the place of this process, so its signals, its terminal and its exit code are its own. Returns, once the
 * command has ended, in a process of its own, which watches the engine: GS_OK; or, in this process, reported: nothing
 * can be started. */
int launch_keep(struct launch *l, const struct tune_setting *s, struct launched *r);
/* Writes a file that the engine reads: its "arms"; "leave", IDs of all arms that are not to be visited any more, separated
 * by blanks; "keep", the ID of the arm by which all calls go from now on. */
void launch_tell(const struct launch *l, const char *what, const char *text);
/* True: ranks cannot write what they measure; r->kind and r->why say so. */
bool launch_is_full(struct launch *l);
/* Why it has no visit. The caller frees it. */
char *launch_unseen(const struct launch_job *job, const struct launched *r);
void launched_free(struct launched *r);

/* The words of a command as one line for a shell; a single word is one already. */
char *command_text(char **words);
/* GS_OK, or GS_USAGE, reported: there is no such program. */
int command_find(const char *program);
/* Does the command set this variable itself (env X=1, mpirun -x X=1, --mca)? */
bool command_sets(const char *command, const char *name);
/* Its words without their secrets. */
json_t *command_record(char **words);
/* *words: as the command was given, NULL at the end; the caller frees each of them and the list. GS_OK or
 * reported: a word holds a secret that was not recorded, or `path`, which has `recorded`, is damaged. */
int command_restore(char ***words, const json_t *recorded, const char *path);
