/* SPDX-License-Identifier: Apache-2.0
 *
 * Tells the runner when the network to another host is cut. The kernel knows of each TCP connection
 * when the other end's kernel last answered, and with keepalive an idle one is asked every second. So
 * a thread reads that of all connections of this process, MPI's included: it works for every strategy
 * and transport, between two sums, and while MPI blocks. A slow or stopped program is no silence,
 * because its kernel answers. A host is lost when all connections to it are silent.
 */
#ifndef SILENCE_H
#define SILENCE_H

#include "workload.h"

#include <mpi.h>

struct silence;

/* Collective. NULL: no memory, no thread, or no other host. */
struct silence *silence_open(const struct wl_host *host, MPI_Comm comm);
/* From now on a host is lost after this long, two seconds at least. */
void silence_allow(struct silence *s, double timeout_s);
void silence_close(struct silence *s);

#endif
