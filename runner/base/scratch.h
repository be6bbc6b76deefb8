/* SPDX-License-Identifier: Apache-2.0
 *
 * A folder for what an MPI leaves behind when it is killed (shared memory segments, session files):
 * 4 MiB a rank and kill fill the /dev/shm of a container soon.
 */
#ifndef GS_SCRATCH_H
#define GS_SCRATCH_H

struct scratch {
    char *dir; /* NULL: there is none, and MPI uses its own places */
    int lock;  /* held while we live: a folder that nobody holds is removed by the next gradsync */
};

/* Removes those that dead processes left, then makes one in shared memory. */
void scratch_make(struct scratch *s);
void scratch_remove(struct scratch *s);

#endif
