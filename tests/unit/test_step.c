/* SPDX-License-Identifier: Apache-2.0
 *
 * Step files, and the work that iter_proxy makes of them.
 */
#include "common/step_file.h"
#include "iter_proxy/work.h"
#include "unit.h"

static const char every_operation[] = "gradsync-step 1\n"
                                      "gemm nt 1024* 2304 768 bf16\n"
                                      "gemm tn 64 1024 1024 fp16 x12*\n"
                                      "gemm tt 1 2 3 fp32 x2\n"
                                      "gemm nn 1 2 3 tf32\n"
                                      "kernel 4096* 3.125us\n"
                                      "gradient 768 fp32\n"
                                      "all_gather 1000 bf16 dp\n"
                                      "reduce_scatter 1000 fp32 dp\n"
                                      "all_reduce 7* fp16 default_pg\n"
                                      "wait 2\n"
                                      "wait\n";

TEST(what_is_read_is_written_again)
{
    struct step_file f;
    char why[256] = "", *text;
    size_t n;
    assert_true(step_parse(&f, "x", every_operation, sizeof every_operation - 1, why, sizeof why));
    FILE *out = open_memstream(&text, &n);
    step_write_version(out);
    for (size_t i = 0; i < f.n; i++)
        step_write_line(out, &f.line[i]);
    fclose(out);
    assert_string_equal(text, every_operation);
    free(text);
    step_free(&f);
}

