/* SPDX-License-Identifier: Apache-2.0
 *
 * What `gradsync trial` prints of its visits, and `gradsync compare` of the recording of the same
 * visits.
 */
#include "base/clock.h"
#include "compare/collect.h"
#include "folder.h"
#include "job/job_recording.h"
#include "job/job_watch.h"
#include "job/price.h"
#include "job/trial_result.h"
#include "nccl_tuner/trial_config.h"

#include <sys/stat.h>

enum { BLOCKS = 12, VISITS = 3 };

struct made {
    struct trial_comm comm;
    struct trial_visit visits[BLOCKS * VISITS];
    json_t *none;
};

static struct trial_visit visit(int block, int k, json_t *none)
{
    static const double factor[VISITS] = {1, 1.02, 1.03};
    double ns = 1e7 * factor[k] * (1 + 0.002 * ((3 * block + 5 * k) % 7));
    return (struct trial_visit){.step = 1,
                                .block = block,
                                .copy = k == 1,
                                .steps = 11,
                                .calls = 55,
                                .ranks = 2,
                                .arm = (char *)(k == 2 ? "ctas=8" : "auto"),
                                .most_ns = (uint64_t)ns * 10,
                                .least_ns = (uint64_t)ns * 9,
                                .taken = none,
                                .ran = none};
}

/* In each block ctas=8 takes 3% more than auto, and auto's second visit 2% more than its first one,
 * which has no second in block 5. */
static void make(struct made *m)
{
    m->comm = (struct trial_comm){.name = (char *)"comm",
                                  .ranks = 2,
                                  .nodes = 1,
                                  .step_calls = 5,
                                  .step_bytes = 4096,
                                  .visits = m->visits};
    m->none = json_object();
    for (int block = 0; block < BLOCKS; block++)
        for (int k = 0; k < VISITS; k++)
            if (block != 5 || k != 1)
                m->visits[m->comm.n++] = visit(block, k, m->none);
}

/* A recording whose launches have so many blocks each. */
static void record(const char *dir, struct trial_comm c, int blocks)
{
    char *command[] = {(char *)"job", NULL};
    struct trial_visit *end = c.visits + c.n;
    assert_int_equal(mkdir(dir, 0777), 0);
    struct job_watch *job = job_watch_new();
    for (int launch = 1; c.visits < end; launch++) {
        struct job_source s = {"made", dir, command, c.ranks, c.nodes, 1, launch};
        for (c.n = 0; c.visits + c.n < end && c.visits[c.n].block < launch * blocks;)
            c.n++;
        assert_int_equal(job_recording_trial(&c, &s, job, true), GS_OK);
        c.visits += c.n;
    }
    job_watch_free(job);
}

static const struct effect *effect_of(const struct comparison *c, const char *config)
{
    for (size_t i = 0; i < c->n; i++)
        if (!strcmp(c->v[i].config, config))
            return &c->v[i].effect;
    fail_msg("no contrast of %s", config);
    return NULL;
}

static void compare_at(struct comparison *c, const char *dir, const char *baseline)
{
    *c = (struct comparison){0};
    assert_int_equal(compare_within_run(c, dir, NULL, baseline), GS_OK);
    comparison_solve(c, 1);
}

/* One block in each launch: a trial treats its blocks as compare treats launches. */
TEST_IN_FOLDER(compare_repeats_what_the_trial_printed)
{
    const char *dir = folder_path("20261123T000000Z-0001");
    struct comparison c;
    struct made m;
    struct trial_verdict *printed;
    make(&m);
    assert_int_equal(trial_verdicts(&printed, &m.comm, CONTRAST_DRAWS), 2);
    assert_int_equal(printed[0].copy, 1);
    const struct effect *want = &printed[1].effect, *e;
    record(dir, m.comm, 1);

    compare_at(&c, dir, NULL);
    e = effect_of(&c, "ctas=8");
    assert_int_equal(e->launches, BLOCKS);
    near(e->value, want->value, 1e-9);
    near(e->se, want->se, 1e-9);
    near(e->lo, want->lo, 0.15 * want->se); /* other random draws */
    near(e->hi, want->hi, 0.15 * want->se);
    near(c.v[0].floor, fabs(printed[0].effect.value), 1e-9);
    comparison_free(&c);

    compare_at(&c, dir, "ctas=8");
    near(effect_of(&c, "auto")->value, -want->value, 1e-9);
    comparison_free(&c);
    free(printed);
    json_decref(m.none);
}

TEST_IN_FOLDER(a_block_whose_baseline_is_warm_up_does_not_count)
{
    const char *dir = folder_path("20261123T000000Z-0002");
    struct comparison c;
    struct made m;
    make(&m);
    assert_int_equal(m.visits[1].copy, 1);
    m.visits[1].most_ns *= 3;
    record(dir, m.comm, BLOCKS);
    compare_at(&c, dir, NULL);
    assert_int_equal(c.v[0].x.n, BLOCKS - 1); /* for all configs alike (reduce/gather.h) */
    comparison_free(&c);
    json_decref(m.none);
}

/* ---- the price of communication ---- */

enum { PRICE_VISITS = 5, RANKS = 2 };

struct priced {
    struct trial_comm comm;
    struct trial_visit visits[BLOCKS * PRICE_VISITS];
    uint64_t ns[BLOCKS * PRICE_VISITS][RANKS];
};

