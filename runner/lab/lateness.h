/* SPDX-License-Identifier: Apache-2.0
 *
 * Did the lab keep its times while something was measured? The relay counts packets that it
 * delivered late (relay.h): a machine that has too much else to do does not relay in time, and what
 * is measured then is the machine.
 */
#ifndef GS_LAB_LATENESS_H
#define GS_LAB_LATENESS_H

#include <stdbool.h>
#include <stddef.h>

struct lateness {
    char *control;     /* of the lab; NULL: this is none, and all is well */
    double late_share; /* of packets: with more of them late a block is measured again */
    double delivered, late, late_max_s, drops, losses; /* packets, since the start of the lab */
};

/* GS_OK, or reported: there should be a lab, and is none. lateness_end in both cases. */
int lateness_begin(struct lateness *k);
void lateness_end(struct lateness *k);

/* Where its counts stand. GS_OK, or reported: it does not answer. */
int lateness_mark(struct lateness *k);
/* Since the last mark. GS_OK, and *late when more than late_share were; or reported, as
 * lateness_mark. */
int lateness_judge(struct lateness *k, bool *late);
/* The counts since `from`, for people, "0 of 1200 packets more than 1 ms late, ..."; NULL outside
 * of a lab. */
char *lateness_text(const struct lateness *k, const struct lateness *from);

#endif
