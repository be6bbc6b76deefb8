/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/control.h"
#include "unit.h"

#include <time.h>

static struct control round_trip(const struct control *c)
{
    char line[CONTROL_LINE_MAX];
    size_t n = control_encode(c, line);
    assert_true(n < sizeof line);
    assert_int_equal(line[n - 1], '\n');
    assert_null(memchr(line, '\n', n - 1));
    line[n - 1] = '\0';
    struct control back;
    assert_true(control_decode(line, &back));
    return back;
}

TEST(the_longest_texts_fit_a_line)
{
    struct control c = {.event = CONTROL_DEAD};
    memset(c.phase, '"', sizeof c.phase - 1);
    memset(c.cell, '"', sizeof c.cell - 1);
    memset(c.kind, '"', sizeof c.kind - 1);
    memset(c.host, '\\', sizeof c.host - 1);
    memset(c.why, '"', sizeof c.why - 1);
    struct control back = round_trip(&c);
    assert_string_equal(back.why, c.why);
    assert_string_equal(back.host, c.host);
}

TEST(text_from_outside_stays_one_line_of_utf8)
{
    struct control c = {.event = CONTROL_ERROR, .why = "a\nb\tc \xff \xc3\xa9 \xed\xa0\x80"};
    struct control back = round_trip(&c);
    assert_string_equal(back.why, "a b c ? \xc3\xa9 ???");
}

/* ---- progress ---- */

static char section[] = "null";

/* Two launches took 20 s, so the third, which has no estimate yet, takes 10 s. */
TEST(a_launch_without_an_estimate_takes_as_long_as_the_others)
{
    struct plan plan = {.section = section, .n_groups = 4};
    plan.set.measure.launches = 3;
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    struct progress p = {
        .plan = &plan, .launch = 3, .began_ns = (uint64_t)(t.tv_sec - 20) * UINT64_C(1000000000)};
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
