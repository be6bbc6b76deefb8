/* SPDX-License-Identifier: Apache-2.0
 *
 * The process that joins the sites of a lab. It reads packets from the TUN device of one site and
 * writes them to that of another after the emulated links (mesh.h) have carried them. It also joins
 * the devices of the control network, without rate limit and delay.
 *
 * Clients send commands over a Unix socket (lab/control_socket.h).
 */
#pragma once

#include "lab/mesh.h"
#include "lab/site.h"

#include <stdbool.h>
#include <stdint.h>

/* A packet that is delivered more than this after its time is late. */
#define RELAY_LATE_NS 1000000

#define RELAY_PRIORITY 2 /* real-time priority, if permitted; the probe uses a lower one */

struct relay_counts {
    uint64_t delivered, late; /* packets; more than RELAY_LATE_NS after their time */
    double late_sum_ns, late_max_ns;
    uint64_t ctl_packets;
    uint64_t strange; /* packets for no site */
    uint64_t refused; /* packets that the kernel of a site did not take */
};

struct relay {
    struct lab_mesh mesh;
    const struct site_devices *devices; /* by site */
    struct relay_counts counts;
    bool guarded[LAB_SITES_MAX]; /* new TCP connections to the site only to the admitted port */
    int admitted[LAB_SITES_MAX]; /* 0: to none */
    bool held[LAB_SITES_MAX];    /* stalled: packets from and to the site wait */
    double released_ns[LAB_SITES_MAX];
    void (*answer)(struct relay *r, int client);
};

/* Runs until the process is killed. Returns the exit code of a failure, reported. `control` is a
 * listening Unix socket; `answer` handles a client of it that has sent something. */
int relay_run(const struct lab_spec *spec, const struct site_devices *devices, int control,
              void (*answer)(struct relay *r, int client));
