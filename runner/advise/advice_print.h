/* SPDX-License-Identifier: Apache-2.0
 *
 * The advice in the terminal, and in the form that a job takes, each line with a comment that names its
 * evidence. If no setting is advised, the comment says so.
 *
 *   env         lines NAME=VALUE, whose values are words of a shell
 *   pytorch     options of a process group; algorithm and protocol through the environment
 *   sbatch      lines for a job script
 */
#pragma once

#include "advise/advice.h"

/* The sentence and a row for each step. */
void advice_print(const struct steps_evidence *s);

/* GS_OK, or GS_USAGE, reported: there is no such form. */
int emit_known(const char *form);
/* GS_OK, or GS_USAGE, reported: the recordings are of several platforms. */
int emit_print(const struct steps_evidence *s, const char *form);
