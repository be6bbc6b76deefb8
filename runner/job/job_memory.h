/* SPDX-License-Identifier: Apache-2.0
 *
 * The shared memory that a job leaves behind when it is killed: MPI and NCCL keep tens of MiB per rank in
 * /dev/shm, and nobody else removes them.
 */
#pragma once

#include <stddef.h>
#include <sys/types.h>

struct job_memory {
    struct job_segment {
        char *path;
        ino_t inode;
    } * made;
    size_t n;
    ino_t *before; /* files that were there when the job began */
    size_t n_before;
};

void job_memory_begin(struct job_memory *m);
/* Notes the files that one of these processes has mapped and that were not there before. */
void job_memory_look(struct job_memory *m, const pid_t *pids, size_t n);
/* When the job has ended: removes what it made, unless another process has it mapped. */
void job_memory_end(struct job_memory *m);
