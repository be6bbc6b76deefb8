/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#define GRADSYNC_VERSION "0.2.0"

/* The git commit of the source, with "-dirty" appended if it was changed; "unknown" outside git. The
 * makefile sets it. */
extern const char gradsync_commit[];
