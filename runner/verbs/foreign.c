/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cli.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/family.h"
#include "base/text.h"
#include "base/units.h"
#include "config/config.h"
#include "config/locate.h"
#include "import/import_run.h"
#include "verbs/commands.h"
#include "wan/training.h"
#include "wan/watch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- import ---- */

struct import_request {
    const char *out, *platform, **set;
    bool as_launches;
    struct facts facts;
    struct import_platform at; /* config NULL: none */
};

static int read_request(struct import_request *q)
{
    const bool path = q->platform && (strchr(q->platform, '/') || text_ends(q->platform, ".ini"));
    if (path) {
        CHECK(config_load(&q->at.config, q->platform, NULL));
        CHECK(settings_read(q->at.config, &q->at.set));
    } else if (q->platform) {
        CHECK(facts_set(&q->facts, "platform", q->platform));
    }
    for (const char **s = q->set; s && *s; s++)
        CHECK(facts_set_word(&q->facts, *s));
    return GS_OK;
}

/* The name "iteration_times_auto.txt" gives the config, if nothing else does. */
static int name_config(struct imported *f)
{
    static const char prefix[] = "iteration_times_";
    size_t n = sizeof prefix - 1, stem = strcspn(f->imp->name, ".");
    if (strcmp(f->imp->format, "iteration") || f->facts.value[FACT_CONFIG] || stem <= n ||
        strncmp(f->imp->name, prefix, n))
        return GS_OK;
    AUTO_FREE char *config = xstrfmt("%.*s", (int)(stem - n), f->imp->name + n);
    return facts_set(&f->facts, "config", config);
}

static int read_file(const struct import_request *q, const char *path, struct imported *out)
{
    out->at = q->at.config ? &q->at : NULL;
    facts_copy(&out->facts, &q->facts);
    struct import_known known = {.unit = out->facts.value[FACT_UNIT],
                                 .collective = out->facts.value[FACT_COLLECTIVE]};
    if (out->facts.value[FACT_RANKS])
        units_parse_int(out->facts.value[FACT_RANKS], &known.ranks);
    else if (out->at)
        known.ranks = out->at->set.launch.ranks;
    CHECK(import_read(&out->imp, path, &known));
    return name_config(out);
}

static void forget(struct imported *f)
{
    import_free(f->imp);
    facts_free(&f->facts);
    *f = (struct imported){0};
}

/* Continues after a refused file, so that all faults are named and the good files are imported. */
static int import(const struct import_request *q, char *const *paths, size_t n)
{
    AUTO_FREE struct imported *files = xcalloc(n, sizeof *files);
    size_t good = 0;
    int code = GS_OK, written = GS_OK;
    for (size_t i = 0; i < n && code != GS_USAGE; i++) {
        int one = read_file(q, paths[i], &files[good]);
        if (one)
            forget(&files[good]);
        good += !one;
        code = one == GS_USAGE || !code ? one : code;
        /* One file at a time unless they form one run, to hold the samples of one file in memory. */
        if (!one && !q->as_launches) {
            written = import_write(files, good, q->out, false);
            forget(&files[--good]);
            code = written ? written : code;
        }
    }
    if (good && code != GS_USAGE) {
        written = import_write(files, good, q->out, true);
        code = written ? written : code;
    }
    for (size_t i = 0; i < good; i++)
        forget(&files[i]);
    return code;
}

static int run(void *request, char **paths, int n)
{
    struct import_request *q = request;
    q->out = q->out ? q->out : "data/raw";
    int code = read_request(q);
    TRY(code, import(q, paths, (size_t)n));
    facts_free(&q->facts);
    config_free(q->at.config);
    return code;
}

int cmd_import(int argc, char **argv)
{
    struct import_request q = {0};
    const struct cli_option options[] = {
        {"output", 'o', CLI_TEXT, &q.out, "RAW", "folder for the recordings (default data/raw)"},
        {"platform", 0, CLI_TEXT, &q.platform, "NAME",
         "platform that was measured, by name or by config; a config also gives its limits, e.g. "
         "configs/a100-8gpu.ini"},
        {"set", 0, CLI_LIST, &q.set, "KEY=VALUE",
         "give a fact that the files lack, e.g. ranks=8 or config=ring; unit=s, ms or us for "
         "iteration times (default ms); may be repeated"},
        {"as-launches", 0, CLI_FLAG, &q.as_launches, NULL,
         "make the files of one platform the launches of one run, so that compare can use them"},
        CLI_QUIET_ROW,
        {0},
    };
    const struct cli cli = {
        .arguments = "FILE…",
        .summary = "Converts the output of other programs to recordings.",
        .example = "gradsync import --platform dgx --set config=ring all_reduce_perf.txt",
        .options = options,
        .args = {1, -1}};
    return cli_request(&cli, argc, argv, run, &q);
}

