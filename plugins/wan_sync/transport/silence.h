/* SPDX-License-Identifier: Apache-2.0
 *
 * Tells the runner when the network to another host is cut. For each TCP connection, the kernel knows
 * when the kernel at the other end last answered; keepalive probes an idle connection every second. A
 * thread reads these times of all connections of this process, MPI's included. So it works for every
 * strategy and transport, between two sums, and while MPI blocks. A slow or stopped program is not
 * silent, because its kernel answers. A host is lost when all connections to it are silent.
 */
#pragma once

#include "workload.h"

#include <mpi.h>

struct silence;

/* Collective. NULL: no memory, no thread, or no other host. */
struct silence *silence_open(const struct wl_host *host, MPI_Comm comm);
/* From now on a host is lost after this long, two seconds at least; 0: never. */
void silence_allow(struct silence *s, double timeout_s);
void silence_close(struct silence *s);
