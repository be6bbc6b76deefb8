/* SPDX-License-Identifier: Apache-2.0
 *
 * The control socket of a running lab, a Unix socket. A client sends one line, gets one line, and
 * the connection ends.
 *
 *   rate SITE 100Mbit/s   sets its uplink and downlink; 10% is relative to the config
 *   loss SITE 1%          sets the loss of what the site sends
 *   down SITE, up SITE    drops every packet from and to the site, until up
 *   stall SITE, go SITE   holds every packet from and to the site, until go
 *   reset                 restores the values of the config
 *   stats                 {"packets": ...}: counts since the start
 *
 * The answer is "ok", a JSON object, or "error: TEXT".
 */
#pragma once

#include "lab/relay.h"

#define CONTROL_LINE_MAX 256

/* Runs the command of a client that has sent something, and answers. Never waits: an incomplete
 * line gets no answer. The caller closes the client. */
void control_socket_answer(struct relay *r, int client);

/* Sends one command to a lab. GS_OK and the answer without its newline, which the caller frees; or
 * an error code, reported. */
int control_socket_send(const char *socket_path, const char *order, char **answer);
