/* SPDX-License-Identifier: Apache-2.0
 *
 * A file of text, line by line in bounded memory, hashed on the way.
 */
#ifndef GS_IMPORT_LINES_H
#define GS_IMPORT_LINES_H

#include "import/import_words.h"

#include <sodium.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LINES_MAX ((size_t)64 << 10)  /* bytes of a line that are looked at */
#define LINES_MOST ((size_t)16 << 20) /* bytes that a line may have */

struct lines {
    const char *path;
    int fd;
    char *buf;   /* bytes [at, end) are read and not yet given out */
    char *start; /* of a line that was cut */
    size_t at, end;
    size_t number; /* of the line last given out */
    bool eof;
    bool torn; /* the line last given out has no newline */
    bool cut;  /* the line last given out was longer than LINES_MAX: its start */
    crypto_hash_sha256_state hash;
};

/* GS_OK, or GS_FAILED, reported: cannot be opened, not a regular file, empty. */
int lines_open(struct lines *in, const char *path);
/* The next line, terminated, without its end (LF, CRLF). 1; 0 at the end; -1, reported: cannot be
 * read, a NUL byte, as text has none, or a line before that is longer than LINES_MOST. Valid until
 * the next. */
int lines_next(struct lines *in, char **line, size_t *n);
/* Bytes as they come, for formats that are no lines: 1; 0 at the end; -1, reported, as above. Not
 * mixed with lines_next but for lines_rewind between. */
int lines_piece(struct lines *in, const char **s, size_t *n);
int lines_rewind(struct lines *in);                /* GS_OK or reported */
void lines_sha256(struct lines *in, char hex[65]); /* at the end */
void lines_close(struct lines *in);

#endif
