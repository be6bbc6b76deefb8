/* SPDX-License-Identifier: Apache-2.0
 *
 * Where blocks go: which came already, and a buffer for each that is awaited or was not awaited
 * yet.
 */
#include "wan_sync/transport/tcp_parts.h"

#include <stdlib.h>
#include <string.h>

bool tcp_peer_came(const struct tcp_peer *p, uint64_t seq)
{
    return seq < p->low || p->came[seq / 64 % (TCP_SEQ_WINDOW / 64)] >> seq % 64 & 1;
}

void tcp_peer_mark(struct tcp_peer *p, uint64_t seq)
{
    p->came[seq / 64 % (TCP_SEQ_WINDOW / 64)] |= UINT64_C(1) << seq % 64;
    for (;;) {
        uint64_t *word = &p->came[p->low / 64 % (TCP_SEQ_WINDOW / 64)];
        uint64_t bit = UINT64_C(1) << p->low % 64;
        if (!(*word & bit))
            return;
        *word &= ~bit;
        p->low++;
    }
}

static struct tcp_slot **bucket(struct tcp_peer *p, uint64_t id)
{
    _Static_assert(TCP_SLOTS == 1u << 10, "the hash has 10 bits");
    return &p->slots[(id * UINT64_C(0x9E3779B97F4A7C15)) >> 54];
}

struct tcp_slot *tcp_slot_find(struct tcp_peer *p, uint64_t id)
{
    struct tcp_slot *s = *bucket(p, id);
    while (s && s->id != id)
        s = s->next;
    return s;
}

static struct tcp_slot *slot_add(struct tcp_peer *p, uint64_t id, void *data, size_t bytes)
{
    struct tcp_slot *s = malloc(sizeof *s), **at = bucket(p, id);
    if (!s)
        return NULL;
    *s = (struct tcp_slot){.next = *at, .id = id, .data = data, .bytes = bytes};
    return *at = s;
}

static void slot_remove(struct tcp_peer *p, struct tcp_slot *slot)
{
    struct tcp_slot **at = bucket(p, slot->id);
    while (*at != slot)
        at = &(*at)->next;
    *at = slot->next;
    if (slot->stash)
        free(slot->data);
    free(slot);
}

struct tcp_slot *tcp_slot_stash(struct tcp_peer *p, uint64_t id, size_t bytes)
{
    uint8_t *data = malloc(bytes ? bytes : 1);
    struct tcp_slot *s = data ? slot_add(p, id, data, bytes) : NULL;
    if (!s) {
        free(data);
        return NULL;
    }
    s->stash = true;
    return s;
}

void tcp_slot_filled(struct tcp_peer *p, struct tcp_slot *slot)
{
    slot->taken = NULL;
    slot->whole = true;
    if (slot->stash && !slot->wanted)
        return;
    if (slot->stash)
        memcpy(slot->wanted, slot->data, slot->bytes);
    tcp_tell(p->link, WAN_RECEIVED, p->rank, slot->id);
    p->posted--;
    slot_remove(p, slot);
}

int tcp_peer_post(struct tcp_peer *p, uint64_t id, void *data, size_t bytes)
{
    struct tcp_slot *s = tcp_slot_find(p, id);
    if (s && (!s->stash || s->wanted))
        return tcp_fail(p->link, "block %llu of rank %d is posted twice", (unsigned long long)id,
                        p->rank);
    if (s && s->bytes != bytes)
        return tcp_fail(p->link, "rank %d (%s) sent block %llu with %zu bytes; expected %zu",
                        p->rank, p->contact.host, (unsigned long long)id, s->bytes, bytes);
    tcp_peer_begin_wait(p);
    p->posted++;
    p->posted_B += bytes;
    if (s) {
        s->wanted = data;
        if (s->whole)
            tcp_slot_filled(p, s);
    } else if (!slot_add(p, id, data, bytes)) {
        return tcp_fail(p->link, "no memory for a block from rank %d", p->rank);
    }
    p->asks = p->link->asked = true;
    return 0;
}

/* A block that came in part comes again: its place is as it was before. */
void tcp_slot_release(struct tcp_stream *s)
{
    struct tcp_slot *slot = s->slot;
    s->slot = NULL;
    if (!slot)
        return;
    slot->taken = NULL;
    if (!slot->stash)
        return;
    void *wanted = slot->wanted;
    uint64_t id = slot->id;
    size_t bytes = slot->bytes;
    slot_remove(s->peer, slot);
    if (wanted && !slot_add(s->peer, id, wanted, bytes))
        tcp_fail(s->peer->link, "no memory for a block from rank %d", s->peer->rank);
}

void tcp_slots_free(struct tcp_peer *p)
{
    for (size_t i = 0; i < TCP_SLOTS; i++)
        for (struct tcp_slot *s = p->slots[i], *next; s; s = next) {
            next = s->next;
            if (s->stash)
                free(s->data);
            free(s);
        }
}
