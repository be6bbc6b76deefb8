/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether this machine can have a GPU at all: asked before a folder is made, because ranks would
 * find out one section after another.
 */
#ifndef GS_GPUS_HERE_H
#define GS_GPUS_HERE_H

/* NULL: there is a GPU, or only the plugin can tell. Otherwise why there is none, and what to do.
 */
const char *gpus_here_missing(void);

#endif
