/* SPDX-License-Identifier: Apache-2.0
 *
 * Where a rank listens, and where the others find it.
 */
#include "wan_sync/transport/tcp_addr.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

/* ==== addresses, and the socket that listens ==== */

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

/* ==== addresses from a file ==== */

/* Addresses of hosts that do not have them themselves, as behind a NAT that forwards a port. */

#define LINE_MAX_B 512

struct given {
    char host[256], where[256];
};

/* Splits "[ADDRESS]:PORT", "ADDRESS:PORT" or "ADDRESS" in place; an IPv6 address without brackets
 * has no port. Returns the port's text or NULL. */
static char *split_port(char **address)
{
    char *end = strchr(*address, ']'), *colon = strchr(*address, ':');
    if (**address == '[' && end) {
        ++*address;
        *end = 0;
        return end[1] == ':' ? end + 2 : NULL;
    }
    if (!colon || strchr(colon + 1, ':'))
        return NULL;
    *colon = 0;
    return colon + 1;
}

/* Adds every address that the name has here. */
static int resolve(struct tcp_contact *c, const char *name, char *why, size_t size)
{
    struct addrinfo want = {.ai_socktype = SOCK_STREAM}, *all = NULL;
    int rc = getaddrinfo(name, NULL, &want, &all);
    for (const struct addrinfo *a = all; a; a = a->ai_next)
        tcp_contact_add(c, a->ai_addr);
    if (all)
        freeaddrinfo(all);
    if (!rc && c->addresses)
        return 0;
    snprintf(why, size, "addresses: '%.64s' is not an address: %s", name,
             rc ? gai_strerror(rc) : "none that others can reach");
    return -1;
}

static int take(struct tcp_contact *c, char *where, int local_rank, char *why, size_t size)
{
    if (!strcmp(where, "own"))
        return 0;
    c->addresses = 0;
    c->closed = !strcmp(where, "none");
    if (c->closed)
        return 0;
    char *digits = split_port(&where), *end = NULL;
    long port = digits ? strtol(digits, &end, 10) : 0;
    if (digits && (*end || end == digits || port < 1 || port > 65535 - local_rank)) {
        snprintf(why, size, "addresses: port '%.32s' of %.64s: must be 1 to 65535", digits,
                 c->host);
        return -1;
    }
    c->port = port ? (uint16_t)(port + local_rank) : 0;
    return resolve(c, where, why, size);
}

/* 1: found, 0: not there, -1: a line without two words. */
static int find(FILE *f, const char *host, struct given *g, int *line)
{
    char text[LINE_MAX_B];
    for (*line = 1; fgets(text, sizeof text, f); ++*line) {
        text[strcspn(text, "#\n")] = 0;
        int words = sscanf(text, "%255s %255s", g->host, g->where);
        if (words == 1)
            return -1;
        if (words == 2 && !strcasecmp(g->host, host))
            return 1;
    }
    return 0;
}

int tcp_contact_given(struct tcp_contact *c, const char *path, int local_rank, char *why,
                      size_t size)
{
    struct given g;
    int line;
    FILE *f = fopen(path, "re");
    if (!f) {
        snprintf(why, size, "addresses = %s: %s", path, strerror(errno));
        return -1;
    }
    int found = find(f, c->host, &g, &line);
    fclose(f);
    if (found > 0)
        return take(c, g.where, local_rank, why, size);
    if (found < 0)
        snprintf(why, size, "%s:%d: write HOST and ADDRESS[:PORT], own or none", path, line);
    else
        snprintf(why, size,
                 "addresses = %s: no line for host %s; add: %s ADDRESS[:PORT], or own or none",
                 path, c->host, c->host);
    return -1;
}
