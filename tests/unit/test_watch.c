/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"
#include "wan/watch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

static void no_log_is_told_once_after_a_minute(void **state)
{
    char line[] = "nothing of a training";
    struct watch *w = watch_new(&(struct watch_options){.window = 5});
    (void)state;
    watch_line(w, line, strlen(line));
    listen(w, 59);
    assert_string_equal(said, "");
    listen(w, 61);
    assert_non_null(strstr(said, "no rate and no step time in 61 s (1 line)"));
    listen(w, 90);
    assert_string_equal(said, "");
    watch_free(w);
}

static void a_log_that_stops_is_a_stall(void **state)
{
    char line[] = "step 1 dt: 500ms";
    struct watch *w = watch_new(&(struct watch_options){.window = 5});
    (void)state;
    watch_line(w, line, strlen(line));
    listen(w, 61);
    assert_non_null(strstr(said, "no step for 61 s"));
    watch_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(no_log_is_told_once_after_a_minute),
                                       cmocka_unit_test(a_log_that_stops_is_a_stall)};
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    free(said);
    return failed;
}
