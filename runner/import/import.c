/* SPDX-License-Identifier: Apache-2.0 */
#include "import/import_text.h"

#include "base/err.h"
#include "base/jsontext.h"
#include "base/text.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- import osu ----
 *
 * osu_allreduce and its siblings of the OSU micro-benchmarks:
 *   # OSU MPI-CUDA Allreduce Latency Test v7.4
 *   # Datatype: MPI_CHAR.                                                  since 7
 *   # Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations     all with -f
 *   4                       1.54              1.40              1.72        1000
 * The time is the mean time of the slowest rank, if the table has it, as in every recording. If not,
 * it is the mean over the ranks, and the metric says so. The output names neither ranks nor hosts.
 * The sizes of an all-gather and an all-to-all are those of one rank's block. Builds for NCCL and RCCL
 * have "OSU NCCL-CUDA" or "OSU RCCL-ROCM" in the title. Tables of other benchmarks, as the log of a
 * whole suite has them, are left out and counted.
 */

#define OSU_COLUMNS 16
#define LATENCY 10 /* index of the first name that a single column of times may have */

/* The word of the title; what follows it tells vector and other variants apart. */
static const struct osu_collective {
    const char *title, *program, *collective;
    enum imp_factor factor;
    bool size_of_block;
} osu_collectives[] = {
    {"Allreduce Latency", "osu_allreduce", "", IMP_ALLREDUCE, false},
    {"Allgather Latency", "osu_allgather", "allgather", IMP_SHARE, true},
    {"Reduce_scatter Latency", "osu_reduce_scatter", "reducescatter", IMP_SHARE, false},
    {"All-to-All Personalized Exchange Latency", "osu_alltoall", "alltoall", IMP_SHARE, true},
    {"Broadcast Latency", "osu_bcast", "broadcast", IMP_ONE, false},
    {"Reduce Latency", "osu_reduce", "reduce", IMP_ONE, false},
};

struct osu {
    const struct osu_collective *of;
    struct import *imp;
    struct import_lines *in;
    char tool[IMP_WORD], dtype[IMP_WORD];
    const char *workload;
    struct import_log log;
    bool open, worst;
    bool skip;                               /* another benchmark: skip the table */
    size_t others;                           /* such tables */
    char other[64];                          /* the title of the first */
    size_t columns, time, iterations, check; /* indices of columns; 0: none */
    int64_t size_B;                          /* of the last row */
};

static const char *anchor(const char *line)
{
    const char *at = strcasestr(line, "OSU ");
    for (; at; at = strcasestr(at + 1, "OSU "))
        if ((at == line || !isalpha((unsigned char)at[-1])) && isupper((unsigned char)at[4]) &&
            strcasestr(at, " Test"))
            return import_anchor(line, at);
    return NULL;
}

/* `s`: "OSU MPI-CUDA Allreduce Latency Test v7.4" */
static void on_title(struct osu *r, const char *s)
{
    const char *version = strcasestr(s, " Test v"), *library = s + strlen("OSU ");
    const char *title = strchr(library, ' ');
    const bool nccl = !strncasecmp(library, "NCCL", 4) || !strncasecmp(library, "RCCL", 4);
    r->of = NULL;
    for (size_t i = 0; title && i < COUNT(osu_collectives); i++)
        if (!strncasecmp(title + 1, osu_collectives[i].title, strlen(osu_collectives[i].title)))
            r->of = &osu_collectives[i];
    r->open = false;
    r->skip = !r->of;
    r->workload = nccl ? "nccl_allreduce" : "mpi_allreduce";
    r->size_B = -1;
    *r->dtype = '\0';
    if (r->skip) {
        if (!r->others++)
            snprintf(r->other, sizeof r->other, "%.*s", (int)strcspn(s, "\r\n"), s);
        return;
    }
    snprintf(r->tool, sizeof r->tool, "%s%s%.*s", r->of->program, version ? " " : "",
             version ? (int)strcspn(version + 7, " ") : 0, version ? version + 7 : "");
}

