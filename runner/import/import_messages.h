/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds what launchers and NCCL add to the lines of a program's output.
 */
#pragma once

/* Skips the prefix that a launcher adds: "[1,0]<stdout>: ", " 0: ". */
char *import_past_tag(char *line);

/* Where a message of NCCL begins, "[TIME] HOST:PID:TID [DEVICE] NCCL INFO …"; NULL: the line has
 * none. A message may follow the last field of a row without a blank. */
char *import_message_in(char *line);
