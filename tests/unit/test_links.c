/* SPDX-License-Identifier: Apache-2.0
 *
 * Which number of streams and congestion control is chosen for measured links.
 */
#include "unit.h"
#include "wan/links.h"
#include "wan/watch.h"

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

/* "CONGESTION/STREAMS=RATE …" in the order of measuring. */
static void take_all(struct links *l, const char *measured)
{
    char congestion[16];
    int streams, at = 0;
    double rate;
    for (const char *s = measured;
         sscanf(s, " %15[a-z]/%d=%lf%n", congestion, &streams, &rate, &at) == 3; s += at)
        take(l, streams, congestion, rate);
}

TEST(which_is_chosen)
{
    static const struct {
        const char *usual, *measured, *want;
    } cases[] = {
        {"cubic", "cubic/1=96 cubic/4=98 bbr/1=99 bbr/16=100", "cubic/1"}, /* noise */
        {"cubic", "cubic/1=60 cubic/16=75 bbr/1=97 bbr/4=100", "bbr/1"},
        {"cubic", "cubic/1=60 cubic/16=97 bbr/1=100", "cubic/16"}, /* the kernel's own first */
        {"bbr", "cubic/1=100 bbr/4=98 bbr/8=100", "bbr/4"},
        {"cubic", "cubic/1=96 cubic/1=99 cubic/4=98 cubic/4=100", "cubic/1"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct links l;
        links_make(&l, 2);
        strcpy(l.usual, cases[i].usual);
        take_all(&l, cases[i].measured);
        chosen(&l, cases[i].want);
    }
}

TEST(no_rate_is_above_the_line)
{
    struct links l;
    links_make(&l, 2);
    take(&l, 1, "cubic", 103);
    assert_true(links_rate(&l, true, 0, 1) == 103); /* the line is not known */
    links_free(&l);
    links_make(&l, 2);
    l.line_Bps[1] = l.line_Bps[2] = 100;
    take(&l, 1, "cubic", 103);
    assert_true(links_rate(&l, true, 0, 1) == 100);
    chosen(&l, "cubic/1");
}

/* ---- the logs that watch follows ---- */

static char *said; /* on stdout */

static void listen(struct watch *w, double seconds)
{
    char buf[4096] = "";
    FILE *to = tmpfile();
    fflush(stdout);
    int out = dup(STDOUT_FILENO);
    dup2(fileno(to), STDOUT_FILENO);
    watch_idle(w, seconds);
    fflush(stdout);
    dup2(out, STDOUT_FILENO);
    close(out);
    rewind(to);
    buf[fread(buf, 1, sizeof buf - 1, to)] = '\0';
    fclose(to);
    free(said);
    said = strdup(buf);
}

TEST(no_log_is_told_once_after_a_minute)
{
    char line[] = "nothing of a training";
    struct watch *w = watch_new(&(struct watch_options){.window = 5});
    watch_line(w, line, strlen(line));
    listen(w, 59);
    assert_string_equal(said, "");
    listen(w, 61);
    assert_non_null(strstr(said, "no rate and no step time in 61 s (1 line)"));
    listen(w, 90);
    assert_string_equal(said, "");
    watch_free(w);
}

TEST(a_log_that_stops_is_a_stall)
{
    char line[] = "step 1 dt: 500ms";
    struct watch *w = watch_new(&(struct watch_options){.window = 5});
    watch_line(w, line, strlen(line));
    listen(w, 61);
    assert_non_null(strstr(said, "no step for 61 s"));
    watch_free(w);
}
