/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads a recording line by line, checks that it is as it was written, and ends one whose process
 * died. All code that reads a .jsonl file uses this: a process reads a file once, until it changes.
 */
#pragma once

#include "base/text.h"
#include "record/record.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- the members of a line ---- */

/* The members of a line in the form that gradsync writes, in a table instead of a tree. It accepts
 * less than JSON: what it accepts, the JSON library and jsontext.h accept as well. */

#define RAW_MEMBERS 512

/* A member of an object, or an element of an array, whose key is that of the array. */
struct raw_member {
    const char *key, *value; /* a text ends with '\0'; of another value, this is where it starts */
    size_t key_n, text_n;
    const struct raw_member *in,
        *before; /* what holds it (NULL: the line), and its neighbour there */
    char kind;   /* 'i' integer, 'r' real, else its first byte */
};

struct raw_head {
    size_t n;
    struct raw_member v[RAW_MEMBERS];
};

/* ---- a recording ---- */

#define RAW_LINE_MAX (8 << 20) /* bytes, about a million samples */

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
    int launch;                  /* in the name of the file */
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
/* Every line was read and is good: no later reader of this process checks the file again. */
void raw_set_checked(struct raw *r);
/* True at the end if an incomplete last line was ignored. */
bool raw_torn(const struct raw *r);
/* The SHA-256 of the bytes that readers get. GS_OK or reported. */
int raw_sha256(const char *path, char hex[65]);
/* Returns the next line whose type is in `want` (bits 1u << type); only those are parsed. 1: a line;
 * 0: the end; -1: damaged, reported with file:line. */
int raw_next(struct raw *r, unsigned want, struct raw_line *line);
/* From now on, a line of one of these types (as in raw_next) comes without json if its form is simple:
 * it is read by the functions below. Its tree would take several times as long. */
void raw_without_trees(struct raw *r, unsigned types);
/* The tree of such a line; valid until the next raw_next. */
const json_t *raw_tree(struct raw *r, const struct raw_line *line);
void raw_close(struct raw *r);
AUTO_POINTER(struct raw, raw_close)

/* Calls take() with each line of these types (as in raw_next) in the recordings of a run folder, until it
 * returns false. GS_OK, or reported: a recording is damaged, or the folder cannot be read. */
int raw_each(const char *dir, unsigned types, bool (*take)(void *ctx, const struct raw_line *l),
             void *ctx);

/* A member of the given type; false, reported with file:line, if it is absent or of another type. */
bool raw_string(const struct raw *r, const struct raw_line *l, const char *key, const char **out);
bool raw_integer(const struct raw *r, const struct raw_line *l, const char *key, int64_t *out);
/* The same text, or "": there is none. */
const char *raw_text(const struct raw_line *l, const char *key);
/* A number of the line, or of its member `in` (NULL: of the line itself); NaN: there is none. */
double raw_number(const struct raw_line *l, const char *in, const char *key);

/* ---- the end of a recording ---- */

/* Opens a recording for more lines, and removes an incomplete last line. *ended: it has an end line.
 * GS_OK, or GS_FAILED with the system's error or the damage of the recording reported. */
int raw_reopen(struct record *r, const char *path, bool *ended);

/* The fail line that explains the death. The strings belong to the caller. */
struct raw_death {
    const char *cell, *kind, *why, *host, *phase;
    int copy, rank;
};

json_t *raw_fail_line(const struct raw_death *death);

/* Removes an incomplete last line, then adds a fail line for `death` (NULL: none) and the end line. A
 * recording that has an end line is not changed; one without a complete line is deleted; a missing
 * one is ignored. GS_OK or GS_FAILED, reported. */
int raw_end_write(const char *path, const char *status, const struct raw_death *death);
