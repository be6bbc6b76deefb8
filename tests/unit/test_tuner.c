/* SPDX-License-Identifier: Apache-2.0
 *
 * The parts of the NCCL tuner plugin that need no NCCL: choices, and the step that is found
 * in a sequence of calls. tests/test_tuner.sh has the plugin as a whole.
 */
#include "folder.h"
#include "nccl_tuner/choice.h"
#include "nccl_tuner/nccl_abi.h"
#include "nccl_tuner/trial_config.h"

/* ---- choices ---- */

struct table {
    float costs[NCCL_ALGOS][NCCL_PROTOS];
    int channels;
    struct call call;
};

/* Tree and ring are available, the ring with Simple is the cheapest. */
static void table(struct table *t, int func, size_t bytes)
{
    *t = (struct table){0};
    for (int a = 0; a < NCCL_ALGOS; a++)
        for (int p = 0; p < NCCL_PROTOS; p++)
            t->costs[a][p] = a > NCCL_RING ? NCCL_IGNORE : (float)(20 - 5 * a - 2 * p);
    t->call = (struct call){func, bytes, 2, &t->costs[0][0], NCCL_ALGOS, NCCL_PROTOS, &t->channels};
}

static const char *taken(const struct table *t, char *buf, size_t n)
{
    int i = choice_taken(&t->call);
    snprintf(buf, n, "%s/%s", choice_algo_name(i / NCCL_PROTOS),
             choice_proto_name(i % NCCL_PROTOS));
    return buf;
}

