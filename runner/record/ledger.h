/* SPDX-License-Identifier: Apache-2.0
 *
 * What a run folder holds: checks its recordings against plan.json, config.ini and each other, and
 * lists what each launch has measured and what failed.
 */
#pragma once

#include "plan/plan.h"
#include "record/raw.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* ---- one recording ---- */

/* Reads one recording as a whole and checks every line: its digest, order, ids, counts and
 * times (record.h), and that it belongs to its run. All readers go through this check first. */

#define LEDGER_FAULTS_MAX 20 /* reported for one file */

/* Compares it with the plan beside it, if there is one. GS_OK, or GS_FAILED with each fault reported. */
int ledger_check_file(const char *path);

/* ---- the ledger ---- */

/* What a run folder already holds. The recordings are the only state of a run. The ledger serves
 * to resume a run, to choose the attempt of a launch that counts, and for status and collect. */

struct ledger_file {
    char *path;
    int launch, attempt;
    char **closed; /* ids of the groups that this attempt closed */
    size_t n_closed;
    char *status; /* of its end line; NULL: no end line (killed, or still running) */
    bool torn;    /* its last line is incomplete, and was ignored */
};

struct ledger_fail {
    char cell[PLAN_ID];
    int launch, attempt;
    char *kind, *why;
    bool again;  /* its process died: it is tried again */
    char *where; /* "rank 2 on east"; NULL: of no rank */
};

struct ledger_cell {
    char id[PLAN_ID], group[PLAN_ID];
};

struct ledger {
    char *dir, *run_id; /* run_id: of the headers; NULL: there is none */
    json_t *plan;       /* plan.json; NULL: there is none, as in an imported run */
    char plan_sha256[65];
    struct ledger_cell *cells; /* of the plan; without one, of the recordings, as they come */
    size_t n_cells;
    json_t *places;            /* {id: its place in cells} */
    struct ledger_file *files; /* sorted by launch, attempt */
    size_t n_files;
    struct ledger_fail *fails;
    size_t n_fails;
};

/* Checks every recording; nothing reads a run that has a fault. GS_OK, or each
 * fault is reported: the folder or a recording cannot be read or is damaged. */
int ledger_read(struct ledger **out, const char *dir);
/* Takes each line of the recordings while they are checked, headers and health as json,
 * until a fault is reported: then what it made is worth nothing. cell: of a cell or a block, its place in
 * ledger.cells. */
struct ledger_reader {
    int (*line)(void *ctx, const struct ledger *l, size_t file, size_t cell, struct raw *raw,
                const struct raw_line *line); /* GS_OK, or reported */
    void *ctx;
};
/* The same as ledger_read, for this reader (NULL: none); every recording must be of this run (NULL: any). */
int ledger_read_of(struct ledger **out, const char *dir, const char *run_id,
                   const struct ledger_reader *reader);
void ledger_free(struct ledger *l);
AUTO_POINTER(struct ledger, ledger_free)

/* The place of a cell in ledger.cells; n_cells: there is none. */
size_t ledger_find(const struct ledger *l, const char *id);

/* True if the group is closed in this launch; *attempt (may be NULL) is the attempt that did. */
bool ledger_closed(const struct ledger *l, int launch, const char *group, int *attempt);
/* The failure by which this launch gave up the cell: skipped, failed or wrong once, or crash, hang or
 * lost more than `retries` times. NULL: it did not. */
const struct ledger_fail *ledger_given_up(const struct ledger *l, int launch, const char *cell,
                                          int64_t retries);
/* Number of groups that the launch still has to measure, marked in missing[] (may be NULL). A group
 * whose cells are all given up is not missing. */
size_t ledger_missing(const struct ledger *l, const struct plan *p, int launch, bool *missing);
int ledger_next_attempt(const struct ledger *l, int launch);

/* ---- one run folder ---- */

/* Checks the recordings of one run folder: each by itself and against plan.json, config.ini and the
 * name of the folder. It needs no manifest. */

/* The last part of the folder's real path. The caller frees it. */
char *ledger_run_id(const char *dir);

/* GS_OK, or GS_FAILED with each fault reported. */
int ledger_check_run(const char *dir);

/* The same, for a run that is about to be completed; its last message gives the remedy. */
int ledger_check_final(const char *dir);