/* A name has one or two words: "Size", "Avg Latency(us)". */
static int on_header(struct osu *r, const char *line)
{
    static const char *const names[] = {"Size",        "Avg",     "Min", "Max", "Iterations",
                                        "P50",         "P90",     "P95", "P99", "Validation",
                                        "Latency(us)", "Latency", NULL};
    struct word w[2 * OSU_COLUMNS];
    size_t n = words_of(line, w, 2 * OSU_COLUMNS);
    if (n > 2 * OSU_COLUMNS)
        return import_refuse(r->in, "a table of more than %d columns", OSU_COLUMNS);
    r->columns = r->time = r->iterations = r->check = 0;
    r->worst = false;
    for (size_t i = 0; i < n; i++) {
        bool continues = i && word_is(&w[i], "Latency(us)") && !word_is(&w[i - 1], "Size");
        size_t k = 0;
        while (names[k] && !word_is(&w[i], names[k]))
            k++;
        if (continues || word_is(&w[i], "Tail") || word_is(&w[i], "Lat(us)") ||
            word_is(&w[i], "(us)"))
            continue;
        if (!names[k])
            return import_refuse(r->in, "%s has no column '%.*s'", r->of->program,
                                 (int)(w[i].n < 40 ? w[i].n : 40), w[i].s);
        if (word_is(&w[i], "Max"))
            r->worst = true;
        if (word_is(&w[i], "Max") || (!r->time && (word_is(&w[i], "Avg") || k >= LATENCY)))
            r->time = r->columns;
        if (word_is(&w[i], "Iterations"))
            r->iterations = r->columns;
        if (word_is(&w[i], "Validation"))
            r->check = r->columns;
        if (r->columns++ == OSU_COLUMNS)
            return import_refuse(r->in, "a table of more than %d columns", OSU_COLUMNS);
    }
    if (!r->time)
        return import_refuse(r->in, "the table has no column of latencies");
    struct imp_test *t = import_add_test(r->imp, r->in, r->workload);
    import_log_test(&r->log, t);
    t->factor = r->of->factor;
    t->collective = r->of->collective;
    t->size_of_block = r->of->size_of_block;
    t->metric = r->worst ? "L_max_of_ranks" : "L_mean_of_ranks";
    t->unverified = !r->check;
    snprintf(t->tool, sizeof t->tool, "%s", r->tool);
    r->open = true;
    r->size_B = -1;
    return GS_OK;
}

/* `s` is behind the '#', which Markdown takes away. */
static int on_words(struct osu *r, const char *line, const char *s)
{
    static const char *const types[][2] = {
        {"MPI_CHAR", "int8"}, {"MPI_INT", "int32"}, {"MPI_FLOAT", "fp32"}, {"MPI_DOUBLE", "fp64"}};
    struct word w[2];
    if (anchor(s)) {
        on_title(r, strcasestr(s, "OSU "));
    } else if (strcasestr(s, "Datatype:")) {
        *r->dtype = '\0';
        for (size_t i = 0; i < COUNT(types); i++)
            if (strstr(s, types[i][0]))
                snprintf(r->dtype, sizeof r->dtype, "%s", types[i][1]);
    } else if (words_of(s, w, 2) > 1 && w[0].n == 4 && !strncasecmp(w[0].s, "Size", 4) &&
               !r->skip) {
        return *r->tool
                   ? on_header(r, s)
                   : import_refuse(r->in, "a table before the name of the benchmark: the start of "
                                          "the file is missing");
    } else {
        import_log_line(&r->log, line);
    }
    return GS_OK;
}

