/* SPDX-License-Identifier: Apache-2.0
 *
 * Every strategy of wan_sync, run by the engine on 2 to 9 members in one process, over a network
 * that is as unkind as a link may be: two streams a pair, data is read only when it is delivered, and
 * events come in any order.
 */
#include "common/wan_model.h"

#include "../../plugins/wan_sync/strategy.c" // NOLINT(bugprone-suspicious-include)
#include "unit.h"
#include "wan_sync/strategy.h"

#define MEMBERS_MOST 9
#define STREAMS 2
#define BOX 4096

/* ---- the network ---- */

struct parcel {
    uint32_t id;
    const void *from;
    size_t bytes;
};

struct box {
    struct parcel p[BOX];
    size_t n;
};

struct net {
    struct box sent[MEMBERS_MOST][MEMBERS_MOST];   /* waiting for a stream, oldest first */
    struct box stream[MEMBERS_MOST][MEMBERS_MOST]; /* on one */
    struct link_event event[MEMBERS_MOST][BOX];
    size_t events[MEMBERS_MOST];
};

struct end {
    struct link base;
    struct net *net;
    int me;
};

static struct net net;
static uint64_t seed;

static uint32_t chance(uint32_t n)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(seed >> 33) % n;
}

static void put_in(struct box *b, struct parcel p)
{
    assert_true(b->n < BOX);
    b->p[b->n++] = p;
}

static struct parcel take_out(struct box *b, size_t i)
{
    struct parcel p = b->p[i];
    memmove(&b->p[i], &b->p[i + 1], (--b->n - i) * sizeof p);
    return p;
}

static int send_net(struct link *l, int peer, uint32_t id, const void *data, size_t bytes)
{
    struct end *e = (struct end *)l;
    put_in(&e->net->sent[e->me][peer], (struct parcel){id, data, bytes});
    return 0;
}

static int next_net(struct link *l, struct link_event *ev, double timeout_s)
{
    struct end *e = (struct end *)l;
    (void)timeout_s;
    size_t *n = &e->net->events[e->me];
    if (*n == 0)
        return 0;
    uint32_t i = chance((uint32_t)*n);
    *ev = e->net->event[e->me][i];
    e->net->event[e->me][i] = e->net->event[e->me][--*n];
    return 1;
}

static const struct link_ops ops = {.name = "net", .send = send_net, .next = next_net};

static void tell(int rank, struct link_event event)
{
    assert_true(net.events[rank] < BOX);
    net.event[rank][net.events[rank]++] = event;
}

/* Delivers one block from a to b, if there is one. */
static bool deliver(int a, int b)
{
    struct box *on = &net.stream[a][b];
    while (on->n < STREAMS && net.sent[a][b].n)
        put_in(on, take_out(&net.sent[a][b], 0));
    if (on->n == 0)
        return false;
    struct parcel p = take_out(on, chance((uint32_t)on->n));
    void *copy = malloc(p.bytes + 1);
    assert_non_null(copy);
    memcpy(copy, p.from, p.bytes);
    tell(a, (struct link_event){.done = LINK_SENT, .peer = b, .id = p.id});
    tell(b, (struct link_event){
                .done = LINK_RECEIVED, .peer = a, .id = p.id, .data = copy, .bytes = p.bytes});
    return true;
}

/* ---- one all-reduce of everybody ---- */

struct trial {
    enum wan_strategy strategy;
    int members;
    size_t count, block, ahead_B; /* ahead_B 0: two blocks */
    int runs;                     /* of the strategy, one after the other; 0: one */
    enum wire wire;
    const double *share;
    bool floats; /* whose sum depends on the order of addition */
    float *sum;  /* NULL, or where the sum goes */
};

static float input(const struct trial *t, size_t i, int rank)
{
    int x = (int)((i * 2654435761u + (size_t)rank * 40503u) % 2001) - 1000;
    return t->floats ? (float)x / 3 + (float)x * (float)x * (float)x * 1e-7f : (float)x;
}

