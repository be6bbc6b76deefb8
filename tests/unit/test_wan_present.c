/* SPDX-License-Identifier: Apache-2.0
 *
 * A link that goes on without lost ranks, between forked processes: one is killed in the middle of an
 * exchange, one is stopped for longer than the time-out and goes on. The others have the same sums
 * over the same ranks, and the one that returns is taken back.
 */
#include "team.h"
#include "wan_sync/present/present.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#define RANKS 4
#define VIEWS 65536
#define BLOCK (64 * 1024)
#define TIMEOUT_S 1.0

/* Of all processes. */
struct seen {
    _Atomic rank_set set_of[VIEWS]; /* of the sums that were used; 0: none */
    _Atomic int differ, whole[RANKS], without[RANKS];
    _Atomic int back[RANKS]; /* sums of all, after some without the victim */
};

struct plan {
    struct seen *seen;
    int victim, signal;
};

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A stopped process is woken by its child, three time-outs later. */
static void strike(int how)
{
    pid_t me = getpid(), child = how == SIGSTOP ? fork() : -1;
    if (child == 0) {
        nanosleep(&(struct timespec){.tv_sec = (time_t)(3 * TIMEOUT_S)}, NULL);
        kill(me, SIGCONT);
        _exit(0);
    }
    raise(how);
    if (child > 0)
        waitpid(child, NULL, 0);
}

/* Each rank sends its number to all others and adds the numbers that arrive. -1: the set of ranks
 * changed. */
static int exchange(struct wan_link *l, int me, rank_set set, uint64_t view, bool struck, int how)
{
    static uint32_t out[BLOCK / 4], in[RANKS][BLOCK / 4];
    struct wan_event ev;
    int left = 0;
    out[0] = 1u << me;
    for (int r = 0; r < RANKS; r++) {
        if (r == me || !(set >> r & 1))
            continue;
        in[r][0] = 0;
        if (l->ops->recv(l, r, view, in[r], BLOCK) || l->ops->send(l, r, view, out, BLOCK))
            return -1;
        left += 2;
    }
    if (struck)
        strike(how);
    for (double end = now_s() + 20; left > 0 && now_s() < end;) {
        int got = l->ops->next(l, &ev, 0.05);
        if (got < 0)
            return -1;
        left -= got;
    }
    uint32_t sum = out[0];
    for (int r = 0; r < RANKS; r++)
        sum |= r != me && set >> r & 1 ? in[r][0] : 0;
    return left == 0 && sum == set ? 0 : -2;
}

static void note(struct plan *p, int me, rank_set set, uint64_t view)
{
    struct seen *seen = p->seen;
    rank_set none = 0;
    if (!atomic_compare_exchange_strong(&seen->set_of[view % VIEWS], &none, set) && none != set)
        seen->differ++;
    (ranks_in(set) == RANKS ? seen->whole : seen->without)[me]++;
    if (ranks_in(set) == RANKS && seen->without[(p->victim + 1) % RANKS] >= 5)
        seen->back[me]++;
}

/* All have what they wait for. */
static bool enough(const struct plan *p)
{
    const struct seen *s = p->seen;
    bool kills = p->signal == SIGKILL, all = true;
    for (int r = 0; r < RANKS; r++)
        all &= kills ? r == p->victim || s->without[r] >= 20 : s->back[r] >= 20;
    return all;
}

static int body(const struct wl_host *h, void *arg)
{
    struct plan *p = arg;
    struct link_tcp_options o = {.streams = 2,
                                 .interface = "",
                                 .congestion = "",
                                 .secret_file = "",
                                 .protection = TCP_PROOF,
                                 .deadline_s = TIMEOUT_S};
    struct wan_link *l;
    char why[256];
    if (link_present_open(&l, h, &o, why, sizeof why)) {
        fprintf(stderr, "rank %d: %s\n", h->rank, why);
        return 1;
    }
    int turns = 0;
    for (double end = now_s() + 40; now_s() < end && !enough(p); turns++) {
        uint64_t view;
        present_turn(l);
        rank_set set;
        while ((set = present_set(l, &view))) {
            int rc = exchange(l, h->rank, set, view, h->rank == p->victim && turns == 5, p->signal);
            if (rc == -2 || present_broken(l)) {
                fprintf(stderr, "rank %d: wrong sum, or %s\n", h->rank, l->why);
                return 2;
            }
            if (rc == 0 && present_commit(l) == PRESENT_USED) {
                note(p, h->rank, set, view);
                break;
            }
        }
        if (!set && !present_poll(l, 0.01))
            return 3;
    }
    bool good = enough(p);
    for (double end = now_s() + 1; now_s() < end;) /* the others end as well */
        present_poll(l, 0.01);
    l->ops->close(l);
    return good ? 0 : 4;
}

static void strike_one(int victim, int how, int *exits)
{
    struct plan p = {.victim = victim, .signal = how};
    p.seen = mmap(NULL, sizeof *p.seen, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(p.seen != MAP_FAILED);
    team_run(RANKS, 1, 60, body, &p, exits);
    assert_int_equal(p.seen->differ, 0);
    for (int r = 0; r < RANKS; r++)
        print_message("rank %d: %d sums of all, %d without one\n", r, p.seen->whole[r],
                      p.seen->without[r]);
    munmap(p.seen, sizeof *p.seen);
}

static void killed(void **state)
{
    (void)state;
    int exits[RANKS];
    for (int victim = 0; victim < RANKS; victim += 2) { /* the one that leads, and another */
        strike_one(victim, SIGKILL, exits);
        for (int r = 0; r < RANKS; r++)
            assert_int_equal(exits[r], r == victim ? -SIGKILL : 0);
    }
}

static void stopped(void **state)
{
    (void)state;
    int exits[RANKS];
    strike_one(1, SIGSTOP, exits);
    for (int r = 0; r < RANKS; r++)
        assert_int_equal(exits[r], 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(killed), cmocka_unit_test(stopped)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
