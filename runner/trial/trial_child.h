/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs a command as the shell would: the same terminal, process group and signals.
 */
#pragma once

/* Calls `meanwhile` every few seconds until the command ends; keeps its first error, and lets the
 * command continue. *status is the exit code of the command, or 128 plus the signal that ended it.
 * GS_OK, or reported: the command cannot be started (*status is 126 or 127, as in a shell), or the
 * error of meanwhile. */
int trial_child(char **command, int (*meanwhile)(void *), void *ctx, int *status);
