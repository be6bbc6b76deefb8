/* SPDX-License-Identifier: Apache-2.0
 *
 * Addresses of hosts that do not have them themselves, as behind a NAT that forwards a port.
 */
#include "wan_sync/transport/tcp_addr.h"

#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

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
