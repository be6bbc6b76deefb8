/* SPDX-License-Identifier: Apache-2.0
 *
 * Starts a program with all processes that it starts, and ends them: signals to this program, and their
 * temporary folder.
 */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* ---- signals that end this program ---- */

/* Counts signals (Ctrl-C, a closing terminal, a batch system's warning) so that a run stops between
 * two steps. The first signal requests a clean stop, the second an immediate one. */

struct interrupts {
    int fd;          /* readable after a signal; for poll() */
    int count;       /* SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2 so far */
    int last;        /* the last signal; 0: none */
    sigset_t before; /* the signal mask to restore, here and in children */
};

/* Blocks the signals and SIGCHLD; signals that were ignored, as under nohup, stay ignored. Ignores
 * SIGPIPE, so that a closed pipe does not stop a run, and SIGXFSZ, so that write() returns an error
 * instead. GS_OK or GS_FAILED. */
int interrupts_catch(struct interrupts *i);
/* Counts the pending signals; never blocks. */
void interrupts_read(struct interrupts *i);
/* In a child, between fork and exec. */
void interrupts_child(const struct interrupts *i);
void interrupts_release(struct interrupts *i);

/* ---- a process of its own ---- */

/* Runs run(ctx) in a child, which may crash, or load what must not stay; its exit code is what run
 * returns. The wait status; -1 and errno: no process can be made. */
int family_apart(int (*run)(void *ctx), void *ctx);

/* ---- temporary folders ---- */

/* A folder is locked by the process that uses it. The lock; -1: another process has it, another user
 * owns the folder, or it is gone. */
int scratch_lock(const char *path);
/* Removes the folders in `root` whose names begin so and that no process has locked. */
void scratch_sweep(const char *root, const char *prefix);

/* A folder for the files of an MPI (shared memory segments, session files). A killed MPI leaves
 * 4 MiB per rank behind, which would soon fill the /dev/shm of a container. */

struct scratch {
    char *dir; /* NULL: MPI uses its own folders */
    int alive; /* closed when this process ends, however it does: then `keeper` removes the folder */
    int keeper;
};

/* Creates one in shared memory, if there is room. */
void scratch_make(struct scratch *s);
void scratch_remove(struct scratch *s);

/* ---- the processes ---- */

/* The launcher and all processes that it starts. This process is the subreaper: a process that loses
 * its parent becomes our child. So all of them can be found and ended. */

struct process_family {
    pid_t launcher;
    int out;    /* its stdout, non-blocking */
    bool ended; /* the launcher, with this wait status */
    int status;
    pid_t *before; /* earlier children of this process, which are not killed */
    size_t n_before;
};

/* Makes this process the subreaper, so that family_kill finds what it starts from now on. */
void family_adopt(struct process_family *f);
/* All processes that descend from this one. The caller frees *pids. */
size_t family_descendants(pid_t **pids);
/* Starts argv in its own process group: stdin is /dev/null, stdout a pipe, stderr `log`. The launcher
 * dies with this process. GS_OK, or GS_CANNOT, reported: the program cannot be executed. */
int family_start(struct process_family *f, char *const argv[], int log, const struct interrupts *i);
/* The parent of a process; 0: it is gone, or not of this namespace. */
pid_t family_parent(pid_t pid);
/* Its state, 'T' if it is stopped (proc(5)), and its parent. '?' and 0: it is gone. */
char family_state(pid_t pid, pid_t *parent);
/* Gives what can be read from *out, which is non-blocking, to `take`: not all that a program prints which prints forever,
 * since the caller has deadlines. Closes it at its end: -1. */
void family_read(int *out, void (*take)(void *ctx, const char *bytes, size_t n), void *ctx);
/* Reaps the processes that ended. */
void family_reap(struct process_family *f);
/* Kills the remaining processes; their output can still be read from `out`. GS_FAILED, reported, if
 * one is still alive after 10 s (it hangs inside the kernel). */
int family_kill(struct process_family *f);
/* The same, and frees. */
int family_end(struct process_family *f);