static int take_row(struct osu *r, const struct word *w)
{
    struct imp_cell like = {.in_place = -1, .root = -1, .iters = 1};
    struct imp_test *t = &r->imp->tests[r->imp->n_tests - 1];
    struct number time;
    int64_t iterations = 1;
    snprintf(like.dtype, sizeof like.dtype, "%s", r->dtype);
    if (!word_integer(&w[0], &like.size_B) || like.size_B <= r->size_B)
        return import_refuse(r->in,
                             "a size of %.*s bytes after %lld: the output of several "
                             "processes is mixed",
                             (int)w[0].n, w[0].s, (long long)r->size_B);
    r->size_B = like.size_B;
    if (r->iterations && word_integer(&w[r->iterations], &iterations) && iterations > 0)
        like.iters = (uint64_t)iterations;
    const struct word *text = &w[r->time];
    if (!word_number(text, &time) || time.negative)
        return import_refuse(r->in, "'%.*s' us is not a time", (int)text->n, text->s);
    struct imp_cell *c = import_cell(r->in, t, &like);
    if (!c)
        return GS_FAILED;
    if (r->check && !word_is(&w[r->check], "Pass"))
        import_fault(c, "wrong", "line %zu: validation says %.*s", r->in->number,
                     (int)w[r->check].n, w[r->check].s);
    import_sample_us(r->imp, r->in, c, &time, text);
    return GS_OK;
}

static int on_line(struct osu *r, const char *line)
{
    struct word w[OSU_COLUMNS];
    struct number x;
    int64_t size;
    const char *s = line + strspn(line, " \t");
    size_t n = words_of(s, w, OSU_COLUMNS);
    if (n && *s != '#' && word_integer(&w[0], &size) && r->skip)
        return GS_OK;
    if (!n || *s == '#' || !word_integer(&w[0], &size))
        return on_words(r, s, s + strspn(s, "# \t"));
    if (!r->open)
        return import_refuse(r->in, "a row before any table");
    if (r->in->torn) { /* 15.5 may have been 15.53 */
        snprintf(r->imp->tests[r->imp->n_tests - 1].missing, 96, "its last line is torn");
        return GS_OK;
    }
    if (n > OSU_COLUMNS)
        return import_refuse(r->in, "a row of more than %d columns", OSU_COLUMNS);
    if (n > 1 && !word_number(&w[1], &x)) /* "8 nodes": another program's line */
        return GS_OK;
    if (n != r->columns)
        return import_refuse(r->in, "a row of %zu columns in a table of %zu", n, r->columns);
    return take_row(r, w);
}

static int read_osu(struct import *imp, struct import_lines *in)
{
    struct osu r = {.imp = imp, .in = in};
    char *line;
    int code = GS_OK;
    while (!code && import_lines_next(in, &line))
        code = in->cut ? GS_OK : on_line(&r, line);
    import_log_free(&r.log);
    if (!code && !imp->n_tests && r.others)
        return import_refuse(in,
                             "'%.60s' is none of the blocking collectives that can be imported: "
                             "osu_allreduce, osu_allgather, osu_reduce_scatter, osu_alltoall, "
                             "osu_bcast, osu_reduce",
                             r.other);
    if (!code && r.others)
        say("%s: %zu table%s of other benchmarks left out, such as '%s'", imp->path, r.others,
            r.others == 1 ? "" : "s", r.other);
    return code;
}

static const struct import_format import_osu = {"osu", anchor, true, read_osu};

/* ---- formats ---- */

static const struct import_format import_iteration;
static const struct import_format *const formats[] = {&import_nccl, &import_nccl_json,
                                                      &import_iteration, &import_osu};

#define TELLING_LINES 100000 /* lines that are searched for a format */
#define FOREIGN_LINES 1000   /* and for that of a program that is not read */

/* By the first line that only one format has; other programs may have printed lines before it. A
 * table of a benchmark goes before a list or JSON: launchers print numbers and JSON too. */
static const struct import_format *recognise(struct import_lines *in)
{
    char *line;
    for (int prefix = 1; prefix >= 0; prefix--) {
        while (in->number < TELLING_LINES && import_lines_next(in, &line))
            for (size_t i = 0; i < COUNT(formats); i++)
                if (formats[i]->prefix == prefix && formats[i]->anchor(line)) {
                    import_lines_rewind(in);
                    return formats[i];
                }
        import_lines_rewind(in);
    }
    return NULL;
}

