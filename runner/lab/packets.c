/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/packets.h"

#include <string.h>
#include <sys/mman.h>

#define LINE_B 64
#define MEAN_B 500 /* of packets that are neither full nor small; sizes the reservation */
#define SMALL_SLOTS 1e5
#define SPARE_B 16e6 /* what the kernel hands over at once */

static size_t slot_B(size_t bytes)
{
    return (sizeof(struct packet) + PACKET_HEAD_B + bytes + LINE_B - 1) / LINE_B * LINE_B;
}

bool packets_make(struct packets *p, size_t mtu_B, double bytes)
{
    *p = (struct packets){.big_B = slot_B(mtu_B), .small_B = slot_B(PACKET_SMALL_B)};
    size_t big = (size_t)((bytes + SPARE_B) / MEAN_B) * p->big_B;
    size_t small = (size_t)(SMALL_SLOTS + bytes / MEAN_B) * p->small_B;
    p->memory_B = big + small;
    p->memory = mmap(NULL, p->memory_B, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p->memory == MAP_FAILED) {
        p->memory = NULL;
        return false;
    }
    p->next_big = p->memory;
    p->end_big = p->next_small = p->memory + big;
    p->end_small = p->memory + p->memory_B;
    return true;
}

void packets_free(struct packets *p)
{
    if (p->memory)
        munmap(p->memory, p->memory_B);
    p->memory = NULL;
}

struct packet *packet_get(struct packets *p, bool small)
{
    struct packet **list = small ? &p->small : &p->big, *one = *list;
    char **next = small ? &p->next_small : &p->next_big;
    char *end = small ? p->end_small : p->end_big;
    size_t size = small ? p->small_B : p->big_B;
    if (one) {
        *list = one->next;
    } else if (*next + size <= end) {
        one = (void *)*next;
        *next += size;
    }
    if (one) {
        one->small = small;
        one->others = false;
    }
    return one;
}

void packet_put(struct packets *p, struct packet *one)
{
    struct packet **list = one->small ? &p->small : &p->big;
    one->next = *list;
    *list = one;
}

struct packet *packet_fit(struct packets *p, struct packet *one)
{
    struct packet *fits = one->bytes <= PACKET_SMALL_B && !one->small ? packet_get(p, true) : NULL;
    if (!fits)
        return one;
    fits->when = one->when;
    fits->bytes = one->bytes;
    memcpy(fits->data, one->data, PACKET_HEAD_B + one->bytes);
    packet_put(p, one);
    return fits;
}

void fifo_add(struct fifo *f, struct packet *one)
{
    one->next = NULL;
    if (f->first)
        f->last->next = one;
    else
        f->first = one;
    f->last = one;
}

struct packet *fifo_take(struct fifo *f)
{
    struct packet *one = f->first;
    f->first = one->next;
    return one;
}
