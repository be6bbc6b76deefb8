/* SPDX-License-Identifier: Apache-2.0
 *
 * The cells and groups of a run while it is read: found, added, and described by what plan.json and
 * the recordings say of them.
 */
#ifndef GS_RECORDED_CELLS_H
#define GS_RECORDED_CELLS_H

#include "record/recorded.h"

/* A text of an object, "" where it has none; to a text of ours, the caller's. */
const char *recorded_text(const json_t *object, const char *key);
void recorded_set(char **to, const char *s);

struct rec_cell *recorded_find(const struct recorded *r, const char *id); /* NULL: none */
struct rec_cell *recorded_add(struct recorded *r, const char *id, const char *group);
void recorded_describe(struct rec_cell *c, const json_t *o); /* what plan and cell line both say */
void recorded_set_params(struct rec_cell *c, json_t *params);
void recorded_set_metrics(struct rec_cell *c, const json_t *metrics); /* of the first that says */
/* Of a note line, whatever its key. */
void recorded_note(struct recorded *r, const json_t *note);
void recorded_free_cell(struct rec_cell *c);

/* When all is read: cells in the order of their groups, and how many launches each should have. */
void recorded_index_groups(struct recorded *r);
void recorded_count_launches(struct recorded *r);

#endif
