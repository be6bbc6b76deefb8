/* SPDX-License-Identifier: Apache-2.0
 *
 * The running hash of a recording. The second member of each line, "chain", is a hash of that line
 * without this member and of the "chain" of the line before. So a reader sees that a line was
 * changed, added, moved or removed since it was written. It is no signature: who edits a line can
 * also compute the hashes anew.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define CHAIN_DIGITS 16
/* Bytes of the member in a line. */
#define CHAIN_MEMBER (sizeof ",\"chain\":\"\"" - 1 + CHAIN_DIGITS)

/* Initialise with {0}. */
struct chain {
    char last[CHAIN_DIGITS + 1]; /* of the line before; "" before the first */
    bool absent;                 /* an older recording, whose lines have no such member */
};

/* The place of the member: after the first member, "type". A line of another form has none: 0. */
size_t chain_place(const char *line, size_t n);
/* Fills the member, for which the n bytes have room at `place`. Returns the chain after this line. */
struct chain chain_write(const struct chain *before, char *line, size_t n, size_t place);
/* Moves the chain past a line. False: the line is not the one that was written after the one before. */
bool chain_read(struct chain *c, const char *line, size_t n, bool first);
