/* SPDX-License-Identifier: Apache-2.0
 *
 * A text file in memory, read line by line.
 */
#pragma once

#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>

#define IMPORT_LINE_MAX ((size_t)64 << 10) /* bytes of a line that are given out */
#define IMPORT_FILE_MAX ((size_t)1 << 30)  /* bytes of a file; larger files are refused */

struct import_lines {
    const char *path;
    struct text text;
    size_t at;     /* where the next line begins */
    size_t number; /* of the line last given out */
    bool torn;     /* the line last given out has no newline */
    bool cut;      /* the line last given out is longer than IMPORT_LINE_MAX; this is its start */
    char *stop;    /* where the line last given out is terminated, and the byte that was there */
    char stopped;
};

/* GS_OK; or reported: the file cannot be opened, is not a regular file, is empty or too large, or
 * contains a NUL byte. import_lines_close in both cases. */
int import_lines_open(struct import_lines *in, const char *path);
/* The next line, terminated, without its LF or CRLF; false at the end. Valid until the next call. */
bool import_lines_next(struct import_lines *in, char **line);
void import_lines_rewind(struct import_lines *in);
void import_lines_close(struct import_lines *in);