static struct schedule_shape shape_of(const struct trial *t, int me)
{
    return (struct schedule_shape){.me = me,
                                   .members = t->members,
                                   .count = t->count,
                                   .align = WIRE_GROUP,
                                   .block = t->block,
                                   .least = WIRE_GROUP,
                                   .share = t->share,
                                   .plain = t->wire == WIRE_FP32};
}

/* The runs of everybody, where who has finished one begins the next at once. */
static void run_all(const struct trial *t, struct strategy_engine **engine,
                    struct strategy_task *task, int runs)
{
    int run[MEMBERS_MOST] = {0}, left = t->members, idle = 0;
    for (int r = 0; r < t->members; r++)
        assert_int_equal(strategy_start(engine[r], &task[r]), 0);
    while (left) {
        int r = (int)chance((uint32_t)t->members), peer = (int)chance((uint32_t)t->members);
        idle = r != peer && deliver(r, peer) ? 0 : idle + 1;
        if (idle > 100000)
            fail_msg("%d members stand still", left);
        enum strategy_state s = strategy_poll(engine[r], 0);
        assert_true(s != STRATEGY_FAILED);
        for (int p = 0; p < t->members; p++) /* no more is ahead than the receiver allows */
            assert_true(engine[r]->flow[p].sent_B - engine[p]->flow[r].used_B <=
                        engine[p]->ahead_B);
        if (s != STRATEGY_IDLE || run[r] == runs)
            continue;
        if (++run[r] == runs)
            left--;
        else
            assert_int_equal(strategy_start(engine[r], &task[r]), 0);
    }
}

static double bound(const struct trial *t)
{
    const struct strategy *s = &strategy_of[t->strategy];
    double n = t->members, rounded = s->linear * n + s->square * n * n;
    if (t->floats)
        return 500 * 0x1p-24 * n * n;
    return t->wire == WIRE_FP32 ? 0 : 1000 * wire_of[t->wire].error * rounded * 1.0001;
}

static void check_sums(const struct trial *t, float *const *data)
{
    for (size_t i = 0; i < t->count; i++) {
        double sum = 0;
        for (int r = 0; r < t->members; r++)
            sum += (double)input(t, i, r);
        for (int run = 1; run < t->runs; run++)
            sum *= t->members;
        if (fabs(data[0][i] - sum) > bound(t))
            fail_msg("%s on %d, %zu elements, wire %d: element %zu is %g, not %g within %g",
                     wan_strategy_names[t->strategy], t->members, t->count, t->wire, i,
                     (double)data[0][i], sum, bound(t));
    }
    for (int r = 1; r < t->members; r++)
        assert_memory_equal(data[r], data[0], t->count * sizeof(float));
}

static void exchange(const struct trial *t, float *const *data)
{
    struct strategy_engine *engine[MEMBERS_MOST];
    struct end end[MEMBERS_MOST];
    struct schedule schedule[MEMBERS_MOST];
    struct strategy_task task[MEMBERS_MOST];
    int rank_of[MEMBERS_MOST];
    memset(&net, 0, sizeof net);
    for (int m = 0; m < t->members; m++)
        rank_of[m] = t->members - 1 - m;
    for (int m = 0; m < t->members; m++) {
        int r = rank_of[m];
        struct schedule_shape shape = shape_of(t, m);
        end[r] = (struct end){{.ops = &ops}, &net, r};
        engine[r] = strategy_open(&end[r].base, t->members,
                                  t->ahead_B ? t->ahead_B : 2 * t->block * sizeof(float));
        assert_true(strategy_of[t->strategy].make(&schedule[r], &shape));
        task[r] = (struct strategy_task){
            .schedule = &schedule[r], .rank_of = rank_of, .data = data[r], .wire = t->wire};
    }
    run_all(t, engine, task, t->runs ? t->runs : 1);
    for (int r = 0; r < t->members; r++) {
        for (size_t i = 0; i < net.events[r]; i++)
            free(net.event[r][i].data);
        strategy_close(engine[r]);
        strategy_free(&schedule[r]);
    }
}

