/* SPDX-License-Identifier: Apache-2.0
 *
 * Do losses limit the streams? A sender alone can tell, and alone changes its congestion control.
 *
 * What is sent again counts, but not during the start or a probe, which fill a queue on purpose. Below
 * the estimate the kernel's bursts and other ranks may fill it too: a sender cannot tell such losses
 * from those of the line. From their share follows what CUBIC and Reno give a stream
 * (Ha, Rhee and Xu 2008; Mathis 1997). If all streams together have no room for more than ROOM
 * times the rate that arrives, losses are the limit. Then `congestion = auto` changes to BBR, which
 * does not slow down for them; any other choice gets a warning with this advice.
 */
#include "wan_sync/transport/tcp_parts.h"

#include <errno.h>
#include <math.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define ROOM 3.0  /* streams that lose together send less than each alone */
#define LOSSES 10 /* fewer packets say nothing */
#define BETTER "bbr"

static double share_lost(const struct tcp_losses *n)
{
    return n->resent_B / fmax(n->acked_B + n->resent_B, 1);
}

static bool losses_limit(const struct tcp_link *l)
{
    const struct tcp_losses *n = &l->losses;
    double rtt_s = l->paced->rtt_min, p = share_lost(n);
    if (n->resent_B < LOSSES * l->mss_B || rtt_s <= 0)
        return false;
    double reno = 1.22 * l->mss_B / (rtt_s * sqrt(p));
    double cubic = 1.054 * l->mss_B * pow(rtt_s / p, 0.75) / rtt_s;
    return l->options.streams * fmax(l->waited, 1) * fmax(reno, cubic) < ROOM * l->paced->rate;
}

bool tcp_congestion_allowed(const char *name, char *why, size_t size)
{
    int fd = name[0] ? socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0) : -1;
    if (fd < 0)
        return true;
    bool ok = !setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name, (socklen_t)strlen(name));
    if (!ok)
        snprintf(why, size,
                 "congestion = %s: %s; choose one of "
                 "/proc/sys/net/ipv4/tcp_allowed_congestion_control",
                 name, strerror(errno));
    close(fd);
    return ok;
}

static bool set_all(struct tcp_link *l, const char *name)
{
    socklen_t n = (socklen_t)strlen(name);
    char why[256];
    if (!tcp_congestion_allowed(name, why, sizeof why))
        return false;
    for (int r = 0; r < l->host.ranks; r++)
        for (int i = 0; l->peers[r].streams && i < l->options.streams; i++)
            if (l->peers[r].streams[i].fd >= 0)
                setsockopt(l->peers[r].streams[i].fd, IPPROTO_TCP, TCP_CONGESTION, name, n);
    l->options.congestion = BETTER;
    return true;
}

void tcp_congestion_name(const struct tcp_link *l, char *name, socklen_t n)
{
    memset(name, 0, n--);
    if (l->options.congestion[0])
        strncpy(name, l->options.congestion, n);
    else if (getsockopt(l->listener, IPPROTO_TCP, TCP_CONGESTION, name, &n))
        strcpy(name, "?");
}

static void note(const struct tcp_link *l, bool refused)
{
    const struct wl_host *h = &l->host;
    const struct tcp_losses *n = &l->losses;
    char now[32], text[320];
    if (!h->note)
        return;
    tcp_congestion_name(l, now, sizeof now);
    snprintf(text, sizeof text, "%s: %.2g%% of the packets from rank %d were sent again", now,
             100 * share_lost(n), h->rank);
    h->note(h->ctx, "tcp_congestion", text);
    if (!strcmp(now, BETTER))
        return;
    snprintf(text, sizeof text,
             "%.2g%% of the packets from rank %d were sent again, apart from its start and its "
             "probes, whether the line or a full queue dropped them; this limits %s: try "
             "congestion = " BETTER "%s",
             100 * share_lost(n), h->rank, now,
             refused ? ", once net.ipv4.tcp_allowed_congestion_control permits it" : " or auto");
    h->note(h->ctx, WL_WARNING, text);
}

void tcp_congestion_tick(struct tcp_link *l)
{
    struct tcp_losses *n = &l->losses;
    double acked_B = (double)(l->acked_B - n->acked_then);
    double resent_B = (double)(l->resent_B - n->resent_then);
    n->acked_then = l->acked_B, n->resent_then = l->resent_B;
    if (!pace_known(l->paced) || l->paced->phase == PACE_PROBE || n->limit)
        return;
    n->acked_B += acked_B;
    n->resent_B += resent_B;
    n->limit = losses_limit(l);
    if (n->limit)
        note(l, l->automatic && !set_all(l, BETTER));
}