/* Milliseconds of a step by arm and rank; rank 1 is late by 5. Blocks differ by up to 1%. */
static void make_priced(struct priced *m, const double ms[PRICE_VISITS][RANKS], const char *ran)
{
    static const char *const arms[PRICE_VISITS] = {"auto", "auto", "none", "one", "half"};
    *m = (struct priced){.comm = {.name = (char *)"comm",
                                  .ranks = RANKS,
                                  .step_calls = 5,
                                  .step_bytes = 1 << 20,
                                  .visits = m->visits}};
    for (int block = 0; block < BLOCKS; block++)
        for (int k = 0; k < PRICE_VISITS; k++) {
            uint64_t *ns = m->ns[m->comm.n];
            for (int rank = 0; rank < RANKS; rank++)
                ns[rank] = (uint64_t)(1e7 * ms[k][rank] * (1 + 0.001 * ((7 * block + k) % 10)));
            m->visits[m->comm.n++] = (struct trial_visit){.step = 1,
                                                          .block = block,
                                                          .copy = k == 1,
                                                          .steps = 11,
                                                          .calls = 55,
                                                          .ranks = RANKS,
                                                          .arm = (char *)(uintptr_t)arms[k],
                                                          .most_ns = ns[0] > ns[1] ? ns[0] : ns[1],
                                                          .rank_ns = ns,
                                                          .ran = json_pack("{si}", ran, 55)};
        }
}

static void drop_priced(struct priced *m)
{
    for (size_t i = 0; i < m->comm.n; i++)
        json_decref(m->visits[i].ran);
}

TEST(a_late_rank_is_waited_for_and_costs_no_transfer)
{
    static const double ms[PRICE_VISITS][RANKS] = {
        {20, 20}, {20, 20}, {10, 15}, {15, 15}, {17.5, 17.5}};
    struct priced m;
    struct price_answer a = {0};
    make_priced(&m, ms, "none");
    assert_true(price_from(&a, &m.comm));
    assert_true(a.known);
    assert_int_equal(a.blocks, BLOCKS);
    near(1e3 * a.step_s, 20, 0.2);
    near(a.none.value, 0.25, 0.005);
    near(a.half.value, 0.125, 0.005);
    near(a.waiting.value * a.step_s, 5e-3, 1e-4);
    assert_true(a.none.lo < a.none.value && a.none.value < a.none.hi);
    assert_true(price_enough(&a));
    drop_priced(&m);
}

/* Tune prints it from the visits, compare from their recording. */
TEST_IN_FOLDER(the_price_of_a_recording_is_that_of_its_visits)
{
    static const double ms[PRICE_VISITS][RANKS] = {
        {20, 20}, {20, 20}, {10, 15}, {15, 15}, {17.5, 17.5}};
    const char *dir = folder_path("20261123T000000Z-0003");
    struct priced m;
    struct price_answer a = {0}, b;
    make_priced(&m, ms, "none");
    assert_true(price_from(&a, &m.comm));
    record(dir, m.comm, BLOCKS);
    assert_int_equal(price_read(&b, dir), GS_OK);
    AUTO_FREE char *seen = price_sentence(&a), *read = price_sentence(&b);
    assert_string_equal(seen, read);
    assert_memory_equal(&a.none, &b.none, sizeof a.none);
    assert_memory_equal(&a.waiting, &b.waiting, sizeof a.waiting);
    drop_priced(&m);
}

TEST_IN_FOLDER(a_launch_of_a_price_ends_by_its_limit)
{
    char *command[] = {(char *)"sleep", (char *)"60", NULL}, *run = NULL;
    struct interrupts interrupts;
    struct trial_config config;
    const struct tune_job j = {.command = (char *)"exec sleep 60",
                               .out = folder.dir,
                               .interrupts = &interrupts,
                               .log = -1};
    struct price_launch p = {.config = &config, .deadline_s = 1000, .most_s = 0.5};
    double began = clock_now_s();
    price_config(&config, 5, 0, 1);
    assert_int_equal(interrupts_catch(&interrupts), GS_OK);
    assert_int_equal(price_take(&j, &p, "job", command, &run), GS_OK);
    interrupts_release(&interrupts);
    assert_true(clock_now_s() - began < 40);
    assert_null(run);
    assert_string_equal(
        p.answer.why,
        "no price was known after 500 ms, and the job was killed; use more --minutes");
    price_launch_free(&p);
}

TEST(what_left_nothing_out_has_no_price)
{
    static const double ms[PRICE_VISITS][RANKS] = {
        {20, 20}, {20, 20}, {20, 20}, {20, 20}, {20, 20}};
    struct priced m;
    struct price_answer a = {0};
    make_priced(&m, ms, "all"); /* only small calls */
    assert_true(price_from(&a, &m.comm));
    assert_false(a.known || price_enough(&a));
    assert_non_null(strstr(a.why, "no collective of the step has 64 KiB or more"));
    drop_priced(&m);
    make_priced(&m, ms, "none");
    m.comm.n = 5 * PRICE_VISITS;
    assert_true(price_from(&a, &m.comm));
    assert_false(a.known);
    assert_non_null(strstr(a.why, "after 5 of the 6 blocks"));
    m.comm.n = BLOCKS * PRICE_VISITS;
    drop_priced(&m);
}

TEST_IN_FOLDER(the_nodes_of_a_price_are_the_hosts_of_its_ranks)
{
    static const char *const hosts[] = {"a", "b", "a"};
    struct trial_ranks r;
    for (int i = 0; i < 3; i++) {
        AUTO_FREE char *name = xstrfmt("%d.jsonl", i);
        AUTO_FREE char *text = xstrfmt("{\"type\":\"comm\",\"comm\":\"c\",\"ranks\":3,"
                                       "\"nodes\":1,\"rank\":%d,\"host\":\"%s\"}\n",
                                       i, hosts[i]);
        folder_put(name, text);
    }
    assert_int_equal(trial_ranks_read(&r, folder.dir), GS_OK);
    assert_int_equal(r.n, 1);
    assert_int_equal(r.v[0].nodes, 2);
    trial_ranks_free(&r);
}
