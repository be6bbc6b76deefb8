/* SPDX-License-Identifier: Apache-2.0
 *
 * The control socket of a running lab, a Unix socket. A client sends one line, gets one line, and
 * the connection ends.
 * The commands are in lab/orders.h; the answer is "ok", a JSON object, or "error: TEXT".
 */
#pragma once

#include "lab/relay.h"

#define CONTROL_LINE_MAX 256

/* Runs the command of a client that has sent something, and answers. Never waits: an incomplete
 * line gets no answer. The caller closes the client. */
void control_socket_answer(struct relay *r, int client);

/* Sends one command to a lab. GS_OK and the answer without its newline, which the caller frees
 * (answer may be NULL); or an error code, reported. */
int control_socket_send(const char *socket_path, const char *order, char **answer);