/* ---- watch ---- */

#define LINE_MAX_B 65536 /* longer lines are split at this size */
#define POLL_MS 250

struct watch_request {
    const char **set;
    const char *config, *patterns, *threshold;
    struct cli_int window, warmup;
    bool no_follow;
};

struct input {
    const char *path;
    int fd;
    bool follow;  /* wait for more at the end of a regular file */
    bool binary;  /* a byte 0 was read */
    off_t offset; /* bytes read so far */
    int code;     /* exit code of a read error */
    size_t n;
    char buf[LINE_MAX_B + 1];
};

/* ---- options ---- */

/* Takes the predicted rate and step time from the model of a config. */
static int expect(const struct watch_request *q, struct watch_options *o)
{
    AUTO(config_free_of) struct config *c = NULL;
    AUTO(wan_map_free) struct wan_map m = {0};
    struct wan_training t;
    CHECK(config_load(&c, q->config, q->set));
    CHECK(wan_map_read(&m, c));
    CHECK(wan_training_read(&t, c, &m));
    struct wan_case plan = wan_case_of(&m, &t);
    struct wan_outcome out = wan_evaluate(&plan);
    o->expected_rate = out.tokens_per_s;
    o->expected_step_s = out.step_s;
    o->tokens = t.tokens;
    o->gpus = t.gpus;
    return GS_OK;
}

/* "700k" tokens/s, or "80%" (the default) of the predicted rate. */
static int read_threshold(const struct watch_request *q, struct watch_options *o)
{
    const char *text = q->threshold ? q->threshold : "80%";
    double value;
    int64_t whole;
    bool share = strchr(text, '%');
    if (!units_parse_real(text, &value))
        value = units_parse_int(text, &whole) ? (double)whole : -1;
    if (value < 0)
        return fail(GS_USAGE,
                    "watch: --threshold '%s' is neither tokens/s (700k) nor a share of the "
                    "predicted rate (80%%)",
                    text);
    if (share && q->threshold && o->expected_rate <= 0)
        return fail(GS_USAGE,
                    "watch: --threshold %s is a share of the predicted rate; give --config", text);
    o->threshold = share ? value * o->expected_rate : value;
    return GS_OK;
}

/* ---- input ---- */

static int open_input(struct input *in, const char *path, bool no_follow)
{
    struct stat st = {0};
    *in = (struct input){.path = path, .fd = STDIN_FILENO};
    if (strcmp(path, "-"))
        in->fd = open(path, O_RDONLY | O_CLOEXEC);
    if (in->fd < 0)
        return locate_failed(GS_USAGE, path, LOCATE_FILE);
    if (!fstat(in->fd, &st) && S_ISDIR(st.st_mode))
        return fail_at(GS_USAGE, path, 0, "is a folder, not a log");
    in->follow = !no_follow && strcmp(path, "-") && S_ISREG(st.st_mode);
    return GS_OK;
}

/* Lines end in a line feed or, in progress bars, a carriage return. Keeps an incomplete line. */
static void take_lines(struct input *in, struct watch *w, bool all)
{
    char *start = in->buf, *end = in->buf + in->n;
    for (char *p = start; p < end; p++)
        if (*p == '\n' || *p == '\r') {
            if (p > start)
                watch_line(w, start, (size_t)(p - start));
            start = p + 1;
        }
    if (start < end && (all || (start == in->buf && in->n == LINE_MAX_B))) {
        watch_line(w, start, (size_t)(end - start));
        start = end;
    }
    in->n = (size_t)(end - start);
    memmove(in->buf, start, in->n);
}

