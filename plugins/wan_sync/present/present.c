/* SPDX-License-Identifier: Apache-2.0 */
#include "wan_sync/present/present.h"

#include "common/clock.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define SLICE_S 0.002    /* of attention to one link, then to the other */
#define DRIVE_S 0.0005   /* words are looked at no more often */
#define UNDRIVEN_S 0.5   /* longer between two looks: it was this rank that was away */
#define BEAT_MOST_S 0.25 /* between two words */
#define JOIN_S 3.0       /* that a returning rank may delay an exchange */
#define WORDS 4          /* on their way to a rank */
struct present {
    struct wan_link base;
    struct wan_link *data, *words;
    struct agree a;
    double timeout_s, beat_s, driven_s, told_s;
    uint64_t view;  /* of the exchange; 0: none */
    uint64_t began; /* of the last one: if it failed, the next one needs another */
    uint64_t since; /* that `data` was begun with */
    bool broken;
    double heard_s[AGREE_RANKS_MOST];
    uint64_t told[AGREE_RANKS_MOST], sent[AGREE_RANKS_MOST], came[AGREE_RANKS_MOST];
    struct agree_word out[AGREE_RANKS_MOST][WORDS], in[AGREE_RANKS_MOST];
};

static struct present *present_of(const struct wan_link *link)
{
    return (struct present *)(uintptr_t)link;
}

static bool broken(struct present *p, const struct wan_link *of)
{
    if (!p->broken)
        snprintf(p->base.why, sizeof p->base.why, "%s", of->why);
    p->broken = true;
    return false;
}

/* ---- words ---- */

static bool await_word(struct present *p, int peer)
{
    return p->words->ops->recv(p->words, peer, p->came[peer], &p->in[peer], sizeof p->in[peer]) ==
               0 ||
           broken(p, p->words);
}

static bool hear(struct present *p, double timeout_s)
{
    struct wan_event ev;
    int got;
    while ((got = p->words->ops->next(p->words, &ev, timeout_s)) > 0) {
        timeout_s = 0;
        if (ev.done == WAN_SENT)
            continue;
        p->heard_s[ev.peer] = now_s();
        p->came[ev.peer]++;
        agree_hear(&p->a, ev.peer, &p->in[ev.peer]);
        if (!await_word(p, ev.peer))
            return false;
    }
    return got == 0 || broken(p, p->words);
}

static bool tell(struct present *p, double now)
{
    if (p->a.changed || now - p->told_s >= p->beat_s) {
        p->a.mine.count++;
        p->a.changed = false;
        p->told_s = now;
    }
    for (int r = 0; r < p->a.ranks; r++) {
        if (r == p->a.me || p->told[r] == p->a.mine.count || link_tcp_unacked(p->words, r) >= WORDS)
            continue;
        struct agree_word *w = &p->out[r][p->sent[r] % WORDS];
        *w = p->a.mine;
        p->told[r] = w->count;
        if (p->words->ops->send(p->words, r, p->sent[r]++, w, sizeof *w))
            return broken(p, p->words);
    }
    return true;
}

/* ---- both links ---- */

static rank_set heard(const struct present *p, double now)
{
    rank_set s = 0;
    for (int r = 0; r < p->a.ranks; r++)
        if (r != p->a.me && now - p->heard_s[r] < p->timeout_s)
            s |= rank_bit(r);
    return s & link_tcp_reaches(p->data);
}

static bool drive(struct present *p, double timeout_s)
{
    double now = now_s(), away_s = now - p->driven_s;
    if (p->broken)
        return false;
    if (timeout_s <= 0 && away_s < DRIVE_S)
        return true;
    for (int r = 0; away_s > UNDRIVEN_S && r < p->a.ranks; r++)
        p->heard_s[r] += away_s;
    if (!hear(p, timeout_s))
        return false;
    p->driven_s = now = now_s();
    agree_tick(&p->a, now, heard(p, now));
    if (p->a.mine.since != p->since) {
        p->since = p->a.mine.since;
        link_tcp_restart(p->data, p->since);
    }
    return tell(p, now);
}

static bool changed(struct present *p)
{
    if (!p->view || (p->a.mine.view == p->view && !agree_is_over(&p->a)))
        return false;
    snprintf(p->base.why, sizeof p->base.why, "the ranks that are present have changed");
    return true;
}

static int next_present(struct wan_link *link, struct wan_event *ev, double timeout_s)
{
    struct present *p = present_of(link);
    double end = now_s() + timeout_s, left = timeout_s;
    do {
        if (!drive(p, 0) || changed(p))
            return -1;
        int got = p->data->ops->next(p->data, ev, fmax(0, fmin(left, SLICE_S)));
        if (got < 0)
            broken(p, p->data);
        if (got)
            return got;
        left = end - now_s();
    } while (left > 0);
    return 0;
}

