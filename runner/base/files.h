/* SPDX-License-Identifier: Apache-2.0
 *
 * Opens regular files only, and creates files and folders completely or not at all. Callers treat
 * failures differently, so these functions report nothing: they return false, -1 or the path that
 * failed, and set errno.
 */
#pragma once

#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

/* Opens a file that another person may have made: a FIFO would wait for ever, a device never end, a
 * link lead elsewhere. FILES_OWN: the file belongs to a run folder or a campaign, so it is no link.
 * FILES_GIVEN: it may also be a pipe that the user's shell made, below /dev or /proc.
 * -1: files_why tells why. */
enum files_place { FILES_ANY, FILES_OWN, FILES_GIVEN };
int files_open(const char *path, enum files_place place);
FILE *files_stream(const char *path, enum files_place place); /* the same, to read; NULL for -1 */
/* Adds the file to `out`, if it has at most `most` bytes. */
bool files_read(const char *path, enum files_place place, size_t most, struct text *out);
#define FILES_WHOLE_MAX ((size_t)64 << 20) /* plans, manifests, campaigns: read whole */
const char *files_why(int error);          /* strerror, and what errno means here */

/* Adds the names in a folder, sorted, that match the pattern of fnmatch; NULL: all, also hidden ones. */
bool files_list(const char *dir, const char *pattern, struct words *names);
bool files_is_folder(const char *path);
void files_remove_tree(const char *path); /* as far as it can, and not beyond its file system */

/* In front of the declaration of a local variable: closes it when its block ends, if it is open (not
 * -1, not NULL), and keeps errno. */
#define AUTO_CLOSE __attribute__((cleanup(files_auto_close)))
#define AUTO_FCLOSE __attribute__((cleanup(files_auto_fclose)))
void files_auto_close(const int *fd);
void files_auto_fclose(FILE **f);

bool files_write_all(int fd, const void *bytes, size_t n);
/* Creates a file and syncs it to disk. Fails if the name exists, even as a link. */
bool files_write_new(const char *path, const char *text, mode_t mode);
/* ".NAME.PID" beside `path`: what becomes `path` by a rename. The caller frees it. */
char *files_temporary(const char *path);
/* Writes a file whole or not at all: a new one is synced, then renamed. */
bool files_replace(const char *path, const char *text, mode_t mode);
/* Writes to a file that is there, for one of the kernel's in /proc. */
bool files_put(const char *path, const char *text);
/* Creates all folders above `path`. Returns NULL, or the folder that failed; the caller frees it. */
char *files_make_above(const char *path);
/* A new name survives a power failure only after its folder was synced. */
void files_sync_folder(const char *dir);

/* ---- this program ---- */

/* Folder of the running program, without a trailing slash. */
const char *program_dir(void);
/* The file can be executed. */
bool program_runs(const char *path);
/* Path of a program in PATH, freed by the caller; NULL: not found. */
char *program_find(const char *name);

/* ---- SHA-256 ---- */

/* SHA-256 checksums by OpenSSL, which uses the instructions of the CPU. */

void sha256_hex(const void *data, size_t n, char hex[65]);
int sha256_file(const char *path, char hex[65]); /* GS_OK or GS_FAILED, reported */
/* Of data that come piece by piece: *hash is NULL before the first. */
struct evp_md_ctx_st;
void sha256_add(struct evp_md_ctx_st **hash, const void *data, size_t n);
/* Of all pieces so far, and of `more` behind them; other pieces may follow. */
void sha256_with(const struct evp_md_ctx_st *hash, const void *more, size_t n, char hex[65]);
void sha256_free(struct evp_md_ctx_st *hash);