/* Reopens a log that was rotated or truncated. */
static void look_again(struct input *in, struct watch *w)
{
    struct stat here, there;
    if (fstat(in->fd, &here) || stat(in->path, &there))
        return;
    bool other = here.st_ino != there.st_ino || here.st_dev != there.st_dev;
    if (!other && there.st_size >= in->offset)
        return;
    take_lines(in, w, true);
    int fd = open(in->path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    close(in->fd);
    in->fd = fd;
    in->offset = 0;
}

/* 1: got input; 0: none now; -1: end, or an error in in->code. */
static int take_input(struct input *in, struct watch *w)
{
    ssize_t n = read(in->fd, in->buf + in->n, LINE_MAX_B - in->n);
    if (n > 0) {
        in->binary = in->binary || memchr(in->buf + in->n, '\0', (size_t)n);
        in->n += (size_t)n;
        in->offset += n;
        take_lines(in, w, false);
        return 1;
    }
    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return 0;
    if (n < 0)
        in->code = fail_at(GS_FAILED, in->path, 0, "cannot be read: %s", strerror(errno));
    if (n < 0 || !in->follow)
        return -1;
    look_again(in, w);
    return 0;
}

/* Follows the log until its end or Ctrl-C. */
static void follow(struct input *in, struct watch *w, struct interrupts *stop)
{
    int came = 0;
    size_t steps = 0;
    double last_s = clock_now_s();
    while (came >= 0 && !stop->count) {
        struct pollfd p[] = {{.fd = stop->fd, .events = POLLIN}, {.fd = in->fd, .events = POLLIN}};
        /* A regular file always polls as readable, so wait for time to pass. */
        poll(p, in->follow ? 1 : 2, in->follow && came > 0 ? 0 : POLL_MS);
        interrupts_read(stop);
        bool ready = in->follow || p[1].revents;
        if (!stop->count && ready)
            came = take_input(in, w);
        if (steps != watch_measured(w))
            last_s = clock_now_s();
        steps = watch_measured(w);
        watch_idle(w, clock_now_s() - last_s);
        if (came <= 0)
            fflush(stdout);
    }
    take_lines(in, w, true);
}

/* Nothing in the log was judged, so it must not look like the log of a good training. */
static int no_step(const struct input *in)
{
    const char *name = strcmp(in->path, "-") ? in->path : "standard input";
    return in->binary ? fail_at(GS_USAGE, name, 0, "not text: give the log of a training")
           : !in->offset
               ? fail_at(GS_USAGE, name, 0, "empty: give the log of a training")
               : fail_at(GS_USAGE, name, 0,
                         "no rate and no step time found: is it the log of a training? If "
                         "so, describe its format in a file for --patterns");
}

static int watch(void *request, char **words, int n)
{
    (void)n;
    const struct watch_request *q = request;
    struct watch_options o = {.patterns = q->patterns,
                              .window = (size_t)q->window.value,
                              .warmup = (size_t)q->warmup.value};
    struct interrupts stop;
    AUTO_FREE struct input *in = xcalloc(1, sizeof *in);
    if (q->config)
        CHECK(expect(q, &o));
    CHECK(read_threshold(q, &o));
    CHECK(open_input(in, words[0], q->no_follow));
    AUTO(watch_free_of) struct watch *w = watch_new(&o);
    if (!w)
        return GS_USAGE;
    CHECK(interrupts_catch(&stop));
    follow(in, w, &stop);
    interrupts_release(&stop);
    size_t steps = watch_measured(w), flagged = watch_end(w);
    if (!in->code && !steps && !flagged && !stop.count)
        return no_step(in);
    return in->code ? in->code : flagged ? GS_FAILED : GS_OK;
}

int cmd_watch(int argc, char **argv)
{
    struct watch_request q = {.window = {20, 1, WATCH_WINDOW_MAX}, .warmup = {5, 0, LONG_MAX}};
    const struct cli_option options[] = {
        {"config", 'c', CLI_TEXT, &q.config, "CONFIG",
         "config with the [model] that predicts the rate"},
        CLI_SET_ROW(&q.set),
        {"patterns", 0, CLI_TEXT, &q.patterns, "FILE",
         "rows for other log formats, in the form of share/gradsync/watch.table (runner/wan/)"},
        {"threshold", 't', CLI_TEXT, &q.threshold, "RATE",
         "minimum rate in tokens/s (700k) or as a share of the predicted rate (default 80%)"},
        {"window", 'w', CLI_INT, &q.window, "N", "measurements in the rolling median (default 20)"},
        {"warmup", 0, CLI_INT, &q.warmup, "N",
         "number of first measurements, which do not count (default 5)"},
        {"no-follow", 0, CLI_FLAG, &q.no_follow, NULL,
         "stop at the end of the file instead of waiting for more"},
        {0}};
    const struct cli cli = {.arguments = "FILE|-",
                            .summary =
                                "Follows a training log, compares its rate and step time with the "
                                "model, and reports faults. Exits with 1 if it reported any.",
                            .example = "gradsync watch --config wan-4site train.log",
                            .options = options,
                            .args = {1, 1}};
    return cli_request(&cli, argc, argv, watch, &q);
}
