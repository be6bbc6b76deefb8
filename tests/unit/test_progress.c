/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/control.h"
#include "unit.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static char a[] = "size=8 config=a", section[] = "null", config[] = "ring", mode[] = "";
static struct cell cells[] = {
    {.id = "c1", .config = config, .mode = mode, .params = a, .shape = {.size_B = 8}}};

static struct plan plan_of(size_t groups, int64_t launches)
{
    struct plan p = {.section = section, .cells = cells, .n_cells = 1, .n_groups = groups};
    p.set.measure.launches = launches;
    return p;
}

static const struct control beat = {
    .cell = "c1", .phase = "sample", .groups_done = 2, .groups = 4, .half_width = 0.012};

TEST(the_line_says_it_all)
{
    struct plan plan = plan_of(4, 2);
    struct progress p = {.plan = &plan, .launch = 2};
    char line[256];
    progress_line(&p, &beat, 61.2, 0, line, sizeof line);
    assert_string_equal(line, "[###############.....]  75% 61s left, launch 2/2, group 2/4, null "
                              "8 B ring, CI +-1.2%");
}

TEST(a_narrow_terminal_cuts_the_end)
{
    struct plan plan = plan_of(4, 2);
    struct progress p = {.plan = &plan, .launch = 2};
    char line[256];
    progress_line(&p, &beat, 7200, 40, line, sizeof line);
    assert_string_equal(line, "[###############.....]  75% 2h00min lef");
}

/* A resumed launch counts what it lacks: two of six groups were there, and two more are done. */
TEST(what_was_there_before_is_done)
{
    struct plan plan = plan_of(6, 1);
    struct progress p = {.plan = &plan, .launch = 1, .closed = 2};
    struct control first = {.phase = "init"};
    char line[256];
    progress_line(&p, &beat, 1, 0, line, sizeof line);
    assert_non_null(strstr(line, " 67% 1s left, launch 1/1, group 4/6,"));
    progress_line(&p, &first, 1, 0, line, sizeof line);
    assert_non_null(strstr(line, " 33% 1s left, launch 1/1, group 2/6, null init"));
}

/* Two launches took 20 s, so the third, which has no estimate yet, takes 10 s. */
TEST(a_launch_without_an_estimate_takes_as_long_as_the_others)
{
    struct plan plan = plan_of(4, 3);
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    struct progress p = {.plan = &plan,
                         .style = PROGRESS_PLAIN,
                         .launch = 3,
                         .began_launch = 1,
                         .began_ns = (uint64_t)(t.tv_sec - 20) * UINT64_C(1000000000)};
    const struct control first = {.phase = "init", .groups = 4};
    char said[80] = "";
    int real = dup(STDERR_FILENO);
    FILE *f = tmpfile();
    assert_non_null(f);
    assert_true(dup2(fileno(f), STDERR_FILENO) >= 0);
    progress_beat(&p, &first);
    fflush(stderr);
    assert_true(dup2(real, STDERR_FILENO) >= 0);
    close(real);
    rewind(f);
    assert_non_null(fgets(said, sizeof said, f));
    fclose(f);
    assert_non_null(strstr(said, "null: 60%, about 1"));
}
