/* SPDX-License-Identifier: Apache-2.0
 *
 * The process that joins the sites of a lab: what it reads from one site's TUN device it writes to
 * another's, when the lines between them (mesh.h) have carried it. The devices of the second net,
 * without rate and delay, are joined by it as well.
 *
 * Orders come, and questions are answered, over a Unix socket: lab/control_socket.h.
 */
#ifndef GS_LAB_RELAY_H
#define GS_LAB_RELAY_H

#include "lab/mesh.h"
#include "lab/site.h"

#include <stdbool.h>
#include <stdint.h>

/* A packet delivered so long after its time is late. */
#define RELAY_LATE_NS 1000000

#define RELAY_PRIORITY 2 /* real-time, where that is permitted; a probe's is below */

struct relay_counts {
    uint64_t delivered, late; /* packets; more than RELAY_LATE_NS after their time */
    double late_sum_ns, late_max_ns;
    uint64_t ctl_packets, strange, refused; /* for no site; by a site's kernel */
};

struct relay {
    struct lab_mesh mesh;
    const struct site_devices *devices; /* one a site */
    struct relay_counts counts;
    bool held[LAB_SITES_MAX]; /* stalled: what is for it or comes from it waits */
    double released_ns[LAB_SITES_MAX];
    void (*answer)(struct relay *r, int client);
};

/* Runs until the process is killed. Returns the exit code of a failure, reported. `control` is a
 * listening Unix socket; `answer` handles a client of it that has sent something. */
int relay_run(const struct lab_spec *spec, const struct site_devices *devices, int control,
              void (*answer)(struct relay *r, int client));

#endif
