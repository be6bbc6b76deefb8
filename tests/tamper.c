/* SPDX-License-Identifier: Apache-2.0
 *
 * Somebody on the way between two ranks.
 *
 *   tamper PORT TARGET FAULT   relays connections to PORT to TARGET, both of this host; in what the
 *                              caller sends after the hello it makes a fault in each connection:
 *                              none, byte (alters one, wherever it is), head, repeat, drop or swap
 *                              (of one frame that carries a block), payload (of all after it)
 *
 * Built with -DPRELOAD it is a library: connect() to port TAMPER_FROM goes to port TAMPER_TO.
 */
#include "wan_sync/transport/tcp_secret.h"
#include "wan_sync/transport/tcp_wire.h"

#include <arpa/inet.h>
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef PRELOAD
int connect(int fd, const struct sockaddr *to, socklen_t n)
{
    struct sockaddr_in at;
    const char *from = getenv("TAMPER_FROM"), *by = getenv("TAMPER_TO");
    if (from && by && to->sa_family == AF_INET) {
        memcpy(&at, to, sizeof at);
        if (ntohs(at.sin_port) == atoi(from)) {
            at.sin_port = htons((uint16_t)atoi(by));
            return (int)syscall(SYS_connect, fd, &at, sizeof at);
        }
    }
    return (int)syscall(SYS_connect, fd, to, n);
}
#else

enum { BYTE_AT = 100000, FRAME_AT = 3 };

static void get(int fd, void *to, size_t n)
{
    if (n && recv(fd, to, n, MSG_WAITALL) != (ssize_t)n)
        exit(0); /* closed */
}

static void put(int fd, const void *from, size_t n)
{
    for (const char *at = from; n > 0;) {
        ssize_t sent = send(fd, at, n, MSG_NOSIGNAL);
        if (sent <= 0)
            exit(0);
        at += sent, n -= (size_t)sent;
    }
}

/* Bytes as they come; the one at `altered` is changed. */
static void relay(int from, int to, size_t altered)
{
    static char some[65536];
    ssize_t n;
    for (size_t at = 0; (n = recv(from, some, sizeof some, 0)) > 0; at += (size_t)n) {
        if (altered >= at && altered < at + (size_t)n)
            some[altered - at] ^= 4;
        put(to, some, (size_t)n);
    }
    shutdown(to, SHUT_WR);
}

struct whole {
    struct tcp_frame head;
    char payload[1 << 20];
};

static void put_frame(int to, const struct whole *f)
{
    put(to, &f->head, sizeof f->head);
    put(to, f->payload, f->head.bytes);
}

static void relay_frames(int from, int to, const char *fault)
{
    static struct whole frames[2];
    struct whole *f = &frames[0];
    char hello[sizeof(struct tcp_call) + sizeof(struct tcp_confirm)];
    get(from, hello, sizeof(struct tcp_call));
    put(to, hello, sizeof(struct tcp_call));
    get(from, hello, sizeof(struct tcp_confirm));
    put(to, hello, sizeof(struct tcp_confirm));
    for (int blocks = 0;;) {
        get(from, &f->head, sizeof f->head);
        get(from, f->payload, f->head.bytes);
        bool now = f->head.kind == TCP_BLOCK && ++blocks == FRAME_AT;
        if (now && !strcmp(fault, "swap")) {
            f = &frames[1];
            continue;
        }
        if (blocks >= FRAME_AT && f->head.kind == TCP_BLOCK && !strcmp(fault, "payload"))
            f->payload[f->head.bytes / 2] ^= 4;
        if (now && !strcmp(fault, "head"))
            f->head.granted ^= 1u << 20;
        if (!now || strcmp(fault, "drop") != 0)
            put_frame(to, f);
        if (now && !strcmp(fault, "repeat"))
            put_frame(to, f);
        if (f == &frames[1])
            put_frame(to, f = &frames[0]);
    }
}

static struct sockaddr_in local(const char *port)
{
    return (struct sockaddr_in){.sin_family = AF_INET,
                                .sin_port = htons((uint16_t)atoi(port)),
                                .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

int main(int argc, char **argv)
{
    if (argc != 4)
        errx(2, "tamper PORT TARGET FAULT");
    struct sockaddr_in here = local(argv[1]), there = local(argv[2]);
    int listener = socket(AF_INET, SOCK_STREAM, 0), yes = 1;
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(listener, (struct sockaddr *)&here, sizeof here) || listen(listener, 64))
        err(1, "port %s", argv[1]);
    puts("listening");
    fflush(stdout);
    bool whole = strcmp(argv[3], "byte") != 0;
    for (int from; (from = accept(listener, NULL, NULL)) >= 0; close(from)) {
        int to = socket(AF_INET, SOCK_STREAM, 0);
        if (connect(to, (struct sockaddr *)&there, sizeof there) == 0) {
            if (fork() == 0) {
                relay(to, from, SIZE_MAX);
                return 0;
            }
            if (fork() == 0) {
                if (whole)
                    relay_frames(from, to, argv[3]);
                else
                    relay(from, to, BYTE_AT);
                return 0;
            }
        }
        close(to);
    }
    return 1;
}
#endif
