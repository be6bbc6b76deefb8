/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs one of Slurm's own programs: an argv, never a shell; without the SBATCH_*, SLURM_* and other
 * variables that would change what it does; not past a deadline.
 */
#ifndef GS_CLIENT_H
#define GS_CLIENT_H

#include "base/text.h"

struct reply {
    int status; /* exit status; 128 + the signal that ended it */
    struct text out, err;
};

/* GS_OK when the program ran and exited 0; otherwise reported in one line with what to do:
 * GS_CANNOT no such program, no controller; GS_USAGE what the config asks for; GS_FAILED else.
 * `purpose`: "the campaign was not submitted". reply_free in all cases. */
int client_run(struct reply *r, const char *const *argv, const char *purpose);
/* The same, a failure of the program itself left to the caller to report. */
int client_try(struct reply *r, const char *const *argv, const char *purpose);
void reply_free(struct reply *r);

/* The first line the program said, without its name: "Invalid account or account/partition…". */
char *reply_why(const struct reply *r);

#endif
