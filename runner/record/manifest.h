/* SPDX-License-Identifier: Apache-2.0
 *
 * Checksums of recordings: a manifest a run, and its verification.
 */
#ifndef GS_MANIFEST_H
#define GS_MANIFEST_H

#include "base/sha256.h"

/* Hashes every file of the run folder into MANIFEST.json (temp, fsync, rename, all read-only).
 * GS_FAILED, reported, and no manifest, when `check` would refuse a recording. */
int manifest_write(const char *dir);
/* GS_OK; GS_FAILED, each fault reported: missing, edited, truncated or foreign file, no manifest.
 */
int manifest_verify(const char *dir);
/* The same for one file of it. */
int manifest_verify_file(const char *dir, const char *name);

#endif