static void attempt(const struct trial *t)
{
    float *data[MEMBERS_MOST];
    for (int r = 0; r < t->members; r++) {
        data[r] = malloc(t->count * sizeof(float) + 1);
        for (size_t i = 0; i < t->count; i++)
            data[r][i] = input(t, i, r);
    }
    exchange(t, data);
    check_sums(t, data);
    if (t->sum)
        memcpy(t->sum, data[0], t->count * sizeof(float));
    for (int r = 0; r < t->members; r++)
        free(data[r]);
}

static void each_size(struct trial t)
{
    static const size_t counts[] = {1, 2, 7, 127, 129, 1000, 5000};
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
        for (t.wire = WIRE_FP32; t.wire <= WIRE_INT4; t.wire++) {
            t.count = counts[c];
            attempt(&t);
        }
}

TEST(test_sums)
{
    for (int s = WAN_RING; s < WAN_STRATEGIES; s++)
        for (int n = 2; n <= MEMBERS_MOST; n++) {
            seed = (uint64_t)n * 10 + (uint64_t)s;
            each_size((struct trial){.strategy = (enum wan_strategy)s,
                                     .members = n,
                                     .block = 256,
                                     .ahead_B = (size_t)chance(2) << 20});
        }
}

TEST(test_shares)
{
    static const double share[][4] = {{0.3, 0.3, 0.1, 0.3}, {0, 0.5, 0.5, 0}, {1, 0, 0, 0}};
    for (size_t i = 0; i < 3; i++)
        each_size(
            (struct trial){.strategy = WAN_DIRECT, .members = 4, .block = 256, .share = share[i]});
}

/* Floats, whose sum has other bits in another order: the order of arrival does not decide it. */
TEST(test_bits)
{
    enum { COUNT = 5000, TRIALS = 4 };
    static float sum[TRIALS][COUNT];
    for (int s = WAN_RING; s < WAN_STRATEGIES; s++)
        for (int n = 3; n <= MEMBERS_MOST; n += 2)
            for (int k = 0; k < TRIALS; k++) {
                seed = (uint64_t)k * 1000 + 1;
                attempt(&(struct trial){.strategy = (enum wan_strategy)s,
                                        .members = n,
                                        .count = COUNT,
                                        .block = 256,
                                        .floats = true,
                                        .ahead_B = (size_t)(k % 2) << 20,
                                        .sum = sum[k]});
                assert_memory_equal(sum[k], sum[0], sizeof sum[0]);
            }
}

static size_t sent(const struct schedule *s)
{
    size_t sum = 0;
    for (uint32_t i = 0; i < s->n; i++)
        sum += s->step[i].kind == STEP_SEND ? s->step[i].n : 0;
    return sum;
}

/* Blocks of the next run come while this one goes on, and little may be ahead. */
TEST(test_runs)
{
    for (int s = WAN_RING; s < WAN_STRATEGIES; s++)
        for (int n = 2; n <= 5; n++)
            attempt(&(struct trial){.strategy = (enum wan_strategy)s,
                                    .members = n,
                                    .count = 6000,
                                    .block = 128,
                                    .runs = 4});
}

TEST(test_bytes)
{
    static const struct {
        enum wan_strategy strategy;
        int members;
    } of[] = {{WAN_RING, 3}, {WAN_RING, 8}, {WAN_DIRECT, 5}, {WAN_DIRECT, 2}, {WAN_ONESHOT, 4}};
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        struct trial t = {.strategy = of[i].strategy, .members = of[i].members, .count = 1 << 20};
        t.block = 1 << 14;
        struct schedule s;
        struct schedule_shape shape = shape_of(&t, 1);
        assert_true(strategy_of[t.strategy].make(&s, &shape));
        double model = wan_wire_bytes(t.strategy, (size_t)t.members, (double)t.count);
        assert_true(fabs((double)sent(&s) - model) < 0.001 * model);
        strategy_free(&s);
    }
}
