/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs a command as the shell would: the same terminal, process group and signals.
 */
#ifndef GS_TRIAL_CHILD_H
#define GS_TRIAL_CHILD_H

/* Until it has ended, `meanwhile` is called every few seconds; its first error is kept, and the
 * command runs on. *status is the command's exit code, or 128 and the signal that ended it. GS_OK,
 * or reported: it cannot be started (*status as a shell's: 126, 127), or meanwhile's error. */
int trial_child(char **command, int (*meanwhile)(void *), void *ctx, int *status);

#endif
