/* SPDX-License-Identifier: Apache-2.0
 *
 * A connection until both ends have proved that they know the secret: a few messages of fixed size,
 * within a short deadline, at the start and whenever a stream broke. The higher rank connects to the
 * lower one, unless nobody can connect to the lower one: then the lower one connects.
 */
#pragma once

#include "wan_sync/transport/tcp_parts.h"

enum tcp_hello_step {
    TCP_CONNECTING,    /* caller: TCP's own handshake */
    TCP_WANTS_ANSWER,  /* caller */
    TCP_WANTS_CALL,    /* called */
    TCP_WANTS_CONFIRM, /* called */
};

struct tcp_hello {
    enum tcp_watched watched; /* TCP_HELLO */
    struct tcp_hello *next;
    struct tcp_link *link;
    struct tcp_stream *stream; /* the called end sets it once the call is proved */
    enum tcp_hello_step step;
    int fd;
    double deadline;
    size_t have; /* bytes of the awaited message */
    struct tcp_call call;
    struct tcp_answer answer;
    struct tcp_confirm confirm;
};

/* NULL: no memory; the socket is closed. */
struct tcp_hello *tcp_hello_new(struct tcp_link *l, int fd, enum tcp_hello_step step,
                                uint32_t events);
/* Add it to the hellos of a link, with a new deadline; remove it from those of its link. */
void tcp_hello_list(struct tcp_hello *h, struct tcp_link *l);
void tcp_hello_unlist(struct tcp_hello *h);
