/* SPDX-License-Identifier: Apache-2.0 */
#include "config/settings.h"
#include "job/job_output.h"
#include "unit.h"

#include <fcntl.h>

#define N(a) (sizeof(a) / sizeof *(a))

static const char *value_of(void *ctx, const char *name)
{
    (void)ctx;
    return !strcmp(name, "a") ? "1" : !strcmp(name, "b_2") ? "" : NULL;
}

TEST(placeholders)
{
    static const char *const pairs[][2] = {
        {"", ""},
        {"x {a} y", "x 1 y"},
        {"{a}{a}{b_2}.", "11."},
        {"{unknown}", "{unknown}"},
        {"${a} ${A} {A} { a } {a", "${a} ${A} {A} { a } {a"},
        {"{{a} {{{a}", "{a} {1"},
        {"awk '{{print}'", "awk '{print}'"},
        {"$(({a} + 1))", "$((1 + 1))"},
    };
    for (size_t i = 0; i < N(pairs); i++) {
        AUTO_FREE char *text = train_fill(pairs[i][0], value_of, NULL);
        assert_string_equal(text, pairs[i][1]);
    }
}

/* The first time in a line, in ns; 0: none. */
static uint64_t read_line(const struct train_settings *s, const char *text, char *wrong, size_t n)
{
    struct job_times *t = job_times_new(s);
    const struct job_step *steps;
    char line[256];
    snprintf(line, sizeof line, "%s", text);
    job_times_line(t, line, 0);
    size_t found = job_times_get(t, &steps);
    uint64_t ns = found ? steps[0].ns : 0;
    snprintf(wrong, n, "%s", job_times_wrong(t));
    job_times_free(t);
    return ns;
}

TEST(known_formats)
{
    char wrong[200];
    static const struct {
        const char *line;
        uint64_t ns;
    } lines[] = {
        {"iteration 10/ 100 | elapsed time per iteration (ms): 412.5 | loss", 412500000},
        {"iter 10: loss 2.1, time 12.5ms, mfu 3%", 12500000},
        {"step time: 41.2500 ms", 41250000},
        {" 10/100 [00:05<00:45, 2.00it/s]", 500000000},
        {"loss 3.1", 0},
        {"", 0},
    };
    for (size_t i = 0; i < N(lines); i++)
        assert_int_equal(read_line(&(struct train_settings){0}, lines[i].line, wrong, sizeof wrong),
                         lines[i].ns);
}

TEST(own_pattern)
{
    static const struct {
        const char *line;
        int unit;
        uint64_t ns;
        const char *wrong;
    } lines[] = {
        {"t=2", TRAIN_S, 2000000000, ""},
        {"T=2.5e-3 ", TRAIN_S, 2500000, ""},
        {"t=2", TRAIN_MS, 2000000, ""},
        {"t=2", TRAIN_US, 2000, ""},
        {"t=4", TRAIN_PER_S, 250000000, ""},
        {"u=4", TRAIN_S, 0, ""},
        {"t=", TRAIN_S, 0, "line 1: the step time '' is not a number"},
        {"t=0", TRAIN_S, 0, "line 1: the step time '0' must be above 0"},
        {"t=0", TRAIN_PER_S, 0, "line 1: the step time '0' is too long"},
        {"t=-1", TRAIN_MS, 0, "line 1: the step time '-1' must be above 0"},
        {"t=nan", TRAIN_S, 0, "line 1: the step time 'nan' must be above 0"},
        {"t=inf", TRAIN_S, 0, "line 1: the step time 'inf' is too long"},
        {"t=inf", TRAIN_PER_S, 0, "line 1: the step time 'inf' must be above 0"},
        {"t=1e-10", TRAIN_S, 0, "line 1: the step time '1e-10' must be above 0"},
        {"t=12x", TRAIN_S, 0, "line 1: the step time '12x' is not a number"},
    };
    struct config_entry time = {.value = "t=(.*)"};
    for (size_t i = 0; i < N(lines); i++) {
        char wrong[200];
        struct train_settings s = {.time = &time, .unit = lines[i].unit};
        assert_int_equal(read_line(&s, lines[i].line, wrong, sizeof wrong), lines[i].ns);
        assert_string_equal(wrong, lines[i].wrong);
    }
}

/* What the log holds of an output. */
static void log_of(const char *bytes, size_t n, size_t times, struct text *out)
{
    char path[] = "/tmp/gradsync-train.XXXXXX";
    struct job_output o = {.log = mkstemp(path)};
    assert_true(o.log >= 0);
    for (size_t i = 0; i < times; i++)
        job_output_take(&o, bytes, n);
    job_output_end(&o);
    close(o.log);
    assert_true(text_read_file(path, out));
    unlink(path);
    job_output_free(&o);
}

TEST(logs)
{
    struct text t = {0};
    setenv("TEST_TRAIN_TOKEN", "abcdef123", 1);
    setenv("TEST_TRAIN_PASS", "ab", 1);
    log_of("a\r\nb\0c\rabcdef123 is abcdef123\nab", 32, 1, &t);
    assert_string_equal(t.s, "a\nbc\n(hidden) is (hidden)\nab\n");
    text_free(&t);
    log_of("0123456789abcde\n", 16, 100000, &t);
    assert_true(t.len < 256 << 10);
    assert_non_null(strstr(t.s, " bytes left out ...\n"));
    assert_true(!strncmp(t.s, "0123456789abcde\n", 16));
    assert_true(!strcmp(t.s + t.len - 16, "0123456789abcde\n"));
    text_free(&t);
}
