/* SPDX-License-Identifier: Apache-2.0
 *
 * The keys of the tcp transport and what they protect: both ends derive the same, nobody else does,
 * none serves two purposes, and a guard refuses what was not sent in its place.
 */
#include "wan_sync/transport/tcp_guard.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- keys ---- */

struct ends {
    struct tcp_own_keys own[3];
    struct tcp_pair_keys pair[2]; /* of ranks 0 and 1 */
};

static void agree(struct ends *e)
{
    char why[200];
    for (int r = 0; r < 3; r++)
        assert_int_equal(tcp_keys_make(&e->own[r], "", why, sizeof why), 0);
    for (int r = 0; r < 2; r++) {
        memcpy(e->pair[r].hello.job, e->own[0].public.job, sizeof e->pair[r].hello.job);
        assert_int_equal(tcp_keys_pair(&e->own[r], r, &e->own[1 - r].public, 1 - r, &e->pair[r]),
                         0);
    }
}

static void both_ends_have_the_same_keys(void **state)
{
    (void)state;
    struct ends e;
    struct tcp_pair_keys stranger;
    agree(&e);
    assert_memory_equal(&e.pair[0], &e.pair[1], sizeof e.pair[0]);
    assert_memory_not_equal(e.pair[0].hello.key, e.pair[0].connections, TCP_KEY_B);
    stranger.hello = e.pair[0].hello;
    assert_int_equal(tcp_keys_pair(&e.own[2], 0, &e.own[1].public, 1, &stranger), 0);
    assert_memory_not_equal(stranger.hello.key, e.pair[0].hello.key, TCP_KEY_B);
    memcpy(stranger.hello.job, e.own[1].public.job, sizeof stranger.hello.job);
    assert_int_equal(tcp_keys_pair(&e.own[0], 0, &e.own[1].public, 1, &stranger), 0);
    assert_memory_not_equal(stranger.hello.key, e.pair[0].hello.key, TCP_KEY_B);
    e.own[0].has_file = true; /* the other has none, or another */
    memcpy(stranger.hello.job, e.own[0].public.job, sizeof stranger.hello.job);
    assert_int_equal(tcp_keys_pair(&e.own[0], 0, &e.own[1].public, 1, &stranger), 0);
    assert_memory_not_equal(stranger.hello.key, e.pair[0].hello.key, TCP_KEY_B);
    assert_int_not_equal(
        tcp_keys_pair(&e.own[0], 0, &(struct tcp_public){.key = {0}}, 1, &stranger), 0);
}

static void a_connection_has_keys_of_its_own(void **state)
{
    (void)state;
    struct ends e;
    struct tcp_ways a[2], b, other;
    struct tcp_call call;
    struct tcp_answer answer, again;
    agree(&e);
    tcp_call_make(&e.pair[1].hello, TCP_VERSION, 1, 0, 0, &call);
    tcp_answer_make(&e.pair[0].hello, &call, &answer);
    tcp_answer_make(&e.pair[0].hello, &call, &again);
    for (unsigned purpose = 0; purpose < 2; purpose++) {
        tcp_keys_connection(&e.pair[1], &call, &answer, true, purpose + 1, &a[purpose]);
        tcp_keys_connection(&e.pair[0], &call, &answer, false, purpose + 1, &b);
        assert_memory_equal(a[purpose].out, b.in, TCP_KEY_B);
        assert_memory_equal(a[purpose].in, b.out, TCP_KEY_B);
        assert_memory_not_equal(b.in, b.out, TCP_KEY_B);
    }
    assert_memory_not_equal(a[0].out, a[1].out, TCP_KEY_B);
    assert_memory_not_equal(a[0].in, a[1].out, TCP_KEY_B);
    tcp_keys_connection(&e.pair[1], &call, &again, true, 1, &other);
    assert_memory_not_equal(a[0].out, other.out, TCP_KEY_B);
}

/* ---- proof ---- */

enum { FRAMES = 3 };
static const char payload[] = "what a frame carries";

static bool accepts(struct tcp_guard *g, const struct tcp_frame *f, const char *carried)
{
    if (!tcp_guard_head(g, f))
        return false;
    tcp_guard_piece(g, carried, 5);
    tcp_guard_piece(g, carried + 5, f->bytes - 5);
    return tcp_guard_payload(g, f);
}

