/* SPDX-License-Identifier: Apache-2.0
 *
 * Detects whether the emulated network delivered packets late during a measurement. The relay
 * counts late packets (relay.h). On a busy machine it relays late, and the measurement would show
 * the machine, not the network.
 */
#pragma once

#include <stdbool.h>

struct lateness {
    char *control;     /* path of the control socket; NULL outside of a lab: nothing is ever late */
    double late_share; /* a block with a larger share of late packets is measured again */
    double delivered, late, late_max_s, drops, losses; /* packets, since the start of the lab */
};

/* GS_OK, or reported: the lab does not answer. Call lateness_end in both cases. */
int lateness_begin(struct lateness *k);
void lateness_end(struct lateness *k);

/* Reads the counts. GS_OK, or reported: the lab does not answer. */
int lateness_mark(struct lateness *k);
/* Reads the counts; *late: more than late_share of the packets since the last reading were late.
 * GS_OK, or reported, as lateness_mark. */
int lateness_judge(struct lateness *k, bool *late);
/* The counts since `from` as text, "0 of 1200 packets more than 1 ms late, ..."; NULL outside of a
 * lab. */
char *lateness_text(const struct lateness *k, const struct lateness *from);
