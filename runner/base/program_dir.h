/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GS_PROGRAM_DIR_H
#define GS_PROGRAM_DIR_H

/* Folder of the running program, without a trailing slash. */
const char *program_dir(void);

#endif
