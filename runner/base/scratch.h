/* SPDX-License-Identifier: Apache-2.0
 *
 * A folder for the files of an MPI (shared memory segments, session files). A killed MPI leaves
 * 4 MiB per rank behind, which would soon fill the /dev/shm of a container.
 */
#pragma once

struct scratch {
    char *dir; /* NULL: MPI uses its own folders */
    int lock;  /* held by this process; the next gradsync removes folders that no process holds */
    int alive; /* closed when this process ends, however it does: then `keeper` removes the folder */
    int keeper;
};

/* Removes the folders of dead processes, then creates one in shared memory. */
void scratch_make(struct scratch *s);
void scratch_remove(struct scratch *s);