TEST(a_choice_is_read_and_applied)
{
    static const struct {
        const char *text;
        bool applied;
        const char *taken;
        int channels;
    } rows[] = {
        {"auto", true, "ring/Simple", 0},         {"ctas=8", true, "ring/Simple", 8},
        {"ring/LL128", true, "ring/LL128", 0},    {"LL128/Tree/ctas=4", true, "tree/LL128", 4},
        {"tree", true, "tree/Simple", 0},         {"LL", true, "ring/LL", 0},
        {"none", true, "ring/Simple", 0},         {"half", true, "ring/Simple", 0},
        {"nvls/Simple", false, "ring/Simple", 0}, {"collnet-direct", false, "ring/Simple", 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct choice c;
        struct table t;
        char buf[64];
        table(&t, NCCL_ALL_REDUCE, 64 << 20);
        assert_true(choice_parse(&c, rows[i].text));
        assert_int_equal(choice_limit(&c, &t.call), rows[i].applied);
        assert_string_equal(taken(&t, buf, sizeof buf), rows[i].taken);
        assert_int_equal(t.channels, rows[i].channels);
    }
    static const char *const bad[] = {
        "",      "rign",     "ring/tree", "LL/LL128",      "ctas=0",    "ctas=65",  "ctas=8x",
        "ring/", "ring//LL", "ctas=-1",   "ctas=4/ctas=4", "auto/ring", "none/ring"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct choice c;
        assert_false(choice_parse(&c, bad[i]));
    }
}

TEST(an_entry_at_no_cost_does_not_win)
{
    struct choice c;
    struct table t;
    char buf[64];
    table(&t, NCCL_ALL_REDUCE, 8);
    t.costs[NCCL_TREE][NCCL_LL] = 0;
    assert_true(choice_parse(&c, "ring/LL"));
    assert_true(choice_limit(&c, &t.call));
    assert_string_equal(taken(&t, buf, sizeof buf), "ring/LL");
}

/* NCCL gives a small call fewer channels than an arm names; an arm never raises them. */
TEST(channels_are_only_lowered)
{
    static const struct {
        const char *text;
        size_t bytes;
        int channels;
    } rows[] = {{"Simple/ctas=16", 8, 1},           {"Simple/ctas=16", 4 * 32768, 4},
                {"Simple/ctas=16", 16 * 32768, 16}, {"Simple/ctas=16", 1 << 30, 16},
                {"ring/LL/ctas=8", 4 * 8192, 4},    {"tree/LL/ctas=8", 4 * 8192, 8},
                {"ring/LL128/ctas=8", 3 * 5120, 3}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct choice c;
        struct table t;
        table(&t, NCCL_ALL_REDUCE, rows[i].bytes);
        assert_true(choice_parse(&c, rows[i].text));
        assert_true(choice_limit(&c, &t.call));
        assert_int_equal(t.channels, rows[i].channels);
    }
    struct choice c;
    struct table t;
    table(&t, NCCL_ALL_REDUCE, 1 << 30);
    t.costs[NCCL_COLLNET_CHAIN][NCCL_SIMPLE] = 1;
    assert_true(choice_parse(&c, "ctas=4"));
    assert_false(choice_limit(&c, &t.call)); /* NCCL checks no number of channels there */
    assert_int_equal(t.channels, 0);
}

/* ---- steps ---- */

struct job {
    struct sequence s;
    uint64_t events[SEQ_INSIDE + 1];
};

static void calls(struct job *j, int func, size_t bytes, int times)
{
    while (times--)
        j->events[seq_call(&j->s, func, bytes)]++;
}

static void ddp(struct job *j, int buckets)
{
    for (int i = 0; i < buckets; i++)
        calls(j, NCCL_ALL_REDUCE, (size_t)(i + 1) << 20, 1);
}

static void fsdp(struct job *j, int layers)
{
    calls(j, NCCL_ALL_GATHER, 999, 1);
    calls(j, NCCL_ALL_GATHER, 100, layers);
    for (int i = 0; i < layers; i++) {
        calls(j, NCCL_ALL_GATHER, 100, 1);
        calls(j, NCCL_REDUCE_SCATTER, 100, 1);
    }
    calls(j, NCCL_REDUCE_SCATTER, 999, 1);
}

static void evaluation(struct job *j, int n)
{
    calls(j, NCCL_ALL_REDUCE, 4, n);
}

TEST(the_step_is_found)
{
    static const struct {
        const char *kind;
        int size, steps, eval;
        size_t told, period; /* period 0: none is to be found */
    } rows[] = {
        {"ddp", 5, 40, 0, 0, 5},       {"ddp", 1, 300, 0, 0, 1},
        {"ddp", 30, 20, 0, 0, 30},     {"ddp", 5, 400, 50, 0, 5},
        {"ddp", 20, 1000, 100, 0, 20}, {"fsdp", 24, 20, 0, 0, 74},
        {"fsdp", 80, 12, 0, 0, 242},   {"fsdp", 126, 12, 0, 0, 380},
        {"fsdp", 400, 12, 0, 0, 1202}, {"fsdp", 80, 200, 30, 0, 242},
        {"ddp", 5, 40, 0, 20, 20},     {"fsdp", 400, 12, 0, 1202, 1202},
        {"ddp", 5, 10, 0, 0, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct job j = {0};
        seq_begin(&j.s, rows[i].told);
        calls(&j, NCCL_BROADCAST, 77, 3);
        for (int step = 0; step < rows[i].steps; step++) {
            if (*rows[i].kind == 'd')
                ddp(&j, rows[i].size);
            else
                fsdp(&j, rows[i].size);
            if (rows[i].eval && step % rows[i].eval == rows[i].eval - 1)
                evaluation(&j, 300);
        }
        if (j.s.period != rows[i].period)
            print_error("%s of %d: %zu\n", rows[i].kind, rows[i].size, j.s.period);
        assert_int_equal(j.s.period, rows[i].period);
        if (rows[i].period && rows[i].size <= 126) /* layers were never taken for it */
            assert_int_equal(j.events[SEQ_FOUND], 1);
        seq_end(&j.s);
    }
}

/* Micro-batches repeat; what ends the step is one small call. */
TEST(micro_batches_are_no_steps)
{
    struct job j = {0};
    seq_begin(&j.s, 0);
    for (int step = 0; step < 20; step++) {
        for (int i = 0; i < 8; i++)
            fsdp(&j, 30);
        calls(&j, NCCL_ALL_REDUCE, 4, 1);
    }
    assert_int_equal(j.s.period, 8 * 92 + 1);
    seq_end(&j.s);
}

/* The job logs with one small call after every tenth step. */
TEST(the_bytes_tell_a_step_from_ten)
{
    static const struct {
        double least, most; /* of the bytes of a step */
        size_t period;
    } rows[] = {{0, 0, 10 * 26 + 1}, {0.6, 1.75, 26}, {6, 17.5, 10 * 26 + 1}, {2, 3, 0}};
    const double bytes = 2 * 999 + 24 * 100;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct job j = {0};
        seq_begin(&j.s, 0);
        j.s.bytes_least = (uint64_t)(rows[i].least * bytes);
        j.s.bytes_most = (uint64_t)(rows[i].most * bytes);
        for (int step = 0; step < 200; step++) {
            fsdp(&j, 8);
            if (step % 10 == 9)
                calls(&j, NCCL_ALL_REDUCE, 4, 1);
        }
        assert_int_equal(j.s.period, rows[i].period);
        seq_end(&j.s);
    }
}

TEST(an_evaluation_costs_one_step)
{
    struct job j = {0};
    seq_begin(&j.s, 0);
    for (int i = 0; i < 100; i++)
        ddp(&j, 5);
    memset(j.events, 0, sizeof j.events);
    evaluation(&j, 17);
    for (int i = 0; i < 10; i++)
        ddp(&j, 5);
    assert_int_equal(j.events[SEQ_LOST], 1);
    assert_int_equal(j.events[SEQ_FOUND], 0);
    assert_int_equal(j.events[SEQ_STEP], 9);
    assert_int_equal(j.events[SEQ_INSIDE], 36);
    seq_end(&j.s);
}

/* The same sequence gives the same events, whatever was seen before it was found. */
TEST(another_sequence_takes_over)
{
    struct job j = {0};
    seq_begin(&j.s, 0);
    for (int i = 0; i < 60; i++)
        ddp(&j, 5);
    for (int i = 0; i < 200; i++)
        ddp(&j, 7);
    assert_int_equal(j.s.period, 7);
    assert_int_equal(j.events[SEQ_FOUND], 2);
    for (size_t i = 0; i < 100000; i++)
        calls(&j, NCCL_ALL_REDUCE, i * i, 1); /* no period: memory stays bounded */
    assert_true(j.s.cap <= 65536);
    assert_int_equal(j.s.period, 7);
    seq_end(&j.s);
}

/* ---- the trial's file ---- */

TEST_IN_FOLDER(a_trial_is_read)
{
    static struct trial_config c;
    char why[512];
    folder_put("t", "# x\nout = /tmp/a b\narm = auto\narm = ring/LL128\nseed=7\n blocks = 3\n");
    assert_true(trial_config_read(&c, folder_path("t"), why, sizeof why));
    assert_string_equal(c.out, "/tmp/a b");
    assert_int_equal(c.n_arms, 2);
    assert_int_equal(c.seed, 7);
    assert_int_equal(c.warmup, 20);
    static const char *const bad[] = {"out = x\n",          "arm = rign\n", "blocks = -1\n",
                                      "blocks = 1000001\n", "blcks = 1\n",  "seed\n",
                                      "steps = 257\n"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char text[256];
        snprintf(text, sizeof text, "out = /x\narm = auto\narm = LL\n%s", bad[i]);
        folder_put("t", text);
        assert_false(trial_config_read(&c, folder_path("t"), why, sizeof why));
        assert_non_null(strstr(why, "t:4: "));
    }
    folder_put("t", "out = /x\narm = auto\n");
    assert_false(trial_config_read(&c, folder_path("t"), why, sizeof why));
}