/* Programs whose output is no recording, and what to do with it. */
static const struct foreign {
    const char *mark, *name, *remedy;
} foreigners[] = {
#define IMB                                                                                        \
    "the Intel MPI Benchmarks (IMB)",                                                              \
        "measure with osu_allreduce, whose output import reads, or with [mpi_allreduce] and "      \
        "gradsync run"
    {"Intel(R) MPI Benchmarks", IMB},
    {"Intel (R) MPI Benchmarks", IMB},
    {"t_min[usec]", IMB},
#define PARAM                                                                                      \
    "PARAM (comms.py)", "measure with nccl-tests, whose output import reads, or with "             \
                        "[nccl_allreduce] and gradsync run"
    {"COMMS-RES", PARAM},
    {"PARAM COMM", PARAM},
#define PERFTEST                                                                                   \
    "perftest (ib_write_bw and the like)",                                                         \
        "it is the rate of a link: write it as link or network into [limits] of a config"
    {"BW average[", PERFTEST},
    {"RDMA_Write BW Test", PERFTEST},
    {"RDMA_Read BW Test", PERFTEST},
    {"Send BW Test", PERFTEST},
#define IPERF                                                                                      \
    "iperf3",                                                                                      \
        "gradsync links measures the links between sites; or write the rate into [links] of "      \
        "a config"
    {"iperf3", IPERF},
    {"iperf 3", IPERF},
    {"iperf Done", IPERF},
    {"[ ID] Interval", IPERF},
    {"bits_per_second", IPERF},
#define RCCL                                                                                       \
    "rccl-tests as JSON or CSV",                                                                   \
        "import the table that it prints without -Z, which is that of nccl-tests"
    {"numCycle", RCCL},
    {"\"busBw\"", RCCL},
    {"nvbandwidth Version", "nvbandwidth", "write its rate into [limits] of a config"},
};

static const struct foreign *recognise_foreign(struct import_lines *in)
{
    const struct foreign *found = NULL;
    char *line;
    while (!found && in->number < FOREIGN_LINES && import_lines_next(in, &line))
        for (size_t i = 0; i < COUNT(foreigners) && !found; i++)
            found = strstr(line, foreigners[i].mark) ? &foreigners[i] : NULL;
    import_lines_rewind(in);
    return found;
}

/* ---- GPUs ---- */

/* Counts the GPUs of the ranks, and warns if two ranks share one. */
static void count_gpus(const struct import *imp, struct imp_test *t, bool warn)
{
    AUTO_WORDS struct words seen = {0};
    size_t i;
    json_t *a;
    json_array_foreach(t->hosts, i, a)
    {
        long long index = json_integer_of(a, "index"), rank = (long long)i;
        AUTO_FREE char *gpu =
            xstrfmt("%s, device %lld, %s", json_text_of(a, "host"), index, json_text_of(a, "bus"));
        AUTO_FREE char *own = xstrfmt("%s %lld", gpu, rank); /* where no index tells GPUs apart */
        size_t known = seen.n, at = words_add_once(&seen, json_object_get(a, "index") ? gpu : own);
        t->gpus += at == known ? 1 + t->hidden : 0;
        if (at < known && warn && known == i)
            say("%s: warning: ranks %lld and %lld share one GPU (%s): their times are not those of "
                "two GPUs",
                imp->path, (long long)json_integer_of(json_array_get(t->hosts, at), "rank"),
                (long long)json_integer_of(a, "rank"), gpu);
    }
}

