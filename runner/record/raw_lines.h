/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads the complete lines of a recording, in memory bounded by the longest line. raw.h parses them.
 */
#pragma once

#include "record/chain.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RAW_LINE_MAX (8 << 20) /* bytes, about a million samples: bounds the memory of a reader */

/* A position between two lines. */
struct raw_place {
    uint64_t offset;
    size_t number; /* lines before it */
    struct chain chain;
};

struct raw_lines {
    char *path;
    int fd;
    char *buf; /* bytes [at, end) are read but not yet returned */
    size_t at, end, cap;
    uint64_t buf_offset; /* of buf[0] in the file */
    size_t number;       /* of the line last returned */
    bool torn, eof;
};

int raw_lines_open(struct raw_lines *r, const char *path); /* GS_OK or reported */
/* The next complete line, with '\0' for its newline. 1: a line; 0: the end; -1: reported. */
int raw_lines_next(struct raw_lines *r, char **line, size_t *n);
struct raw_place raw_lines_tell(const struct raw_lines *r);
int raw_lines_seek(struct raw_lines *r, struct raw_place to); /* GS_OK or reported */
void raw_lines_close(struct raw_lines *r);