TEST(a_bad_line_is_named)
{
    static const struct {
        const char *text, *why;
    } bad[] = {
        {"", "x:1: not a step"},
        {"gemm nt 1 2 3 bf16\n", "x:1: not a step"},
        {"gradsync-step 2\n", "x:1: version '2': this gradsync reads version 1"},
        {"gradsync-step 1\n", "x:1: a step without operations"},
        {"gradsync-step 1\ngradient 0 fp32\n", "x:2: ELEMENTS is '0'"},
        {"gradsync-step 1\n# c\n\ngradient 5 fp31\n", "x:4: no dtype 'fp31': fp32, bf16 or fp16"},
        {"gradsync-step 1\ngradient 5 tf32\n", "x:2: no dtype 'tf32'"},
        {"gradsync-step 1\ngradient 5* fp32\n", "x:2: a gradient does not grow"},
        {"gradsync-step 1\ngemm xx 1 2 3 bf16\n", "x:2: no layout 'xx'"},
        {"gradsync-step 1\ngemm nn 1 2 99999999 bf16\n", "x:2: K is '99999999'"},
        {"gradsync-step 1\ngemm nn 1 -2 3 bf16\n", "x:2: N is '-2'"},
        {"gradsync-step 1\ngemm nn 1 2 3\n", "x:2: 5 words: gemm nn|nt|tn|tt M N K"},
        {"gradsync-step 1\ngemm nn 1 2 3 bf16 12\n", "x:2: '12' behind the dtype"},
        {"gradsync-step 1\nkernel 5 3ms\n", "x:2: TIME is '3ms'"},
        {"gradsync-step 1\nwait\n", "x:2: nothing to wait for"},
        {"gradsync-step 1\nall_gather 5 bf16\n", "x:2: 3 words: all_gather"},
        {"gradsync-step 1\nall_to_all 5 bf16 dp\n", "x:2: no operation 'all_to_all'"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct step_file f;
        char why[256] = "";
        assert_false(step_parse(&f, "x", bad[i].text, strlen(bad[i].text), why, sizeof why));
        if (strncmp(why, bad[i].why, strlen(bad[i].why)) != 0)
            assert_string_equal(why, bad[i].why);
    }
}

/* ---- buckets ---- */

TEST(a_bucket_is_full_at_its_limit)
{
    struct bucket_gradient g[] = {{10, 0, 9}, {90, 0, 9}, {50, 0, 9}, {50, 0, 9},
                                  {99, 0, 9}, {1, 0, 9},  {5, 0, 9}};
    const unsigned want[] = {0, 0, 1, 1, 1, 2, 2};
    assert_int_equal(buckets_form(g, 7, 100, 199), 3);
    for (size_t i = 0; i < 7; i++)
        assert_int_equal(g[i].bucket, want[i]);
}

TEST(each_dtype_has_its_buckets)
{
    struct bucket_gradient g[] = {{100, 0, 9}, {10, 2, 9}, {100, 0, 9}, {90, 2, 9}, {1, 2, 9}};
    const unsigned want[] = {0, 1, 2, 1, 3};
    assert_int_equal(buckets_form(g, 5, 100, 200), 4);
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(g[i].bucket, want[i]);
}

static struct proxy_cell cell_of(const char *path)
{
    struct proxy_cell c = {.mode = PROXY_MODE_OVERLAPPED,
                           .batch = 1,
                           .scale = 1,
                           .bucket_cap = PROXY_BUCKET_CAP,
                           .bucket_first = PROXY_BUCKET_FIRST};
    snprintf(c.step, sizeof c.step, "%s", path);
    return c;
}

static void make(struct proxy_work *w, const struct proxy_cell *c, enum proxy_backend_kind kind,
                 int ranks)
{
    char why[256] = "";
    const struct work_request q = {c, kind, ranks, why, sizeof why};
    if (work_make(w, &q) != WL_OK)
        assert_string_equal(why, "");
}

/* The sizes in a public trace of ResNet-50 under DDP. */
TEST(resnet50_has_the_buckets_of_a_public_trace)
{
    static const uint64_t want[] = {2049000, 7875584, 6563840, 6637568, 2431040};
    struct proxy_cell c = cell_of("configs/steps/resnet50-ddp.step");
    struct proxy_work w;
    make(&w, &c, PROXY_CUDA, 8);
    assert_int_equal(w.n_collectives, 5);
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(w.collective[i].elements, want[i]);
    work_free(&w);
}

TEST(smaller_buckets_hold_the_same_gradients)
{
    struct proxy_cell c = cell_of("configs/steps/gpt2-124m-ddp.step");
    struct proxy_work w;
    c.bucket_cap = 1 << 20;
    make(&w, &c, PROXY_CUDA, 2);
    uint64_t sum = 0;
    for (size_t i = 0; i < w.n_collectives; i++)
        sum += w.collective[i].elements;
    assert_int_equal(sum, 124439808);
    assert_true(w.n_collectives > 40);
    work_free(&w);
}

/* ---- work ---- */

TEST(scale_and_batch_multiply)
{
    char path[] = "/tmp/gradsync-step-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, every_operation, sizeof every_operation - 1),
                     sizeof every_operation - 1);
    close(fd);
    struct proxy_cell c = cell_of(path);
    struct proxy_work w;
    FILE *f = fopen(path, "w");
    fputs(
        "gradsync-step 1\ngemm nt 1024* 512 768 bf16 x3*\nkernel 4096* 1us\n"
        "all_gather 1001 bf16 dp\nwait\ngemm tn 512 768 1024* bf16\nreduce_scatter 1001 bf16 dp\n",
        f);
    fclose(f);
    c.batch = 4;
    c.scale = 0.5;
    make(&w, &c, PROXY_CUDA, 2);
    assert_int_equal(w.compute[0].m, 2048);
    assert_int_equal(w.compute[0].n, 256);
    assert_int_equal(w.compute[0].k, 384);
    assert_int_equal(w.compute[0].count, 12);
    assert_true(w.compute[0].transpose_b && !w.compute[0].transpose_a);
    assert_int_equal(w.compute[1].bytes, 4096);
    assert_int_equal(w.compute[2].k, 2048);
    /* 1001 / 4, padded to a multiple of 2 ranks */
    assert_int_equal(w.collective[0].elements, 252);
    assert_int_equal(w.n_tasks, 6);
    assert_int_equal(w.task[1].verb, PROXY_COMM);
    assert_int_equal(w.task[2].verb, PROXY_WAIT);
    assert_int_equal(w.task[5].verb, PROXY_JOIN);
    work_free(&w);
    unlink(path);
}

TEST(modes_of_a_step_hold_the_same_work)
{
    struct proxy_cell c = cell_of("configs/steps/gpt2-124m-fsdp.step");
    struct proxy_work w;
    uint64_t id = 0;
    for (c.mode = PROXY_MODE_COMPUTE; c.mode <= PROXY_MODE_OVERLAPPED; c.mode++) {
        unsigned computed = 0, communicated = 0;
        make(&w, &c, PROXY_HOST, 2);
        for (size_t i = 0; i < w.n_tasks; i++) {
            computed += w.task[i].verb == PROXY_COMPUTE ? w.task[i].n : 0;
            communicated += w.task[i].verb == PROXY_COMM;
        }
        assert_int_equal(computed, c.mode == PROXY_MODE_COMM ? 0 : w.n_compute);
        assert_int_equal(communicated, c.mode == PROXY_MODE_COMPUTE ? 0 : w.n_collectives);
        assert_true(!id || id == w.id);
        id = w.id;
        work_free(&w);
    }
}
