/* SPDX-License-Identifier: Apache-2.0
 *
 * Checks for a GPU before a run folder is created. Otherwise the ranks of each section would fail one
 * after the other.
 */
#pragma once

/* NULL: there is a GPU, or only the plugin can find out. Otherwise the reason and the remedy. */
const char *gpus_here_missing(void);
/* Their number; 0: none, or unknown. */
int gpus_here_count(void);