bool present_poll(struct wan_link *link, double timeout_s)
{
    struct present *p = present_of(link);
    struct wan_event ev;
    while (drive(p, timeout_s)) {
        int got = p->data->ops->next(p->data, &ev, 0);
        if (got == 0)
            return true;
        if (got < 0)
            broken(p, p->data);
    }
    return false;
}

/* ---- a synchronisation ---- */

void present_turn(struct wan_link *link)
{
    struct present *p = present_of(link);
    p->view = 0;
    agree_turn(&p->a);
}

void present_leave(struct wan_link *link)
{
    struct present *p = present_of(link);
    p->view = 0;
    agree_did(&p->a, &p->a.mine.out);
}

rank_set present_set(struct wan_link *link, uint64_t *view)
{
    struct present *p = present_of(link);
    struct agree *a = &p->a;
    double until_s = now_s() + JOIN_S;
    p->view = 0;
    while (present_poll(link, DRIVE_S) && !agree_is_over(a)) {
        bool waits = agree_leads(a) && agree_returning(a) && now_s() < until_s;
        if (rank_in(a->mine.set, a->me) && a->mine.view != p->began && !waits) {
            agree_did(a, &a->mine.began);
            *view = p->view = p->began = a->mine.view;
            return a->mine.set;
        }
    }
    present_leave(link);
    return 0;
}

enum present_end present_commit(struct wan_link *link)
{
    struct present *p = present_of(link);
    uint64_t view = p->view;
    p->view = 0;
    agree_has_sum(&p->a, view);
    while (p->a.mine.view == view && !agree_is_over(&p->a))
        if (!present_poll(link, SLICE_S))
            return PRESENT_FAILED;
    if (p->a.mine.view == view || p->a.mine.committed != view)
        return PRESENT_AGAIN;
    agree_did(&p->a, &p->a.mine.used);
    return drive(p, DRIVE_S) ? PRESENT_USED : PRESENT_FAILED;
}

bool present_broken(const struct wan_link *link)
{
    return present_of(link)->broken;
}

/* ---- as a link ---- */

static int send_present(struct wan_link *link, int peer, uint64_t id, const void *data,
                        size_t bytes)
{
    struct present *p = present_of(link);
    int rc = p->data->ops->send(p->data, peer, id, data, bytes);
    return rc < 0 ? (broken(p, p->data), -1) : rc;
}

static int recv_present(struct wan_link *link, int peer, uint64_t id, void *data, size_t bytes)
{
    struct present *p = present_of(link);
    int rc = p->data->ops->recv(p->data, peer, id, data, bytes);
    return rc < 0 ? (broken(p, p->data), -1) : rc;
}

static void stats_present(const struct wan_link *link, struct wan_link_stats *stats)
{
    const struct present *p = present_of(link);
    p->data->ops->stats(p->data, stats);
}

static void abort_present(struct wan_link *link)
{
    struct present *p = present_of(link);
    p->data->ops->abort(p->data);
    p->words->ops->abort(p->words);
}

static void close_present(struct wan_link *link)
{
    struct present *p = present_of(link);
    if (p->words)
        p->words->ops->close(p->words);
    if (p->data)
        p->data->ops->close(p->data);
    free(p);
}

/* Without settle(): a sum counts only once all have it. */
static const struct wan_link_ops ops = {
    .name = "tcp",
    .send = send_present,
    .recv = recv_present,
    .next = next_present,
    .stats = stats_present,
    .abort = abort_present,
    .close = close_present,
};

/* Words are few, and are not to wait for each other at the pace of the blocks. */
static int open_words(struct present *p, const struct wl_host *host, struct link_tcp_options o,
                      char *why, size_t size)
{
    struct wl_host silent = *host;
    silent.note = NULL;
    o.streams = 1, o.unpaced = true, o.probe_s = 0;
    return link_tcp_open(&p->words, &silent, &o, why, size);
}

int link_present_open(struct wan_link **out, const struct wl_host *host,
                      const struct link_tcp_options *options, char *why, size_t size)
{
    struct present *p = calloc(1, sizeof *p);
    struct link_tcp_options o = *options;
    o.survives = true;
    if (!p) {
        snprintf(why, size, "out of memory");
        return -1;
    }
    p->base.ops = &ops;
    p->timeout_s = o.deadline_s;
    p->beat_s = fmin(BEAT_MOST_S, o.deadline_s / 10);
    agree_open(&p->a, host->rank, host->ranks);
    p->since = p->a.mine.since;
    bool good =
        link_tcp_open(&p->data, host, &o, why, size) == 0 && open_words(p, host, o, why, size) == 0;
    for (int r = 0; r < host->ranks; r++) {
        p->heard_s[r] = p->driven_s = now_s();
        good = good && (r == host->rank || await_word(p, r));
    }
    if (good)
        *out = &p->base;
    else
        close_present(&p->base);
    return good ? 0 : -1;
}
