/* SPDX-License-Identifier: Apache-2.0
 *
 * What can be asked of a running lab: one line of text over its Unix socket, one line back, and the
 * connection ends.
 *
 *   rate SITE 100Mbit/s   its uplink and downlink; or a share of what the config says, 10%
 *   loss SITE 1%           of what it sends
 *   down SITE, up SITE     every packet from and to it is dropped, until up
 *   stall SITE, go SITE    every packet from and to it waits, until go
 *   reset                  all as the config says
 *   stats                  {"packets": ...}: counts since the start, see lab/control_socket.c
 *
 * The answer is "ok", the object, or "error: TEXT".
 */
#ifndef GS_LAB_CONTROL_SOCKET_H
#define GS_LAB_CONTROL_SOCKET_H

#include "lab/relay.h"

#define CONTROL_LINE_MAX 256

/* Obeys and answers a client that has said something, at once: the relay waits for nobody. What is
 * no whole line has no answer. The caller closes it. */
void control_socket_answer(struct relay *r, int client);

/* Asks the lab whose socket this is. GS_OK and the answer, or reported. The answer is the caller's
 * and without its line's end. */
int control_socket_send(const char *socket_path, const char *order, char **answer);

#endif
