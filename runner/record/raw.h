/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads recordings line by line in bounded memory. Everything that reads a .jsonl goes through
 * here.
 */
#ifndef GS_RAW_H
#define GS_RAW_H

#include "record/raw_lines.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum raw_type {
    RAW_HEADER,
    RAW_NOTE,
    RAW_CELL,
    RAW_BLOCK,
    RAW_HEALTH,
    RAW_FAIL,
    RAW_GROUP,
    RAW_END
};

struct raw_line {
    enum raw_type type;
    size_t number;           /* line number, from 1 */
    json_t *json;            /* without time_ns for a block; valid until the next raw_next */
    const uint64_t *time_ns; /* of a block; valid until the next raw_next */
    size_t n;
};

struct raw;

/* GS_OK or reported: cannot be opened, a newer schema, not a recording. A file that is empty or
 * holds a torn header alone, as a kill leaves it, opens and has no lines. */
int raw_open(struct raw **out, const char *path);
/* 1: a line; 0: the end (*torn says whether a torn last line was left out); -1: damaged, reported
 * with file:line. Only lines of the types in `want` (bits 1u << type) are parsed and returned. */
int raw_next(struct raw *r, unsigned want, struct raw_line *line);
bool raw_torn(const struct raw *r);
void raw_close(struct raw *r);

/* Where the next line starts, to come back to it. raw_seek: GS_OK or reported. */
struct raw_place raw_tell(const struct raw *r);
int raw_seek(struct raw *r, struct raw_place to);

/* Typed members; reported as file:line when absent or of another type. */
bool raw_string(const struct raw *r, const struct raw_line *l, const char *key, const char **out);
bool raw_integer(const struct raw *r, const struct raw_line *l, const char *key, int64_t *out);

#endif
