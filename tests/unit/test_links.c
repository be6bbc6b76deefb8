/* SPDX-License-Identifier: Apache-2.0
 *
 * Which number of streams and congestion control is chosen for measured links.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "wan/links.h"

/* Both directions between two sites: the same rate alone and together. */
static void take(struct links *l, int streams, const char *congestion, double rate)
{
    struct links_config *c = links_config(l, streams, congestion);
    for (size_t at = 1; at <= 2; at++) {
        links_take(l, c, true, at, rate);
        links_take(l, c, false, at, rate);
    }
}

static void chosen(struct links *l, const char *expected)
{
    const struct links_config *c = links_best(l);
    char name[32];
    snprintf(name, sizeof name, "%.15s/%d", c->congestion, c->streams);
    assert_string_equal(name, expected);
    links_free(l);
}

static void noise_chooses_nothing(void **state)
{
    struct links l;
    (void)state;
    links_make(&l, 2);
    take(&l, 1, "cubic", 96);
    take(&l, 4, "cubic", 98);
    take(&l, 1, "bbr", 99);
    take(&l, 16, "bbr", 100);
    chosen(&l, "cubic/1");
}

static void a_real_difference_does(void **state)
{
    struct links l;
    (void)state;
    links_make(&l, 2);
    take(&l, 1, "cubic", 60);
    take(&l, 16, "cubic", 75);
    take(&l, 1, "bbr", 97);
    take(&l, 4, "bbr", 100);
    chosen(&l, "bbr/1");
}

static void the_kernels_own_comes_first(void **state)
{
    struct links l;
    (void)state;
    links_make(&l, 2);
    take(&l, 1, "cubic", 60);
    take(&l, 16, "cubic", 97);
    take(&l, 1, "bbr", 100);
    chosen(&l, "cubic/16");
    links_make(&l, 2);
    strcpy(l.usual, "bbr");
    take(&l, 1, "cubic", 100);
    take(&l, 4, "bbr", 98);
    take(&l, 8, "bbr", 100);
    chosen(&l, "bbr/4");
}

static void repeats_replace_the_margin(void **state)
{
    struct links l;
    double margin;
    (void)state;
    links_make(&l, 2);
    take(&l, 1, "cubic", 96);
    take(&l, 1, "cubic", 96.5);
    take(&l, 4, "cubic", 99);
    links_share_enough(&l, &margin);
    assert_true(margin > 0); /* one of the two was measured once */
    take(&l, 4, "cubic", 100);
    links_share_enough(&l, &margin);
    assert_true(margin == 0);
    chosen(&l, "cubic/4");
    links_make(&l, 2);
    take(&l, 1, "cubic", 96);
    take(&l, 1, "cubic", 99);
    take(&l, 4, "cubic", 98);
    take(&l, 4, "cubic", 100);
    chosen(&l, "cubic/1");
}

static void no_rate_is_above_the_line(void **state)
{
    struct links l;
    (void)state;
    links_make(&l, 2);
    take(&l, 1, "cubic", 103);
    assert_true(l.above == 0); /* the line is not known */
    assert_true(links_rate(&l, true, 0, 1) == 103);
    links_free(&l);
    links_make(&l, 2);
    l.line_Bps[1] = l.line_Bps[2] = 100;
    take(&l, 1, "cubic", 103);
    assert_true(l.above > 0.0299 && l.above < 0.0301);
    assert_true(links_rate(&l, true, 0, 1) == 100);
    chosen(&l, "cubic/1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(noise_chooses_nothing),       cmocka_unit_test(a_real_difference_does),
        cmocka_unit_test(the_kernels_own_comes_first), cmocka_unit_test(repeats_replace_the_margin),
        cmocka_unit_test(no_rate_is_above_the_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
