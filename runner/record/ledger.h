/* SPDX-License-Identifier: Apache-2.0
 *
 * What a run folder already holds, read from its recordings alone: the state of a run is nowhere
 * else. Used to resume, to choose which attempt of a launch counts, and by status and collect.
 */
#ifndef GS_LEDGER_H
#define GS_LEDGER_H

#include "plan/plan.h"

#include <stdbool.h>
#include <stddef.h>

struct ledger_file {
    char *path;
    int launch, attempt;
    char **closed; /* ids of the groups that this attempt closed */
    size_t n_closed;
    char *status; /* of its end line; NULL: none (killed, or still being written) */
};

struct ledger_fail {
    char cell[PLAN_ID];
    int launch, attempt;
    char *kind, *why;
};

struct ledger {
    char *dir;
    struct ledger_file *files; /* sorted by launch, attempt */
    size_t n_files;
    struct ledger_fail *fails;
    size_t n_fails;
};

/* GS_OK, or reported: folder or a recording unreadable or damaged. */
int ledger_read(struct ledger **out, const char *dir);
void ledger_free(struct ledger *l);

/* Is the group closed in this launch? *attempt, if not NULL, says by which. */
bool ledger_closed(const struct ledger *l, int launch, const char *group, int *attempt);
/* Is the cell given up in this launch: skipped, failed or wrong once, or crash/hang/lost more than
 * `retries` times? */
bool ledger_given_up(const struct ledger *l, int launch, const char *cell, int64_t retries);
/* Groups of the plan that launch still lacks; those whose cells are all given up are not lacking.
 */
size_t ledger_missing(const struct ledger *l, const struct plan *p, int launch, bool *missing);
int ledger_next_attempt(const struct ledger *l, int launch);

#endif
