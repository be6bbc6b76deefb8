/* SPDX-License-Identifier: Apache-2.0 */
#include "folder.h"
#include "plan/plan.h"
#include "toy.h"

#include "../../runner/rank/report.c" // NOLINT(bugprone-suspicious-include)

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

struct fixture {
    struct report report;
    struct plan *plan;
    struct slot slot;
    uint64_t time_ns[1];
};

static void begin(struct fixture *x)
{
    *x = (struct fixture){.time_ns = {17}};
    assert_int_equal(
        plan_build_with(&x->plan, toy_config("[toy]\nsize = 8\n"), "toy", toy_plugin()), GS_OK);
    x->slot = (struct slot){.cell = x->plan->cells, .live = true, .iters = 1};
    x->slot.visited = (struct visited){.n = 1, .time_ns = x->time_ns};
    report_begin(&x->report, true);
    report_open(&x->report, folder_path("launch-01.01.jsonl"),
                json_pack("{s:s}", "type", "header"));
    assert_int_equal(x->report.code, GS_OK);
}

static void end(struct fixture *x)
{
    report_close(&x->report);
    plan_free(x->plan);
}

static void limit_file(rlim_t bytes, struct rlimit *before)
{
    assert_int_equal(getrlimit(RLIMIT_FSIZE, before), 0);
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(
        setrlimit(RLIMIT_FSIZE, &(struct rlimit){.rlim_cur = bytes, .rlim_max = before->rlim_max}),
        0);
}

/* The limit leaves room for a block line, and not for the longer cell line before it. */
TEST_IN_FOLDER(a_cell_line_that_failed_is_not_forgotten)
{
    struct fixture x;
    struct stat st;
    struct rlimit before;
    begin(&x);
    assert_int_equal(stat(folder_path("launch-01.01.jsonl"), &st), 0);
    limit_file((rlim_t)st.st_size + 150, &before);
    report_block(&x.report, x.plan, x.plan->groups, &x.slot, 1);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(x.report.code, GS_FAILED);
    folder_says("cannot write");
    assert_false(x.slot.told);
    report_end(&x.report, "complete"); /* there is room again: still nothing is written */
    report_close(&x.report);
    assert_int_equal(x.report.code, GS_FAILED);
    AUTO_TEXT struct text got = {0};
    assert_true(text_read_file(folder_path("launch-01.01.jsonl"), &got));
    assert_memory_equal(got.s, "{\"type\":\"header\",", 17);
    assert_ptr_equal(strchr(got.s, '\n') + 1, got.s + got.len);
    end(&x);
}

TEST_IN_FOLDER(a_block_follows_its_cell_line)
{
    struct fixture x;
    AUTO_TEXT struct text got = {0};
    begin(&x);
    report_block(&x.report, x.plan, x.plan->groups, &x.slot, 1);
    report_block(&x.report, x.plan, x.plan->groups, &x.slot, 2);
    report_close(&x.report);
    assert_int_equal(x.report.code, GS_OK);
    assert_true(x.slot.told);
    assert_true(text_read_file(folder_path("launch-01.01.jsonl"), &got));
    const char *cell = strstr(got.s, "\"type\":\"cell\""),
               *block = strstr(got.s, "\"type\":\"block\"");
    assert_non_null(cell);
    assert_true(block > cell);
    assert_null(strstr(cell + 1, "\"type\":\"cell\""));
    end(&x);
}
