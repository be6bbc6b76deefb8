/* SPDX-License-Identifier: Apache-2.0
 *
 * gradsync started as the ranks themselves, `mpirun -n 2 gradsync run CONFIG`: each starts and
 * watches one rank instead of a launcher. Rank 0 plans and makes the folder, and tells the others
 * through a file beside the recordings, which all ranks have to see anyway.
 */
#ifndef GS_JOINED_H
#define GS_JOINED_H

#include <stdbool.h>

struct joined {
    int rank, ranks;
    const char *job; /* the same text in every rank of this job and in no other */
};

/* From the launcher's environment; false: we were started alone, and launch ourselves. */
bool joined_find(struct joined *j);

/* What rank 0 has decided. */
struct assignment {
    int code;            /* not GS_OK: it has reported why, and all end with it */
    int launch, attempt; /* launch 0: nothing is missing any more */
    char *dir;           /* the caller's */
};

/* Rank 0 tells, the others ask, through `place`, an existing folder. GS_OK or reported. `over`: a
 * file whose being there answers them too, with launch 0; NULL: none. Rank 0 takes its word back
 * when all is done. */
int joined_tell(const struct joined *j, const char *place, const struct assignment *a);
int joined_ask(const struct joined *j, const char *place, const char *over, struct assignment *a);
void joined_forget(const struct joined *j, const char *place);

#endif
