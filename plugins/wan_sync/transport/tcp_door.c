/* SPDX-License-Identifier: Apache-2.0
 *
 * Links of one process that listen on the same port share its socket: cells that differ in their
 * links alternate, and one port is open at the site. A connection may come to the socket while
 * another link is driven than the one that it is for; its first message says which.
 */
#include "wan_sync/transport/tcp_hello.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#define HELLOS_EXTRA 64 /* strangers that may be half-way in, beside all of ours */

static struct tcp_link
    *doors; /* the links with a given port; one thread opens, drives and closes */

static struct tcp_link *at_port(int port)
{
    struct tcp_link *l = port ? doors : NULL;
    while (l && l->port != port)
        l = l->next_door;
    return l;
}

int tcp_door_open(struct tcp_link *l, bool loopback, int port, uint16_t *bound, char *why,
                  size_t size)
{
    const struct tcp_link *other = at_port(port);
    if (!tcp_congestion_allowed(l->options.congestion, why, size))
        return -1;
    l->listener = other ? fcntl(other->listener, F_DUPFD_CLOEXEC, 0)
                        : tcp_listen(loopback, port, bound, why, size);
    if (l->listener < 0) {
        if (other)
            snprintf(why, size, "a second socket on port %d: %s", port, strerror(errno));
        return -1;
    }
    if (other)
        *bound = (uint16_t)port;
    if (port) {
        l->port = port;
        l->next_door = doors;
        doors = l;
    }
    return 0;
}

void tcp_door_close(struct tcp_link *l)
{
    struct tcp_link **at = &doors;
    while (*at && *at != l)
        at = &(*at)->next_door;
    if (*at)
        *at = l->next_door;
    if (l->listener >= 0)
        close(l->listener);
}

/* The link on this port with that job; NULL: none. */
static struct tcp_link *link_of(const struct tcp_link *l, const uint8_t job[16])
{
    for (struct tcp_link *d = at_port(l->port); d; d = d->next_door)
        if (d->port == l->port && d->pairs && !memcmp(d->pairs[0].hello.job, job, 16))
            return d;
    return NULL;
}

void tcp_door_hand_over(struct tcp_hello *h)
{
    struct tcp_link *from = h->link, *to = link_of(from, h->call.job);
    if (!to || to == from)
        return;
    epoll_ctl(from->epoll, EPOLL_CTL_DEL, h->fd, NULL);
    tcp_hello_unlist(h);
    tcp_hello_list(h, to);
    tcp_watch(to, EPOLL_CTL_ADD, h->fd, EPOLLIN, h);
}

/* The oldest incoming connection that has sent nothing; a peer speaks as soon as it is connected. */
static struct tcp_hello *oldest_silent(struct tcp_link *l)
{
    struct tcp_hello *oldest = NULL;
    for (struct tcp_hello *h = l->hellos; h; h = h->next) /* the newest first */
        if (h->step == TCP_WANTS_CALL && h->have == 0)
            oldest = h;
    return oldest;
}

/* A full table drops a silent connection, so that idle strangers cannot keep a peer out. */
void tcp_door_accept(struct tcp_link *l)
{
    unsigned most = HELLOS_EXTRA + (unsigned)(l->host.ranks * l->options.streams);
    for (;;) {
        int fd = accept4(l->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd < 0)
            return;
        struct tcp_hello *silent = l->hellos_n < most ? NULL : oldest_silent(l);
        if (silent)
            tcp_hello_drop(silent, "silent");
        if (l->hellos_n < most) {
            tcp_hello_new(l, fd, TCP_WANTS_CALL, EPOLLIN);
            continue;
        }
        close(fd);
        l->seen.strangers++;
    }
}