static void prove_all(struct tcp_guard *out, struct tcp_guard *in, struct tcp_frame f[FRAMES])
{
    static const uint8_t key[TCP_KEY_B] = "the key of a connection";
    assert_true(tcp_guard_begin(out, TCP_PROOF, key) && tcp_guard_begin(in, TCP_PROOF, key));
    for (int i = 0; i < FRAMES; i++) {
        f[i] = (struct tcp_frame){.magic = TCP_FRAME_MAGIC, .bytes = sizeof payload};
        tcp_guard_prove(out, &f[i], payload);
    }
}

static void a_proof_holds_for_its_frame_in_its_place(void **state)
{
    (void)state;
    struct tcp_guard out = {0}, in = {0};
    struct tcp_frame f[FRAMES], bad;
    prove_all(&out, &in, f);
    for (int i = 0; i < FRAMES; i++)
        assert_true(accepts(&in, &f[i], payload));
    assert_false(accepts(&in, &f[2], payload)); /* repeated */
    prove_all(&out, &in, f);
    assert_true(accepts(&in, &f[0], payload));
    assert_false(accepts(&in, &f[2], payload)); /* one is left out */
    for (size_t byte = 0; byte < sizeof bad; byte++) {
        prove_all(&out, &in, f);
        bad = f[0];
        ((uint8_t *)&bad)[byte] ^= 1;
        assert_false(tcp_guard_head(&in, &bad));
    }
    for (size_t byte = 0; byte < sizeof payload; byte++) {
        char carried[sizeof payload];
        memcpy(carried, payload, sizeof payload);
        carried[byte] ^= 1;
        prove_all(&out, &in, f);
        assert_false(accepts(&in, &f[0], carried));
    }
}

/* ---- encryption ---- */

enum { LONG_B = 3 * TCP_SEALED_B + 100 };

static void what_is_encrypted_arrives_and_cannot_be_read(void **state)
{
    (void)state;
    static const uint8_t key[TCP_KEY_B] = "the key of a connection";
    static char sent[LONG_B], got[LONG_B], seen[TCP_SEALED_B];
    struct tcp_guard out = {0}, in = {0};
    int fd[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fd), 0);
    assert_true(tcp_guard_begin(&out, TCP_ENCRYPTION, key) &&
                tcp_guard_begin(&in, TCP_ENCRYPTION, key));
    memset(sent, 'x', sizeof sent);
    struct tcp_frame head = {.magic = TCP_FRAME_MAGIC}, came;
    for (size_t at = 0, have = 0; at < LONG_B || have < LONG_B;) {
        ssize_t n = tcp_guard_send(&out, fd[0], (struct iovec){&head, at ? 0 : sizeof head},
                                   (struct iovec){sent + at, LONG_B - at});
        if (at == 0) {
            assert_true(recv(fd[1], seen, sizeof seen, MSG_PEEK) > 1000);
            assert_null(memmem(seen, sizeof seen, "xxx", 3));
            assert_int_equal(tcp_guard_recv(&in, fd[1], &came, sizeof came), sizeof came);
            assert_memory_equal(&came, &head, sizeof head);
            n -= (ssize_t)sizeof head;
        }
        at += (size_t)n;
        size_t left = LONG_B - have;
        n = tcp_guard_recv(&in, fd[1], got + have, left < TCP_SEALED_B ? left : TCP_SEALED_B);
        assert_true(n > 0);
        have += (size_t)n;
    }
    assert_memory_equal(got, sent, LONG_B);
    assert_true(send(fd[0], seen, 17 + 5, 0) > 0);
    assert_int_equal(tcp_guard_recv(&in, fd[1], got, 5), -1);
    assert_int_equal(errno, EBADMSG);
    tcp_guard_end(&out), tcp_guard_end(&in);
    close(fd[0]), close(fd[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_ends_have_the_same_keys),
        cmocka_unit_test(a_connection_has_keys_of_its_own),
        cmocka_unit_test(a_proof_holds_for_its_frame_in_its_place),
        cmocka_unit_test(what_is_encrypted_arrives_and_cannot_be_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
