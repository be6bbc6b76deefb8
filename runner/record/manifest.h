/* SPDX-License-Identifier: Apache-2.0
 *
 * The manifest of a run folder: the SHA-256 of each file, and its verification.
 */
#ifndef GS_MANIFEST_H
#define GS_MANIFEST_H

#include "base/sha256.h"

/* Writes MANIFEST.json with the hash of every file, and makes all files read-only. It writes nothing
 * and returns GS_FAILED, reported, if `check` would refuse a recording. */
int manifest_write(const char *dir);
/* GS_OK, or GS_FAILED with each fault reported: missing, edited, truncated or foreign file, no
 * manifest. */
int manifest_verify(const char *dir);
/* The same for one file of the run folder. */
int manifest_verify_file(const char *dir, const char *name);

#endif
