/* SPDX-License-Identifier: Apache-2.0
 *
 * What launchers and NCCL itself put into the lines of a program's output.
 */
#ifndef GS_IMPORT_MESSAGES_H
#define GS_IMPORT_MESSAGES_H

/* Past what a launcher puts before a line: "[1,0]<stdout>: ", " 0: ". */
char *import_past_tag(char *line);

/* Where NCCL's own message "[TIME] HOST:PID:TID [DEVICE] NCCL INFO …" begins in the line; NULL:
 * there is none. It may stand in the middle of a row, glued to its last field. */
char *import_message_in(char *line);

#endif
