/* SPDX-License-Identifier: Apache-2.0
 *
 * The log that one rank writes about one communicator: JSON Lines in out/COMM.HOST.PID.N.jsonl,
 * each line appended with one write(2).
 *   comm      once: schema, host, pid, rank (of the job, -1: unknown), comm, ranks, nodes, abi,
 *             takes_part, nccl (its version, 0: unknown), host, gpu (its UUID, "": unknown), at_ns
 *             (CLOCK_MONOTONIC), unix_s
 *   step      a step was found: number (from 1), call (of the communicator, from 1), calls per
 *             step, bytes per step, hash (of the calls), first (its first calls: [[collective,
 *             bytes], ...])
 *   begin     visits begin, or get shorter: steps per visit, step (its number), block (the first)
 *   visit     step (its number), block, visit (in the block), arm, copy, steps, calls, taken
 *             {"ring/LL128": calls, ...} (the pair with the lowest cost), ran {"ring/LL128 ctas=8":
 *             calls, ...} (as NCCL reports them, without those of the first step; without ctas
 *             before 2.27; empty before 2.24; of a price: how much of them was communicated, {"none":
 *             calls, "all": calls, ...}), unavailable (calls for which the arm's choice is
 *             not available), at_ns: the first call of each step and of the step after the last
 *   dropped   block, visit, arm, step (of the visit), call: other calls interrupted the visit
 *   captured  call: NCCL captured a collective in a CUDA graph (the first time)
 *   over      the visits have ended, and why
 *   kept      arm: from now on every call gets it
 *   loaded    instead of all others, in loaded.HOST.PID.N.jsonl: a process loaded the plugin; nccl.
 *             From the price only at the end of a process without a call that it saw: has_cuda,
 *             has_nccl, has_mpi, alone (a communicator of one rank made calls)
 *   end       calls, bytes, state, visits, dropped, last_call_ns, at_ns: the communicator or the
 *             process ended. A program that is killed writes no end line
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define JOURNAL_LINE 16384

struct journal {
    int fd; /* -1: closed */
    char name[320];
};

#define JOURNAL_HOST 128
/* The name of this host, without what a JSON text or the name of a file cannot hold. */
void journal_host(char name[JOURNAL_HOST]);
/* Creates the file. False, errno says why. */
bool journal_open(struct journal *j, const char *out, const char *comm);
void journal_close(struct journal *j);

struct line {
    size_t n;
    char s[JOURNAL_LINE];
};
/* Appends text; cuts off the part that does not fit. */
void line_add(struct line *l, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Writes the line and a newline. A line that cannot be written is lost: the job must not fail. */
void journal_line(struct journal *j, struct line *l);
