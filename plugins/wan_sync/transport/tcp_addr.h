/* SPDX-License-Identifier: Apache-2.0
 *
 * Where a rank listens, and where the others find it.
 */
#pragma once

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#define TCP_ADDRESSES_MAX 8

/* A rank's addresses, for the other ranks; sent as raw bytes. */
struct tcp_contact {
    char host[64];
    int node;
    bool closed;      /* other hosts cannot connect to it: it connects to them */
    uint16_t listens; /* its port; others may need `port` */
    uint16_t port, addresses;
    struct {
        uint16_t family;
        uint8_t bytes[16];
    } address[TCP_ADDRESSES_MAX];
};

/* Fills in host and addresses: those of `interface`; of all interfaces but loopback if it is ""; or
 * only loopback's. 0, or -1 and why. */
int tcp_contact_own(struct tcp_contact *out, const char *interface, bool loopback, char *why,
                    size_t size);

/* Replaces the addresses by those that the file gives for this host, for example behind a NAT. A line
 * of the file is "HOST ADDRESS[:PORT]" (the port is that of the host's first rank), "HOST own" (no
 * change) or "HOST none" (sets `closed`). 0, or -1 and why. */
int tcp_contact_given(struct tcp_contact *c, const char *path, int local_rank, char *why,
                      size_t size);
void tcp_contact_add(struct tcp_contact *c, const struct sockaddr *a);
/* Makes it the contact of a rank on this host. */
void tcp_contact_here(struct tcp_contact *c);

/* Returns a socket that listens on `port` (0: any free port), and the port in *bound; or -1 and
 * why. */
int tcp_listen(bool loopback, int port, uint16_t *bound, char *why, size_t size);

/* The k-th address, for connect(). */
socklen_t tcp_contact_address(const struct tcp_contact *c, unsigned k,
                              struct sockaddr_storage *out);
void tcp_contact_text(const struct tcp_contact *c, unsigned k, char *text, size_t size);
