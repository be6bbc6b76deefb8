/* SPDX-License-Identifier: Apache-2.0
 *
 * A connection until both ends have proved that they know the secret: a few messages of fixed size,
 * within a short deadline. The higher rank connects to the lower one, or the one that nobody can
 * connect to connects to the other, at the start and whenever a stream broke.
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
    struct tcp_stream
        *stream; /* of the caller from the start, of the called once the call is proved */
    enum tcp_hello_step step;
    int fd;
    double deadline;
    size_t have; /* bytes of the awaited message */
    struct tcp_call call;
    struct tcp_answer answer;
    struct tcp_confirm confirm;
};
