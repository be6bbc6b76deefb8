/* SPDX-License-Identifier: Apache-2.0
 *
 * The manifest of a run folder: the SHA-256 of each file, and its verification. It shows changes that
 * were made after it was written. The digest of a finished launch (record.h) shows changes that were
 * made before. Neither is a signature.
 */
#pragma once

#include "base/files.h"

#include <jansson.h>
#include <stdint.h>

/* Writes MANIFEST.json with the hash of every file, and makes all files read-only. It writes nothing
 * and returns GS_FAILED, reported, if `check` would refuse a recording. */
int manifest_write(const char *dir);
/* The same in two steps, for a folder whose recordings were checked: makes the entry of a file, and
 * writes the manifest, whose member "files" has all entries. */
json_t *manifest_entry(uint64_t bytes, const char *sha256);
int manifest_put(const char *dir, json_t *files);

/* GS_OK, or GS_FAILED with each fault reported: missing, edited, truncated or foreign file, no
 * manifest. */
int manifest_verify(const char *dir);
/* The same for one file of the run folder. A file that is neither there nor listed is none of its faults. */
int manifest_verify_file(const char *dir, const char *name);
