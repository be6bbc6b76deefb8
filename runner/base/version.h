/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GS_VERSION_H
#define GS_VERSION_H

#define GRADSYNC_VERSION "0.1.0"

/* Of the source it was built from, "-dirty" appended; "unknown" outside git. Set by the makefile.
 */
extern const char gradsync_commit[];

#endif
