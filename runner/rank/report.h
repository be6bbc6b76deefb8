/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes the lines of a recording (record.h) on rank 0; on other ranks the functions do nothing. The
 * first error stays in `code`, and nothing is written after it. So callers check `code` once a block,
 * where the ranks agree on how to continue.
 */
#pragma once

#include "rank/stopping.h"
#include "record/record.h"

#include <jansson.h>

struct report {
    bool writes;     /* this is rank 0 */
    bool open;       /* the file exists */
    json_t *waiting; /* lines to write once the file exists */
    struct record record;
    int code;
};

void report_begin(struct report *r, bool writes);
/* Creates the recording with this header (owned). */
void report_open(struct report *r, const char *path, json_t *header);
/* Drops waiting lines. A recording without an end line is incomplete. */
void report_close(struct report *r);

void report_note(struct report *r, const char *cell, int copy, const char *key, const char *value);
/* Writes the slot's samples of `block`; before the first block also its cell line. */
void report_block(struct report *r, const struct plan *p, const struct group *g, struct slot *s,
                  int block);
/* Takes ownership of before and after, which are NULL on ranks that do not write. */
void report_health(struct report *r, const struct group *g, int block, json_t *before,
                   json_t *after);

struct report_fail {
    const char *kind, *why, *host, *phase;
    int rank;
};
void report_fail(struct report *r, const struct slot *s, const struct report_fail *f);
/* Closes the group. */
void report_group(struct report *r, const struct group *g, const struct slot *slots, size_t n,
                  int blocks);
void report_end(struct report *r, const char *status);
void report_sync(struct report *r);
