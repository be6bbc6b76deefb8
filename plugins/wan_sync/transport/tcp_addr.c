/* SPDX-License-Identifier: Apache-2.0 */
#include "wan_sync/transport/tcp_addr.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool same_interface(const struct ifaddrs *i, const char *interface)
{
    return interface[0] ? strcmp(i->ifa_name, interface) == 0 : !(i->ifa_flags & IFF_LOOPBACK);
}

/* Link-local addresses of IPv6 mean nothing on another host. */
void tcp_contact_add(struct tcp_contact *c, const struct sockaddr *a)
{
    if (c->addresses == TCP_ADDRESSES_MAX || !a)
        return;
    const void *bytes = &((const struct sockaddr_in *)(const void *)a)->sin_addr;
    size_t n = 4;
    if (a->sa_family == AF_INET6) {
        const struct in6_addr *six = &((const struct sockaddr_in6 *)(const void *)a)->sin6_addr;
        if (IN6_IS_ADDR_LINKLOCAL(six))
            return;
        bytes = six, n = 16;
    } else if (a->sa_family != AF_INET) {
        return;
    }
    c->address[c->addresses].family = a->sa_family;
    memcpy(c->address[c->addresses].bytes, bytes, n);
    c->addresses++;
}

void tcp_contact_here(struct tcp_contact *c)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    c->addresses = 0;
    c->closed = false;
    c->port = c->listens;
    tcp_contact_add(c, (const struct sockaddr *)&a);
}

static void names_of(const struct ifaddrs *all, char *text, size_t size)
{
    text[0] = 0;
    for (const struct ifaddrs *i = all; i; i = i->ifa_next) {
        size_t n = strlen(text);
        if (i->ifa_addr && i->ifa_addr->sa_family == AF_INET && n + 2 < size)
            snprintf(text + n, size - n, "%s%s", n ? ", " : "", i->ifa_name);
    }
}

int tcp_contact_own(struct tcp_contact *out, const char *interface, bool loopback, char *why,
                    size_t size)
{
    *out = (struct tcp_contact){0};
    gethostname(out->host, sizeof out->host - 1);
    if (loopback) {
        tcp_contact_here(out);
        return 0;
    }
    struct ifaddrs *all = NULL;
    if (getifaddrs(&all)) {
        snprintf(why, size, "the addresses of this host: %s", strerror(errno));
        return -1;
    }
    static const int families[] = {AF_INET, AF_INET6}; /* the order in which they are tried */
    for (size_t f = 0; f < sizeof families / sizeof *families; f++)
        for (const struct ifaddrs *i = all; i; i = i->ifa_next)
            if ((i->ifa_flags & IFF_UP) && i->ifa_addr && i->ifa_addr->sa_family == families[f] &&
                same_interface(i, interface))
                tcp_contact_add(out, i->ifa_addr);
    char names[128];
    names_of(all, names, sizeof names);
    freeifaddrs(all);
    if (out->addresses > 0)
        return 0;
    if (interface[0])
        snprintf(why, size, "interface = %s: it has no address; interfaces with an address: %s",
                 interface, names);
    else
        snprintf(why, size, "this host has only loopback addresses; interfaces: %s", names);
    return -1;
}

/* One socket for both families where the host has IPv6. */
static int open_socket(bool loopback, int port, struct sockaddr_storage *a, socklen_t *n)
{
    *a = (struct sockaddr_storage){0};
    int no = 0;
    int fd = loopback ? -1 : socket(AF_INET6, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd >= 0 && setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof no) == 0) {
        struct sockaddr_in6 *six = (struct sockaddr_in6 *)a;
        six->sin6_family = AF_INET6, six->sin6_port = htons((uint16_t)port);
        *n = sizeof *six;
        return fd;
    }
    if (fd >= 0)
        close(fd);
    struct sockaddr_in *four = (struct sockaddr_in *)a;
    four->sin_family = AF_INET, four->sin_port = htons((uint16_t)port);
    four->sin_addr.s_addr = htonl(loopback ? INADDR_LOOPBACK : INADDR_ANY);
    *n = sizeof *four;
    return socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
}

int tcp_listen(bool loopback, int port, uint16_t *bound, char *why, size_t size)
{
    struct sockaddr_storage a;
    socklen_t n;
    int yes = 1, fd = open_socket(loopback, port, &a, &n);
    const char *step = "socket";
    /* A port whose last owner has just ended is free; one that somebody listens on is not. */
    bool ok = fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) == 0 &&
              (step = "bind", bind(fd, (struct sockaddr *)&a, n) == 0) &&
              (step = "listen", listen(fd, SOMAXCONN) == 0) &&
              getsockname(fd, (struct sockaddr *)&a, &n) == 0;
    if (!ok) {
        if (errno == EADDRINUSE)
            snprintf(why, size,
                     "port %d is taken by another program or connection; choose another port, best "
                     "outside of net.ipv4.ip_local_port_range, or 0",
                     port);
        else
            snprintf(why, size, "listening on port %d: %s: %s", port, step, strerror(errno));
        if (fd >= 0)
            close(fd);
        return -1;
    }
    *bound = ntohs(a.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&a)->sin6_port
                                           : ((struct sockaddr_in *)&a)->sin_port);
    return fd;
}

socklen_t tcp_contact_address(const struct tcp_contact *c, unsigned k, struct sockaddr_storage *out)
{
    *out = (struct sockaddr_storage){0};
    if (c->address[k].family == AF_INET6) {
        struct sockaddr_in6 *six = (struct sockaddr_in6 *)out;
        six->sin6_family = AF_INET6, six->sin6_port = htons(c->port);
        memcpy(&six->sin6_addr, c->address[k].bytes, 16);
        return sizeof *six;
    }
    struct sockaddr_in *four = (struct sockaddr_in *)out;
    four->sin_family = AF_INET, four->sin_port = htons(c->port);
    memcpy(&four->sin_addr, c->address[k].bytes, 4);
    return sizeof *four;
}

void tcp_contact_text(const struct tcp_contact *c, unsigned k, char *text, size_t size)
{
    char a[INET6_ADDRSTRLEN] = "?";
    inet_ntop(c->address[k].family, c->address[k].bytes, a, sizeof a);
    snprintf(text, size, "%s port %d", a, c->port);
}
