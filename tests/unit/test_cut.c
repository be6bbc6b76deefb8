/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/supervise.h"
#include "unit.h"

#include <stdio.h>
#include <string.h>

/* What the hosts say, "HOST LOST… ;" in turn; the host that is named, then the text. */
static void judges(const char *said, const char *host, const char *want)
{
    struct cut c = {.n = 0};
    struct text t = {0};
    char line[256];
    snprintf(line, sizeof line, "%s", said);
    for (char *one = strtok(line, ";"); one; one = strtok(NULL, ";")) {
        char *lost = strchr(one, ' ');
        *lost = '\0';
        cut_add(&c, one, lost + 1);
    }
    assert_string_equal(cut_judge(&c, &t), host);
    assert_string_equal(t.s, want);
    text_free(&t);
}

TEST(the_site_that_all_others_lost_is_cut_off)
{
    judges("north south ;east south ;west south ;south north east west ;", "south",
           "south is cut off: no answer between it and north, east, west");
    /* its own words do not come through */
    judges("west south ;east south ;", "south",
           "south is cut off: no answer between it and west, east");
    /* it is where the launcher is, and the words of the others do not come through */
    judges("north east south ;", "north", "north is cut off: no answer between it and east, south");
}

TEST(two_that_lost_each_other_are_a_pair)
{
    judges("north east ;east north ;", "north", "no answer between east and north");
    judges("north east ;", "north", "no answer between east and north");
    judges("a b ;c d ;", "a", "no answer between a and b; no answer between c and d");
}

TEST(the_hosts_of_a_site_are_cut_off_together)
{
    judges("b1 a1 a2 ;b2 a1 a2 ;c1 a1 a2 ;", "a1",
           "a1 is cut off: no answer between it and b1, b2, c1; "
           "a2 is cut off: no answer between it and b1, b2, c1");
}

TEST(of_two_halves_neither_is_cut_off)
{
    judges("a c d ;b c d ;", "a",
           "no answer between a and c; no answer between a and d; no answer between b and c; "
           "no answer between b and d");
}

TEST(more_hosts_than_it_keeps_are_dropped)
{
    struct cut c = {.n = 0};
    struct text t = {0};
    char name[80];
    for (int i = 0; i < 2 * CUT_HOSTS; i++) {
        snprintf(name, sizeof name, "h%d", i);
        cut_add(&c, name, "south ");
    }
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    cut_add(&c, name, "south ");
    assert_string_equal(cut_judge(&c, &t), "south");
    text_free(&t);
}
