/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads a recording line by line in bounded memory. All code that reads a .jsonl file uses this.
 */
#pragma once

#include "base/text.h"
#include "record/raw_head.h"
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
    size_t number;               /* line number, from 1 */
    json_t *json;                /* without time_ns for a block; valid until the next raw_next */
    const struct raw_head *head; /* instead of json, after raw_without_trees; otherwise NULL */
    const uint64_t *time_ns;     /* of a block; valid until the next raw_next */
    size_t n;
};

struct raw;

/* GS_OK, or reported: cannot be opened, has a newer schema, is not a recording. A file that is empty
 * or ends inside its header, as after a kill, can be opened and has no lines. */
int raw_open(struct raw **out, const char *path);
/* The same for a file that check_recording has just read: nothing is checked again. */
int raw_open_trusted(struct raw **out, const char *path);
/* Returns the next line whose type is in `want` (bits 1u << type); only those are parsed. 1: a line;
 * 0: the end; -1: damaged, reported with file:line. */
int raw_next(struct raw *r, unsigned want, struct raw_line *line);
/* From now on, a line of one of these types (as in raw_next) comes without json if its form is simple
 * (raw_head.h): it is read by the functions below. Its tree would take several times as long. */
void raw_without_trees(struct raw *r, unsigned types);
/* True at the end if an incomplete last line was ignored. */
bool raw_torn(const struct raw *r);
void raw_close(struct raw *r);
AUTO_POINTER(struct raw, raw_close)

/* raw_tell: where the next line starts. raw_seek goes back there: GS_OK or reported. */
struct raw_place raw_tell(const struct raw *r);
int raw_seek(struct raw *r, struct raw_place to);

/* A member of the given type; false, reported with file:line, if it is absent or of another type. */
bool raw_string(const struct raw *r, const struct raw_line *l, const char *key, const char **out);
bool raw_integer(const struct raw *r, const struct raw_line *l, const char *key, int64_t *out);
/* The same text, or "": there is none. */
const char *raw_text(const struct raw_line *l, const char *key);
/* A number of the line, or of its member `in` (NULL: of the line itself); NaN: there is none. */
double raw_number(const struct raw_line *l, const char *in, const char *key);
