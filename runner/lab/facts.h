/* SPDX-License-Identifier: Apache-2.0
 *
 * The description of a running lab: a JSON file, named by the variable GRADSYNC_LAB:
 *
 *   schema, mtu_B, congestion, seed, rmem_B, relay ("tun")
 *   host    name of the machine that emulates the sites
 *   late_share  largest allowed share of late packets per block
 *   sites   [{name, wan, ctl, up_Bps, down_Bps, up_queue_B, down_queue_B, pid}]
 *   pairs   [{from, to, rate_Bps (0: that of the sites), delay_s, loss, queue_B, burst,
 *           jitter_s, reorder, cross_Bps}], one per direction
 *   lines   [{rate_Bps, links}], which several links share: "from>to"
 *   before  the probe before the command (probe.h). A report also has `after`, and the counts of
 *           the relay between both as relay_counts (lab/control_socket.c)
 *   control the path of the control socket (lab/control_socket.h)
 *
 * The header of a recording holds it as "lab", without pid and control.
 */
#pragma once

#include "config/config.h"
#include "lab/spec.h"

#include <jansson.h>
#include <sys/types.h>

#define FACTS_SCHEMA 1
#define FACTS_VARIABLE "GRADSYNC_LAB"

/* `holders`: one process in each site. */
json_t *facts_make(const struct lab_spec *s, double rmem_B, const pid_t *holders,
                   const char *control);
/* Writes the file atomically. GS_OK or GS_FAILED, reported. */
int facts_write(const json_t *facts, const char *path);

/* Reads the description of the lab that this process runs in; NULL outside of a lab. The caller
 * frees it. GS_OK, or GS_CANNOT, reported: GRADSYNC_LAB names no readable file. */
int facts_read(json_t **facts);
/* True when every host ("a, b") is one of [sites], but this process runs outside of a lab. */
bool facts_missed(const struct config *c, const char *hosts);
/* What one site can send another: the least of the pair's rate and those of the sites. INFINITY: they
 * are none of this lab. */
double facts_line_Bps(const json_t *lab, const char *from, const char *to);
/* For a recording: without pid and control. NULL outside of a lab. */
json_t *facts_recorded(void);
