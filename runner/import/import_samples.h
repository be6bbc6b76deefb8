/* SPDX-License-Identifier: Apache-2.0
 *
 * The samples of many cells in memory that a file's length does not bound: a cell keeps its last
 * few thousand, and what was before them waits in a file without a name, below TMPDIR or /var/tmp.
 */
#ifndef GS_IMPORT_SAMPLES_H
#define GS_IMPORT_SAMPLES_H

#include <stddef.h>
#include <stdint.h>

#define SAMPLES_HELD ((size_t)4096) /* of a cell at most */

struct spill { /* the file of all cells; {.fd = -1} until it is wanted */
    int fd;
    uint64_t size; /* samples in it */
};
void spill_close(struct spill *s);

struct samples {
    uint64_t *v; /* the last of them, `held` */
    size_t held, cap;
    uint64_t n;        /* all of them */
    uint64_t *spilled; /* where each SAMPLES_HELD before those lie, in samples */
    size_t n_spilled;
};
/* GS_OK, or GS_FAILED, reported: the disk is full. */
int samples_add(struct samples *x, struct spill *s, uint64_t value);
/* Up to SAMPLES_HELD from the `from`th on, a multiple of SAMPLES_HELD: valid until the next call
 * with the same buf[SAMPLES_HELD]; 0 past the end. -1, reported: cannot be read. */
int samples_piece(const struct samples *x, const struct spill *s, uint64_t from, uint64_t *buf,
                  const uint64_t **out);
void samples_free(struct samples *x);

#endif
