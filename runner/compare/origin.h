/* SPDX-License-Identifier: Apache-2.0
 *
 * Where a recording comes from, as far as it can change a time: software, hosts, devices, tuning
 * variables. Launches of different origins are not launches of one thing.
 */
#ifndef GS_ORIGIN_H
#define GS_ORIGIN_H

#include "record/recorded.h"

/* Lines "KEY VALUE", the same text for the same origin; the caller frees it. "" for a recording
 * without a header. GS_OK or reported. */
int origin_read(char **out, const char *path);

/* Of every file of a run's ledger, in its order: an index into `texts`. */
struct origins {
    char **texts;
    size_t n;
    size_t *of_file;
};
int origins_read(struct origins *out, const struct recorded *r);
void origins_free(struct origins *o);

/* Of the recording whose blocks of the group count in this launch; o->n when none does. */
size_t origins_of(const struct origins *o, const struct recorded *r, size_t group, int launch);

/* "nccl 2.28.3 | 2.29.1, hosts a | b"; "" for equal ones; the caller frees it. */
char *origin_difference(const char *a, const char *b);

#endif
