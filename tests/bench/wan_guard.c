/* SPDX-License-Identifier: Apache-2.0
 *
 *   wan_guard [BLOCK]   what the tcp transport does to protect a frame, on one core: CPU time for
 *                       blocks of BLOCK bytes (262144). A line each: NAME GB/s
 */
#include "wan_sync/transport/tcp_guard.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#define SECONDS 0.5

static double cpu_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

struct work {
    struct tcp_guard guard;
    struct tcp_frame frame;
    uint8_t *block, *sealed;
    size_t n;
};

static void prove(struct work *w)
{
    tcp_guard_prove(&w->guard, &w->frame, w->block);
}

static void check(struct work *w)
{
    (void)tcp_guard_head(&w->guard, &w->frame);
    tcp_guard_piece(&w->guard, w->block, w->n);
    (void)tcp_guard_payload(&w->guard, &w->frame);
}

static void encrypt(struct work *w)
{
    for (size_t at = 0; at < w->n; at += TCP_SEALED_B)
        crypto_secretstream_xchacha20poly1305_push(
            &w->guard.stream, w->sealed, NULL, w->block + at,
            w->n - at < TCP_SEALED_B ? w->n - at : TCP_SEALED_B, NULL, 0, 0);
}

static void copy(struct work *w)
{
    memcpy(w->sealed, w->block, w->n);
}

int main(int argc, char **argv)
{
    static const uint8_t key[TCP_KEY_B] = "the key of a bench";
    const struct {
        const char *name;
        void (*run)(struct work *);
    } all[] = {{"memcpy", copy}, {"prove", prove}, {"check", check}, {"encrypt", encrypt}};
    struct work w = {.n = argc > 1 ? strtoul(argv[1], NULL, 10) : 256u << 10};
    uint8_t header[crypto_secretstream_xchacha20poly1305_HEADERBYTES];
    w.block = calloc(1, w.n), w.sealed = calloc(1, w.n + TCP_SEALED_B);
    if (sodium_init() < 0 || !w.block || !w.sealed || !w.n) {
        free(w.block), free(w.sealed);
        return 1;
    }
    tcp_guard_begin(&w.guard, TCP_PROOF, key);
    crypto_secretstream_xchacha20poly1305_init_push(&w.guard.stream, header, key);
    w.frame.bytes = w.n;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        double start = cpu_s(), took;
        size_t times = 0;
        do
            all[i].run(&w), times++;
        while ((took = cpu_s() - start) < SECONDS);
        printf("%s %.2f\n", all[i].name, (double)times * (double)w.n / took / 1e9);
    }
    free(w.block), free(w.sealed);
    return 0;
}
