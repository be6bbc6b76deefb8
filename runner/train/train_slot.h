/* SPDX-License-Identifier: Apache-2.0
 *
 * One start of the command in a launch: a cell of a group, and its copy.
 */
#pragma once

#include "plan/plan.h"
#include "record/record.h"
#include "train/train_times.h"

struct train_slot {
    const struct cell *cell;
    int copy;
    bool measured, failed;
    size_t blocks;
};

/* "bucket_cap=50", or "bucket_cap=25 again" for the second copy of a baseline; in a plan of several
 * groups with the values of their axes: "bucket_cap=50 (batch=8)". */
const char *train_slot_name(const struct plan *p, const struct train_slot *s, char *buf, size_t n);

/* The slots of a group, in the plan's order; the caller frees *slots. */
size_t train_slots_make(struct train_slot **slots, const struct plan *p, const struct group *g);

/* Writes the blocks of a slot, at most [measure] max_blocks, and its note `launched`. */
int train_slot_record(struct record *r, struct train_slot *s, const struct train_step *steps,
                      size_t n, int64_t max_blocks, double took_s);

/* Copies the slots that earlier attempts of this launch have measured, and marks those that failed.
 * GS_OK or reported. */
int train_slots_carry(struct record *r, struct train_slot *slots, size_t n, const char *dir,
                      int launch);
