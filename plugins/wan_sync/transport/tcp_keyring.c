/* SPDX-License-Identifier: Apache-2.0
 *
 * The keys of a link: where they are kept, and when each is made and forgotten.
 */
#include "wan_sync/transport/tcp_parts.h"

#include <stdio.h>
#include <string.h>

static void *secret_array(int n, size_t each)
{
    void *p = sodium_allocarray((size_t)n, each);
    if (p)
        memset(p, 0, (size_t)n * each);
    return p;
}

int tcp_keyring_open(struct tcp_link *l, char *why, size_t size)
{
    int ranks = l->host.ranks;
    if (sodium_init() < 0) {
        snprintf(why, size, "libsodium finds no source of randomness");
        return -1;
    }
    l->keys = secret_array(1, sizeof *l->keys);
    l->pairs = secret_array(ranks, sizeof *l->pairs);
    l->guards = secret_array(2 * ranks * l->options.streams, sizeof *l->guards);
    if (!l->keys || !l->pairs || !l->guards) {
        snprintf(why, size, "no memory for the keys of %d ranks", ranks);
        return -1;
    }
    return tcp_keys_make(l->keys, l->options.secret_file, why, size);
}

int tcp_keyring_pair(struct tcp_link *l)
{
    for (int r = 0; r < l->host.ranks; r++) {
        struct tcp_pair_keys *pair = &l->pairs[r];
        memcpy(pair->hello.job, l->peers[0].public.job, sizeof pair->hello.job);
        if (r != l->host.rank && tcp_keys_pair(l->keys, l->host.rank, &l->peers[r].public, r, pair))
            return tcp_fail(l, "rank %d (%s) sent an invalid public key", r,
                            l->peers[r].contact.host);
    }
    sodium_memzero(l->keys, sizeof *l->keys);
    return 0;
}

void tcp_keyring_close(struct tcp_link *l)
{
    sodium_free(l->guards);
    sodium_free(l->pairs);
    sodium_free(l->keys);
}
