/* SPDX-License-Identifier: Apache-2.0
 *
 * `mpirun -n 2 gradsync run CONFIG`: the user's launcher starts gradsync once per rank, and each
 * process starts and watches one rank. Rank 0 plans and creates the run folder. It sends the
 * assignment to the others through a file in a folder that all ranks share.
 */
#pragma once

#include <stdbool.h>

struct joined {
    int rank, ranks;
    const char *job; /* a text that all ranks of this job share, and no other job has */
};

/* Reads the launcher's environment. False: started alone, so gradsync starts the launcher. */
bool joined_find(struct joined *j);

/* The decision of rank 0. */
struct assignment {
    int code; /* not GS_OK: rank 0 reported an error, and all ranks exit with this code */
    int launch, attempt; /* launch 0: nothing is missing */
    char *dir;           /* the caller frees it */
};

/* joined_tell (rank 0) writes the assignment into `place`, an existing folder; joined_ask (the others)
 * waits for it; joined_forget (rank 0) removes it at the end. If the file `over` (may be NULL)
 * exists, joined_ask returns launch 0. GS_OK or reported. */
int joined_tell(const struct joined *j, const char *place, const struct assignment *a);
int joined_ask(const struct joined *j, const char *place, const char *over, struct assignment *a);
void joined_forget(const struct joined *j, const char *place);
