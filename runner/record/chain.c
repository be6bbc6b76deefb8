/* SPDX-License-Identifier: Apache-2.0 */
#include "record/chain.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

static const char key[] = ",\"chain\":\"";
#define KEY (sizeof key - 1)

size_t chain_place(const char *line, size_t n)
{
    static const char start[] = "{\"type\":\"";
    const size_t from = sizeof start - 1;
    const char *quote =
        n > from && !memcmp(line, start, from) ? memchr(line + from, '"', n - from) : NULL;
    return quote ? (size_t)(quote - line) + 1 : 0;
}

/* The chain after a line that has the member at `place`. */
static struct chain after(const struct chain *before, const char *line, size_t n, size_t place)
{
    struct chain c = {0};
    unsigned char hash[crypto_generichash_BYTES_MIN];
    crypto_generichash_state state;
    static _Atomic bool ready;
    if (!ready && sodium_init() < 0) /* chooses the fastest code for this CPU */
        abort();
    ready = true;
    crypto_generichash_init(&state, NULL, 0, sizeof hash);
    crypto_generichash_update(&state, (const unsigned char *)before->last, strlen(before->last));
    crypto_generichash_update(&state, (const unsigned char *)line, place);
    crypto_generichash_update(&state, (const unsigned char *)line + place + CHAIN_MEMBER,
                              n - place - CHAIN_MEMBER);
    crypto_generichash_final(&state, hash, sizeof hash);
    sodium_bin2hex(c.last, sizeof c.last, hash, CHAIN_DIGITS / 2);
    return c;
}

struct chain chain_write(const struct chain *before, char *line, size_t n, size_t place)
{
    struct chain c = after(before, line, n, place);
    char *at = mempcpy(line + place, key, KEY);
    at = mempcpy(at, c.last, CHAIN_DIGITS);
    *at = '"';
    return c;
}

bool chain_read(struct chain *c, const char *line, size_t n, bool first)
{
    size_t place = chain_place(line, n);
    bool there = place && n >= place + CHAIN_MEMBER && !memcmp(line + place, key, KEY);
    if (first)
        *c = (struct chain){.absent = !there};
    if (!there)
        return c->absent;
    struct chain now = after(c, line, n, place);
    const char *told = line + place + KEY;
    bool same = !memcmp(told, now.last, CHAIN_DIGITS) && told[CHAIN_DIGITS] == '"' && !c->absent;
    memcpy(c->last, told,
           CHAIN_DIGITS); /* the lines after a changed one are not reported as well */
    return same;
}
