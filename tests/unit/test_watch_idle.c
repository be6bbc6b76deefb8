/* SPDX-License-Identifier: Apache-2.0
 *
 * The logs that watch follows.
 */
#include "unit.h"
#include "wan/watch.h"

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
