/* SPDX-License-Identifier: Apache-2.0
 *
 * A connection until both ends have shown the cookie of the link, at the start and whenever a stream
 * broke. Rank 0 draws the cookie and gives it to the others over MPI. The caller sends its half first;
 * the called end compares it, in constant time, before it reads anything else, and answers with the
 * other half. The higher rank calls the lower one, unless nobody can connect to the lower one: then the
 * lower one calls.
 *
 * A stranger finds little here. Its connection is a guest in a table of fixed size, which is allocated
 * when the link is opened: nothing is allocated or freed for it. It gets no answer, one second after
 * its first byte, and five seconds without one. A full table drops the oldest guest. A guest may get
 * the place of another while epoll still has events for that one: such an event makes this rank look for
 * bytes that are not there, and does no more.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tcp_link;

#define TCP_COOKIE_HALF_B 32

struct tcp_cookie {
    uint8_t call[TCP_COOKIE_HALF_B], answer[TCP_COOKIE_HALF_B];
};

/* The first bytes of a connection, each way. */
struct tcp_call {
    uint8_t cookie[TCP_COOKIE_HALF_B];
    uint16_t version, from, to, stream;
};
struct tcp_answer {
    uint8_t cookie[TCP_COOKIE_HALF_B];
    uint16_t version, unused[3];
};

/* The first member of every object that epoll points to. */
enum tcp_watched { TCP_LISTENER, TCP_WAKE, TCP_GUEST, TCP_DIAL, TCP_STREAM };

/* A connection that came to the listener. */
struct tcp_guest {
    enum tcp_watched watched; /* TCP_GUEST */
    int fd;                   /* -1: the place is free */
    double came, spoke;       /* spoke: when its first byte was read; 0: not yet */
    size_t have;              /* bytes of call */
    struct tcp_call call;
};

/* A connection that this rank makes for one of its streams, whose part it is. */
struct tcp_dial {
    enum tcp_watched watched; /* TCP_DIAL */
    int fd;                   /* -1: none */
    bool connected;
    double deadline, again; /* again: not before this time */
    size_t have;            /* bytes of answer */
    struct tcp_answer answer;
};

/* 0, or -1 and errno. */
int tcp_cookie_draw(struct tcp_cookie *c);
void tcp_call_make(const struct tcp_cookie *c, unsigned version, int from, int to, int stream,
                   struct tcp_call *out);

/* Opens l->listener and the table of guests. *bound: the port; port 0: any free port, of its own. Links
 * of one process on the same port share its socket: a guest goes to the link whose cookie it shows. 0,
 * or -1 and why. */
int tcp_join_open(struct tcp_link *l, bool loopback, int port, uint16_t *bound, char *why,
                  size_t size);
void tcp_join_close(struct tcp_link *l);
bool tcp_join_calls(const struct tcp_link *l, int peer); /* this rank connects to the peer */
void tcp_join_accept(struct tcp_link *l);
void tcp_join_guest(struct tcp_link *l, struct tcp_guest *g);
void tcp_join_dial(struct tcp_link *l, struct tcp_dial *d);
void tcp_join_tick(struct tcp_link *l); /* connects streams that are down, drops late connections */
bool tcp_join_busy(const struct tcp_link *l);
