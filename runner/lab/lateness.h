/* SPDX-License-Identifier: Apache-2.0
 *
 * Did the lab keep its times while something was measured? The relay counts packets that it
 * delivered late (relay.h): a machine that has too much else to do does not relay in time, and what
 * is measured then is the machine.
 */
#ifndef GS_LAB_KEPT_H
#define GS_LAB_KEPT_H

#include <stdbool.h>
#include <stddef.h>

struct kept {
    char *control;     /* of the lab; NULL: this is none, and all is well */
    double late_share; /* of packets: with more of them late a block is measured again */
    double delivered, late, late_max_s, drops, losses; /* packets, since the start of the lab */
};

/* GS_OK, or reported: there should be a lab, and is none. kept_end in both cases. */
int kept_begin(struct kept *k);
void kept_end(struct kept *k);

/* Where its counts stand. GS_OK, or reported: it does not answer. */
int kept_mark(struct kept *k);
/* Since the last mark. GS_OK, and *late when more than late_share were; or reported, as
 * kept_mark. */
int kept_judge(struct kept *k, bool *late);
/* The counts since `from`, for people, "0 of 1200 packets more than 1 ms late, ..."; NULL outside
 * of a lab. */
char *kept_text(const struct kept *k, const struct kept *from);

#endif
