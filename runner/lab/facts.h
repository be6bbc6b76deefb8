/* SPDX-License-Identifier: Apache-2.0
 *
 * What a lab says of itself, in the JSON file that GRADSYNC_LAB names while one runs:
 *
 *   schema, mtu_B, congestion, seed, rmem_B, relay ("tun"), late_share (that a block may have)
 *   sites   [{name, wan, ctl, up_Bps, down_Bps, up_queue_B, down_queue_B, pid}]
 *   pairs   [{from, to, rate_Bps (0: the ends'), delay_s, loss, queue_B}], a direction each
 *   before  what was measured before the command (probe.h); in a report also `after`, and
 *           relay_counts (lab/control_socket.c) of the time between
 *   control the path of its socket (lab/control_socket.h)
 *
 * A recording's header has it as "lab", without what is of the moment: pid and control.
 */
#ifndef GS_LAB_FACTS_H
#define GS_LAB_FACTS_H

#include "config/config.h"
#include "lab/spec.h"

#include <jansson.h>
#include <sys/types.h>

#define FACTS_SCHEMA 1
#define FACTS_VARIABLE "GRADSYNC_LAB"

/* `holders`: a process in each site. */
json_t *facts_make(const struct lab_spec *s, double rmem_B, const pid_t *holders,
                   const char *control);
/* At once or not at all. GS_OK or GS_FAILED, reported. */
int facts_write(const json_t *facts, const char *path);

/* The lab that this process runs in; NULL: in none. The caller's. GS_OK, or GS_CANNOT, reported:
 * there should be one. */
int facts_read(json_t **facts);
/* Every host ("a, b") is one of the config's [sites], and this is no lab. */
bool facts_missed(const struct config *c, const char *hosts);
/* For a recording: without what is of the moment. NULL outside of a lab. */
json_t *facts_recorded(void);

#endif