static int read_all(struct import *imp, struct import_lines *in)
{
    const struct import_known *known = &imp->known;
    CHECK(import_lines_open(in, imp->path));
    const struct import_format *format = recognise(in);
    const struct foreign *other = format && format->prefix ? NULL : recognise_foreign(in);
    if (other)
        return fail_at(GS_FAILED, in->path, 0,
                       "refused: this is of %s, which import does not read; %s", other->name,
                       other->remedy);
    if (!format)
        return fail_at(GS_FAILED, in->path, 0,
                       "refused: not the output of nccl-tests (text or JSON) or of an OSU "
                       "benchmark, and not a list of step times, one a line");
    if (known->unit && format != &import_iteration)
        return fail_at(GS_USAGE, in->path, 0,
                       "unit=%s: the format %s has a unit of its own; leave out --set unit",
                       known->unit, format->name);
    if (known->collective && format != &import_nccl)
        return fail_at(GS_USAGE, in->path, 0,
                       "collective=%s: the format %s names its collective; leave out --set "
                       "collective",
                       known->collective, format->name);
    imp->format = format->name;
    memcpy(imp->sha256, in->sha256, sizeof imp->sha256);
    if (format->prefix) { /* lines before the first that has the prefix may have it, too */
        char *line;
        in->anchor = format->anchor;
        while (!*in->prefix && import_lines_next(in, &line) && !in->anchor(line))
            ;
        import_lines_rewind(in);
    }
    CHECK(format->read(imp, in));
    if (!imp->samples)
        return *in->prefix ? import_refuse(in,
                                           "no row of its table was found: lines begin with an "
                                           "unknown prefix, other than '%.60s'; remove the prefix",
                                           in->prefix)
                           : import_refuse(in, "the file has no times");
    for (size_t i = 0; i < imp->n_tests; i++)
        count_gpus(imp, &imp->tests[i], i == 0);
    return GS_OK;
}

int import_read(struct import **out, const char *path, const struct import_known *known)
{
    struct import_lines in = {0};
    struct import *imp = xcalloc(1, sizeof *imp);
    imp->path = xstrdup(path);
    imp->name = path_name(imp->path);
    imp->known = *known;
    int code = read_all(imp, &in);
    text_free(&in.text);
    if (code)
        import_free(imp);
    *out = code ? NULL : imp;
    return code;
}

void import_free(struct import *imp)
{
    if (!imp)
        return;
    for (size_t i = 0; i < imp->n_tests; i++) {
        struct imp_test *t = &imp->tests[i];
        for (size_t k = 0; k < t->n_cells; k++)
            free(t->cells[k].time_ns);
        free(t->cells);
        json_decref(t->hosts);
        json_decref(t->settings);
        free(t->heading);
    }
    free(imp->tests);
    free(imp->path);
    free(imp);
}

/* ---- lists ----
 *
 * iteration_times_*.txt: one time of a training step on each line, in milliseconds unless the user
 * names another unit. */

static const char *times_anchor(const char *line)
{
    struct word w;
    struct number x;
    return words_of(line, &w, 1) == 1 && word_number(&w, &x) ? line : NULL;
}

static const struct scale {
    const char *unit, *name;
    double ns;
} scales[] = {{"ms", "milliseconds", 1e6}, {"s", "seconds", 1e9}, {"us", "microseconds", 1e3}};

static const struct scale *scale_of(const struct import *imp)
{
    const struct scale *s = scales;
    while (imp->known.unit && strcmp(s->unit, imp->known.unit))
        s++;
    return s;
}

const char *import_unit_name(const struct import *imp)
{
    return scale_of(imp)->name;
}

static int read_times(struct import *imp, struct import_lines *in)
{
    struct imp_test *t = import_add_test(imp, in, "iter_proxy");
    struct imp_cell *c =
        import_cell(in, t, &(struct imp_cell){.in_place = -1, .root = -1, .iters = 1});
    char *line;
    t->line = 1;
    t->metric = "";
    t->unverified = true;
    while (import_lines_next(in, &line)) {
        struct word w;
        struct number x;
        uint64_t ns;
        size_t words = words_of(line, &w, 1);
        if (!words)
            continue;
        if (in->torn) { /* 9.7 may have been 9.795 */
            strcpy(t->missing, "its last line is torn");
            break;
        }
        if (in->cut || words > 1 || !word_number(&w, &x))
            return import_refuse(in, "the line must be one time in %s", import_unit_name(imp));
        if (!number_scaled(&x, scale_of(imp)->ns, &ns) || x.negative || !ns)
            return import_refuse(in, "%.*s %s is not a time", (int)(w.n < 40 ? w.n : 40), w.s,
                                 scale_of(imp)->unit);
        import_sample(imp, in, c, ns);
    }
    return GS_OK;
}

static const struct import_format import_iteration = {IMPORT_TIMES, times_anchor, false,
                                                      read_times};
