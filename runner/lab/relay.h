/* SPDX-License-Identifier: Apache-2.0
 *
 * The process that joins the sites of a lab. It reads packets from the TUN device of one site and
 * writes them to that of another after the emulated links (mesh.h) have carried them. It also joins
 * the devices of the control network, without rate limit and delay.
 *
 * Clients send commands over a Unix socket (relay_order).
 */
#pragma once

#include "lab/site.h"

#include <stdbool.h>

#define RELAY_PRIORITY 2 /* real-time priority, if permitted; the probe uses a lower one */

/* Runs until the process is killed. Returns the exit code of a failure, reported. `control` is a
 * Unix socket of datagrams. */
int relay_run(const struct lab_spec *spec, const struct site_devices *devices, int control);

/* Sends one command to a lab. GS_OK and the answer without its newline, which the caller frees
 * (answer may be NULL); or an error code, reported. */
int relay_order(const char *socket_path, const char *order, char **answer);

/* Counts of the relay since the start of the lab. Late packets show that this machine was too busy
 * to emulate the network. */
struct lateness {
    char *control;                         /* path of the control socket; NULL outside of a lab */
    double delivered, late, drops, losses; /* packets */
};

/* GS_OK, or reported: the lab does not answer. The caller frees k->control in both cases. */
int lateness_begin(struct lateness *k);
/* Reads the counts. GS_OK, or reported: the lab does not answer. */
int lateness_mark(struct lateness *k);
/* The counts since `from` as text, "0 of 1200 packets more than 1 ms late; ..."; NULL outside of a
 * lab. *many: more than 1% of the packets were late. */
char *lateness_text(const struct lateness *k, const struct lateness *from, bool *many);
