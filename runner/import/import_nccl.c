/* SPDX-License-Identifier: Apache-2.0
 *
 * The text output of nccl-tests 2.0 to 2.19. A file has one test after another:
 *   # nccl-tests version …, # Collective test starting: …      since 2.17
 *   # nThread 1 nGpus 8 minBytes 8 …
 *   #  Rank  0 Group  0 Pid … on HOST device 0 [0000:0f:00] NAME     Group since 2.16
 *   #  size count type redop root time algbw busbw #wrong …          redop, root and #wrong vary
 *   rows
 *   # Out of bounds values : 0 OK
 *   # Avg bus bandwidth    : 11.2
 * Other lines may be between these, and messages of NCCL in the middle of a row.
 *
 * The JSON report of nccl-tests (-J), versions 1 to 3. A file has one test: its "config" with the
 * devices, and its "results", rows {size, count, type, redop, root, out_of_place {time, alg_bw,
 * bus_bw, nwrong}, in_place {…}}. With -I, out_of_place_per_iter and in_place_per_iter have the
 * times of all iterations in "times_us"; these are the samples then. A missing number is "nan".
 */
#include "import/import_text.h"

#include "base/err.h"
#include "base/jsontext.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what both formats have: programs, types, and the checks of a row ---- */

struct nccl_program {
    const char *program, *name, *workload;
    const char *collective; /* the plugin's parameter; "": its default */
    enum imp_factor factor;
};
/* A row, as both formats have it. */
struct nccl_side {
    bool there;                          /* the operation has this variant */
    struct number time_us, algbw, busbw; /* GB/s */
    struct word time;                    /* as printed */
    bool checked;
    struct number wrong;   /* values, if checked */
    const json_t *each_us; /* the times of all iterations; NULL: only their mean */
};

struct nccl_row {
    int64_t size_B, count, root; /* root -1: none */
    char type[IMP_WORD], op[IMP_WORD];
    struct nccl_side side[2]; /* out of place, in place */
};

/* The factors are those of nccl-tests, doc/PERFORMANCE.md. */
static const struct nccl_program collectives[] = {
    {"all_reduce_perf", "allreduce", "nccl_allreduce", "", IMP_ALLREDUCE},
    {"reduce_scatter_perf", "reducescatter", "nccl_allreduce", "reducescatter", IMP_SHARE},
    {"all_gather_perf", "allgather", "nccl_allreduce", "allgather", IMP_SHARE},
    {"alltoall_perf", "alltoall", "nccl_allreduce", "alltoall", IMP_SHARE},
    {"broadcast_perf", "broadcast", "nccl_allreduce", "broadcast", IMP_ONE},
    {"reduce_perf", "reduce", "nccl_allreduce", "reduce", IMP_ONE},
    {"sendrecv_perf", "sendrecv", "nccl_allreduce", "sendrecv", IMP_ONE},
    /* gradsync measures none of these. */
    {"gather_perf", "gather", "nccl_gather", "", IMP_SHARE},
    {"scatter_perf", "scatter", "nccl_scatter", "", IMP_SHARE},
    {"hypercube_perf", "hypercube", "nccl_hypercube", "", IMP_SHARE},
};

/* By a name such as "allgather" or "all_gather"; NULL: unknown. */
static const struct nccl_program *nccl_program_named(const char *collective)
{
    char name[32] = "";
    for (size_t n = 0; *collective && n < sizeof name - 1; collective++)
        if (!strchr("_- ", *collective))
            name[n++] = (char)tolower((unsigned char)*collective);
    for (size_t i = 0; i < COUNT(collectives); i++)
        if (!strcmp(collectives[i].name, name))
            return &collectives[i];
    return NULL;
}

bool import_is_collective(const char *name)
{
    return nccl_program_named(name);
}

static const struct nccl_program *by_program(const char *program)
{
    const char *name = path_name(program);
    for (size_t i = 0; i < COUNT(collectives); i++)
        if (!strncmp(name, collectives[i].program, strlen(collectives[i].program)))
            return &collectives[i];
    return NULL;
}

/* NULL, reported: unknown. */
static const struct nccl_program *nccl_program_of(const struct import_lines *in,
                                                  const char *program)
{
    const struct nccl_program *c = by_program(program);
    if (!c)
        import_refuse(in, "'%.60s' is not a known collective of nccl-tests", program);
    return c;
}

static const struct {
    const char *name, *ours;
    int64_t bytes;
} dtypes[] = {
    {"float", "fp32", 4},        {"double", "fp64", 8},     {"half", "fp16", 2},
    {"bfloat16", "bf16", 2},     {"f8e4m3", "fp8_e4m3", 1}, {"f8e5m2", "fp8_e5m2", 1},
    {"int8", "int8", 1},         {"char", "int8", 1},       {"uint8", "uint8", 1},
    {"int32", "int32", 4},       {"int", "int32", 4},       {"uint32", "uint32", 4},
    {"int64", "int64", 8},       {"uint64", "uint64", 8},   {"fp8_e4m3", "fp8_e4m3", 1},
    {"fp8_e5m2", "fp8_e5m2", 1},
};

/* gradsync's name of an element type, and its bytes; unknown: the same name, and 0. */
static const char *dtype_of(const char *name, int64_t *bytes)
{
    *bytes = 0;
    for (size_t i = 0; i < COUNT(dtypes); i++)
        if (!strcmp(dtypes[i].name, name)) {
            *bytes = dtypes[i].bytes;
            return dtypes[i].ours;
        }
    return name;
}

/* "2.29.2" of 22902, "2.7.8" of 2708. */
static void nccl_version(char *buf, size_t n, int64_t code)
{
    /* NCCL_VERSION(X,Y,Z): X*1000 + Y*100 + Z up to 2.8, X*10000 + Y*100 + Z since. */
    int64_t major = code < 10000 ? code / 1000 : code / 10000;
    int64_t minor = code < 10000 ? code % 1000 / 100 : code % 10000 / 100;
    snprintf(buf, n, "%lld.%lld.%lld", (long long)major, (long long)minor, (long long)(code % 100));
}

/* Iterations of a sample; 1 where the numbers make no sense. */
static int64_t nccl_iters(int64_t iters, int64_t aggregated)
{
    bool sane = iters > 0 && iters < 1000000 && aggregated > 0 && aggregated < 1000;
    return sane ? iters * aggregated : 1;
}

/* Half of the last digit. */
static double half(const struct number *x)
{
    return 0.5 * pow(10, x->last);
}

#define SLACK 0.005 /* relative; nccl-tests computes in double, and old versions cut digits */

static int check_side(const struct import_lines *in, int64_t size_B, const struct nccl_side *side,
                      enum imp_factor factor, int64_t ranks)
{
    double time = side->time_us.value;
    if (side->time_us.negative)
        return import_refuse(in, "a negative time, %g us", time);
    if (!side->time_us.finite || !side->algbw.finite || !side->busbw.finite || time <= 0)
        return GS_OK; /* becomes a fault of the cell */
    double algbw = (double)size_B / time * 1e-3;
    double room = half(&side->algbw) + algbw * (SLACK + half(&side->time_us) / time);
    if (fabs(side->algbw.value - algbw) > room)
        return import_refuse(in,
                             "%lld bytes in %g us are %.4g GB/s, but the row says %g: its time "
                             "does not fit its size and bandwidth",
                             (long long)size_B, time, algbw, side->algbw.value);
    double want = import_factor(factor, ranks);
    if (ranks < 2)
        return GS_OK;
    room = half(&side->busbw) + want * half(&side->algbw) + SLACK * side->busbw.value;
    if (fabs(side->busbw.value - want * side->algbw.value) > room)
        return import_refuse(in,
                             "the bus bandwidth of %g GB/s is not %.4g x %g, the factor of %lld "
                             "ranks: its columns do not fit each other; if it is another "
                             "collective, add --set collective=NAME",
                             side->busbw.value, want, side->algbw.value, (long long)ranks);
    return GS_OK;
}

/* Adds the samples of a row. GS_OK or refused: in an all-reduce, the size is not `count` elements of the
 * type; a time is negative; a bandwidth is not size / time; or a bus bandwidth is not that of the
 * collective with this number of ranks. Rounding is allowed for. */
static int nccl_take_row(struct import *imp, const struct import_lines *in, struct imp_test *t,
                         int64_t ranks, int64_t iters, const struct nccl_row *row)
{
    struct imp_cell like = {.size_B = row->size_B, .root = row->root};
    int64_t bytes;
    snprintf(like.dtype, sizeof like.dtype, "%s", dtype_of(row->type, &bytes));
    snprintf(like.op, sizeof like.op, "%s", row->op);
    if (t->factor == IMP_ALLREDUCE && bytes &&
        (row->count > INT64_MAX / 8 || row->count * bytes != row->size_B))
        return import_refuse(in,
                             "%lld elements of %.20s are not %lld bytes, as they are in an "
                             "all-reduce; if it is another collective, add --set collective=NAME",
                             (long long)row->count, row->type, (long long)row->size_B);
    for (int in_place = 0; in_place < 2; in_place++) {
        const struct nccl_side *side = &row->side[in_place];
        size_t i;
        json_t *us;
        if (!side->there)
            continue;
        CHECK(check_side(in, row->size_B, side, t->factor, ranks));
        like.in_place = in_place;
        like.iters = side->each_us ? 1 : (uint64_t)iters;
        struct imp_cell *c = import_cell(in, t, &like);
        if (!c)
            return GS_FAILED;
        if (!side->checked)
            t->unverified = true;
        else if (!side->wrong.finite || side->wrong.value != 0)
            import_fault(c, "wrong", "line %zu: %g wrong values", in->number, side->wrong.value);
        if (!side->each_us)
            import_sample_us(imp, in, c, &side->time_us, &side->time);
        json_array_foreach(side->each_us, i, us)
        {
            double each = json_is_number(us) ? json_number_value(us) : NAN;
            struct number x = {.finite = isfinite(each), .negative = each < 0, .value = each};
            if (x.finite && !x.negative)
                import_sample_us(imp, in, c, &x, &(struct word){"", 0});
            else
                import_fault(c, "failed", "iteration %zu has no time", i + 1);
        }
    }
    return GS_OK;
}

static int nccl_refuse_cpu_time(const struct import_lines *in)
{
    return import_refuse(in, "its times are what the host takes to issue an operation "
                             "(nccl-tests -C), not the operation's own; run it without -C");
}

/* ---- the table ---- */

#define NCCL_COLUMNS 48

enum nccl_column {
    COL_SIZE,
    COL_COUNT,
    COL_TYPE,
    COL_OP,
    COL_ROOT,
    COL_TIME,
    COL_CPUTIME,
    COL_ALGBW,
    COL_BUSBW,
    COL_WRONG,
    COL_ERROR,
    COL_ITERATION,
    COL_TIMESTAMP,
    COLS
};

struct nccl_table {
    struct {
        enum nccl_column is;
        int in_place;
    } columns[NCCL_COLUMNS];
    size_t n;
    size_t side;           /* number of out-of-place columns */
    bool cpu_time, errors; /* it has the host's time; it has the largest error instead of #wrong */
};

static const struct {
    const char *name;
    enum nccl_column is;
} names[] = {
    {"size", COL_SIZE},       {"count", COL_COUNT},
    {"type", COL_TYPE},       {"redop", COL_OP},
    {"root", COL_ROOT},       {"time", COL_TIME},
    {"cputime", COL_CPUTIME}, {"algbw", COL_ALGBW},
    {"busbw", COL_BUSBW},     {"#wrong", COL_WRONG},
    {"error", COL_ERROR},     {"i_min", COL_ITERATION},
    {"i_max", COL_ITERATION}, {"i_p99", COL_ITERATION},
    {"i_cv%", COL_ITERATION}, {"timestamp", COL_TIMESTAMP},
};

#define BIT(column) (1u << (column))
#define KEYS (BIT(COL_SIZE) | BIT(COL_COUNT) | BIT(COL_TYPE))
#define SIDE (BIT(COL_TIME) | BIT(COL_ALGBW) | BIT(COL_BUSBW) | BIT(COL_WRONG))

/* Some versions and modes print another column in place of one. */
static void add_column(struct nccl_table *t, enum nccl_column is, int in_place)
{
    t->cpu_time = t->cpu_time || is == COL_CPUTIME;
    t->errors = t->errors || is == COL_ERROR;
    t->columns[t->n].is = is == COL_CPUTIME ? COL_TIME : is == COL_ERROR ? COL_WRONG : is;
    t->columns[t->n++].in_place = in_place;
}

/* Reads a header of columns, without its '#': each key once, then the columns of out of place, then
 * those of in place. False: the line is not one. */
static bool nccl_table_header(struct nccl_table *t, const char *s)
{
    struct word w[NCCL_COLUMNS];
    size_t n = words_of(s, w, NCCL_COLUMNS);
    unsigned seen[3] = {0}; /* keys, out of place, in place */
    int times = 0;
    *t = (struct nccl_table){0};
    if (n >= NCCL_COLUMNS / 2 + 4)
        return false;
    for (size_t i = 0; i < n; i++) {
        size_t k = 0;
        while (k < COUNT(names) &&
               (w[i].n != strlen(names[k].name) || strncasecmp(w[i].s, names[k].name, w[i].n) != 0))
            k++;
        if (k == COUNT(names))
            return false;
        const enum nccl_column is = names[k].is;
        times += is == COL_TIME || is == COL_CPUTIME;
        if (times > 2)
            return false;
        add_column(t, is, times == 2);
        unsigned bit = BIT(t->columns[t->n - 1].is);
        if (is != COL_ITERATION && seen[times] & bit)
            return false;
        seen[times] |= bit;
        t->side += times == 1;
        if (is == COL_TIMESTAMP) /* a date and a time of day */
            add_column(t, is, 1);
    }
    return (seen[0] & KEYS) == KEYS && (seen[1] & SIDE) == SIDE && (seen[2] & SIDE) == SIDE;
}

/* Does the line look like a row: two integers and a type? */
static bool nccl_table_claims(const char *line)
{
    struct word w[3];
    struct number x;
    int64_t size, count;
    return words_of(line, w, 3) >= 3 && word_integer(&w[0], &size) && word_integer(&w[1], &count) &&
           size >= 0 && count >= 0 && !word_number(&w[2], &x);
}

/* ROW_SHORT: fields are missing. ROW_ODD: the fields do not fit the header. */
enum nccl_row_kind { ROW_WHOLE, ROW_SHORT, ROW_ODD };

/* Reads one side of a row from its words. False: they are no numbers. */
static bool read_side(struct nccl_side *side, const struct word *f, bool errors)
{
    *side = (struct nccl_side){.time = f[COL_TIME]};
    if (word_is(&f[COL_TIME], "N/A")) /* the operation has no such variant */
        return true;
    side->there = true;
    side->checked = !word_is(&f[COL_WRONG], "N/A");
    bool good = word_number(&f[COL_TIME], &side->time_us) &&
                word_number(&f[COL_ALGBW], &side->algbw) &&
                word_number(&f[COL_BUSBW], &side->busbw) &&
                (!side->checked || word_number(&f[COL_WRONG], &side->wrong));
    if (errors) /* the largest error, not a number of values */
        side->wrong = (struct number){.finite = true};
    return good;
}

static enum nccl_row_kind read_row(const struct nccl_table *t, const char *line,
                                   struct nccl_row *out)
{
    struct word w[NCCL_COLUMNS + 1], field[2][COLS] = {0}; /* [0] also has the keys */
    size_t n = words_of(line, w, NCCL_COLUMNS + 1), skip = t->n - n;
    if (n > t->n)
        return ROW_ODD;
    if (n < t->n && skip != t->side) /* the out-of-place side may be left blank */
        return ROW_SHORT;
    for (size_t i = 0, k = 0; i < t->n; i++)
        if (!skip || t->columns[i].in_place || t->columns[i].is < COL_TIME ||
            t->columns[i].is == COL_TIMESTAMP)
            field[t->columns[i].in_place][t->columns[i].is] = w[k++];
    const struct word *f = field[0];
    *out = (struct nccl_row){.root = -1};
    word_copy(out->type, sizeof out->type, &f[COL_TYPE]);
    word_copy(out->op, sizeof out->op, &f[COL_OP]);
    bool good = word_integer(&f[COL_SIZE], &out->size_B) &&
                word_integer(&f[COL_COUNT], &out->count) &&
                (!f[COL_ROOT].n || (word_integer(&f[COL_ROOT], &out->root) && out->root >= -1)) &&
                text_plain(f[COL_TYPE].s, f[COL_TYPE].n) &&
                (!f[COL_OP].n || text_plain(f[COL_OP].s, f[COL_OP].n)) &&
                (skip || read_side(&out->side[0], field[0], t->errors)) &&
                read_side(&out->side[1], field[1], t->errors);
    return good ? ROW_WHOLE : ROW_ODD;
}

/* ---- devices ---- */

#define MIXED "the output of several processes is mixed"

struct nccl {
    struct import *imp;
    struct import_lines *in;
    struct import_log log;                    /* the settings of the next test */
    char version[32], nccl[32], program[128]; /* of the next test */
    const struct nccl_program *what; /* the collective of the open test; NULL: unknown yet */
    bool named;                      /* the output names it, or the user */
    bool open;                       /* the last test has not ended */
    struct nccl_table table;
    bool tabled;                               /* the open test has had its header */
    int64_t iters, max_B, step_B, step_factor; /* of the open test */
    int64_t listed;                            /* ranks of a communicator in the list of devices */
    int64_t ranks;                             /* the same, or else those that the user names */
    int64_t size_B;                            /* of the last row; -1: none */
    char type[IMP_WORD], op[IMP_WORD];         /* of it */
    int64_t root;
    size_t short_row;  /* the line of a row whose last fields are missing; 0: none */
    bool bus;          /* a row has a bus bandwidth */
    bool moved;        /* a row has an algorithm bandwidth so large that its bus bandwidth shows */
    struct text carry; /* the start of a line that a message of NCCL interrupted */
};

static struct imp_test *open_test(const struct nccl *r)
{
    return &r->imp->tests[r->imp->n_tests - 1];
}

static int take_device(struct nccl *r, const char *s)
{
    long long rank, group = 0, pid, device;
    char host[IMP_WORD], bus[32] = "";
    int at = 0;
    bool good = sscanf(s, "%4lld Group %4lld Pid %12lld on %63s device %4lld [%31[^]]]%n", &rank,
                       &group, &pid, host, &device, bus, &at) >= 6 ||
                (group = 0, sscanf(s, "%4lld Pid %12lld on %63s device %4lld [%31[^]]]%n", &rank,
                                   &pid, host, &device, bus, &at) >= 5);
    if (!good || !r->open || r->tabled)
        return GS_OK;
    struct imp_test *t = open_test(r);
    size_t i;
    bool new_host = true;
    json_t *known;
    json_array_foreach(t->hosts, i, known)
    {
        new_host = new_host && strcmp(json_text_of(known, "host"), host);
        if (json_integer_of(known, "rank") == rank && json_integer_of(known, "group") == group)
            return import_refuse(r->in,
                                 "rank %lld a second time in one list of devices: " MIXED
                                 ", and each process has a communicator of one rank; build "
                                 "nccl-tests with MPI=1",
                                 rank);
    }
    if (!t->hosts)
        t->hosts = json_array();
    if (json_array_size(t->hosts) >= 4096)
        return import_refuse(r->in, "more than 4096 ranks in one list of devices");
    /* NCCL_TESTS_SPLIT makes several groups; each has a communicator. */
    const json_t *first = json_object_get(json_array_get(t->hosts, 0), "group");
    r->listed += !first || json_integer_value(first) == group;
    r->ranks = r->listed;
    t->nodes += new_host;
    json_array_append_new(t->hosts, json_pack("{sI sI sI so so sI so}", "rank", (json_int_t)rank,
                                              "group", (json_int_t)group, "pid", (json_int_t)pid,
                                              "host", json_text(host), "device",
                                              json_text(s + at + strspn(s + at, " ")), "index",
                                              (json_int_t)device, "bus", json_text(bus)));
    return GS_OK;
}

/* ---- the end of a test ---- */

static int end_test(struct nccl *r, const char *missing)
{
    if (!r->open)
        return GS_OK;
    struct imp_test *t = open_test(r);
    r->open = false;
    if (missing)
        snprintf(t->missing, sizeof t->missing, "%s", missing);
    if (!t->n_cells) {
        json_decref(t->hosts);
        json_decref(t->settings);
        free(t->heading);
        r->imp->n_tests--;
        return GS_OK;
    }
    if (!t->nccl[0])
        snprintf(t->nccl, sizeof t->nccl, "%s", r->nccl);
    t->ranks = r->listed;
    if (t->ranks == 1 || (!t->ranks && r->moved && !r->bus))
        return import_refuse(r->in,
                             "the test that begins in line %zu has one rank per communicator: its "
                             "times are of a copy, not a collective; build nccl-tests with MPI=1",
                             t->line);
    return GS_OK;
}

/* ---- lines with a '#' ---- */

static int64_t integer_after(const char *s, const char *word)
{
    const char *at = strstr(s, word);
    long long v = 0;
    return at && sscanf(at + strlen(word), " %18lld", &v) == 1 ? v : 0;
}

static void set_collective(struct nccl *r, const struct nccl_program *c)
{
    struct imp_test *t = open_test(r);
    r->what = c;
    t->workload = c->workload;
    t->factor = c->factor;
    t->collective = c->collective;
}

/* By the output, the user, or the command before the test; else the first row shows it. */
static int name_collective(struct nccl *r)
{
    const struct nccl_program *given =
        r->imp->known.collective ? nccl_program_named(r->imp->known.collective) : NULL;
    const struct nccl_program *c = *r->program ? nccl_program_of(r->in, r->program) : given;
    if (*r->program && !c)
        return GS_FAILED;
    if (c && given && c != given)
        return import_refuse(r->in, "collective=%s contradicts the file, which has %s", given->name,
                             r->program);
    r->named = c;
    r->what = NULL;
    c = c ? c : by_program(r->log.program);
    if (c)
        set_collective(r, c);
    return GS_OK;
}

/* `s`: the rest of the line "# nThread …"; "": the table has no such line. */
static int on_start(struct nccl *r, const char *s)
{
    CHECK(end_test(r, "its table has no end"));
    struct imp_test *t = import_add_test(r->imp, r->in, "nccl_allreduce");
    t->factor = IMP_ALLREDUCE;
    import_log_test(&r->log, t);
    CHECK(name_collective(r));
    t->graph = integer_after(s, "graph:") > 0;
    t->unverified = strstr(s, "validation:") && integer_after(s, "validation:") == 0;
    snprintf(t->tool, sizeof t->tool, "nccl-tests%s%s", *r->version ? " " : "", r->version);
    snprintf(t->nccl, sizeof t->nccl, "%s", r->nccl);
    int64_t iters = integer_after(s, " iters:"), after_warmup = 0;
    const char *warmup = strstr(s, "warmup iters:");
    if (warmup)
        after_warmup = integer_after(warmup + strlen("warmup iters:"), " iters:");
    iters = after_warmup ? after_warmup : iters;
    int64_t each = strstr(s, "agg iters:") ? integer_after(s, "agg iters:") : 1;
    r->iters = nccl_iters(iters, each);
    r->max_B = integer_after(s, "maxBytes");
    r->step_B = strstr(s, "(bytes)") ? integer_after(s, "step:") : 0;
    r->step_factor = strstr(s, "(factor)") ? integer_after(s, "step:") : 0;
    r->open = true;
    r->tabled = r->bus = r->moved = false;
    r->listed = 0;
    r->ranks = r->imp->known.ranks;
    r->size_B = -1;
    r->short_row = 0;
    *r->program = '\0';
    return GS_OK;
}

static int on_header(struct nccl *r, const char *s)
{
    struct nccl_table table;
    if (!nccl_table_header(&table, s))
        return GS_OK;
    if (r->open && r->tabled)
        return import_refuse(r->in, "a second table in one test: " MIXED);
    if (!r->open)
        CHECK(on_start(r, "")); /* a table without its head */
    if (table.cpu_time)
        return nccl_refuse_cpu_time(r->in);
    r->table = table;
    r->tabled = true;
    return GS_OK;
}

static int on_bounds(struct nccl *r, const char *s)
{
    if (!r->open)
        return r->imp->n_tests ? import_refuse(r->in, "a second end of one test: " MIXED) : GS_OK;
    struct imp_test *t = open_test(r);
    const char *colon = strchr(s, ':');
    int64_t wrong = colon ? integer_after(colon, ":") : 0;
    /* Such a table does not say which rows were out of bounds. */
    for (size_t i = 0; wrong && r->table.errors && i < t->n_cells; i++)
        import_fault(&t->cells[i], "wrong", "%lld values out of bounds in its table",
                     (long long)wrong);
    return GS_OK;
}

static int end_whole(struct nccl *r)
{
    if (r->open && r->short_row) {
        r->in->number = r->short_row;
        return import_refuse(r->in, "a row without all its columns in a table that goes on: " MIXED
                                    ", or the file was edited");
    }
    return end_test(r, NULL);
}

/* What is behind `start`; NULL: the line begins otherwise. */
static const char *behind(const char *s, const char *start)
{
    size_t n = strlen(start);
    return strncasecmp(s, start, n) ? NULL : s + n;
}

/* `s` is behind the '#', which Markdown takes away. *known: false for another program's line. */
static int on_comment(struct nccl *r, const char *s, bool *known)
{
    const char *rest;
    *known = true;
    if ((rest = behind(s, "nccl-tests version "))) {
        int64_t code = integer_after(rest, "nccl-library=");
        snprintf(r->version, sizeof r->version, "%.*s", (int)strcspn(rest, " "), rest);
        if (code > 0)
            nccl_version(r->nccl, sizeof r->nccl, code);
    } else if ((rest = behind(s, "Collective test starting: "))) {
        snprintf(r->program, sizeof r->program, "%s", rest);
    } else if ((rest = behind(s, "Reducing maxBytes"))) {
        r->max_B = integer_after(rest, "to");
    } else if ((rest = behind(s, "nThread "))) {
        return on_start(r, rest);
    } else if ((rest = behind(s, "Rank "))) {
        return take_device(r, rest);
    } else if (behind(s, "size ")) {
        return on_header(r, s);
    } else if ((rest = behind(s, "Out of bounds values"))) {
        return on_bounds(r, rest);
    } else if (behind(s, "Avg bus bandwidth")) {
        return end_whole(r);
    } else {
        *known = false;
    }
    return GS_OK;
}

/* ---- rows ---- */

/* Sizes grow. After the last size they may start again, with the same or another type. */
static bool in_order(const struct nccl *r, const struct nccl_row *row)
{
    if (r->size_B < 0 || row->size_B > r->size_B || strcmp(row->type, r->type) ||
        strcmp(row->op, r->op) || row->root != r->root)
        return true;
    int64_t next = r->step_factor > 1 ? r->size_B * r->step_factor : r->size_B + r->step_B;
    return row->size_B < r->size_B ? next + 16 * (r->step_factor + 1) > r->max_B
                                   : open_test(r)->n_cells <= 2; /* -b = -e, cycle after cycle */
}

/* What the first row shows: the elements are the whole buffer or one rank's part, there is an
 * operation or none, a root or none, and nccl-tests does not check sendrecv and alltoall in place.
 * NULL: several collectives have such rows; *several names them. */
static const char *collective_of_row(const struct nccl_row *row, int64_t bytes, int64_t ranks,
                                     const char **several)
{
    const struct nccl_side *out = &row->side[0], *in = &row->side[1];
    const bool op = *row->op && strcmp(row->op, "none"), root = row->root >= 0;
    const bool unchecked_in = in->there && !in->checked,
               unchecked_out = out->there && !out->checked;
    const bool exchange = unchecked_in && !unchecked_out, unchecked = unchecked_in && unchecked_out;
    int64_t all = bytes && row->count < INT64_MAX / 8 ? row->count * bytes : row->size_B;
    if (all && all != row->size_B && row->size_B % all == 0 &&
        (ranks < 2 || row->size_B / all == ranks)) {
        *several = root ? "gather or scatter" : "allgather or alltoall";
        return op           ? "reducescatter"
               : root       ? NULL
               : exchange   ? "alltoall"
               : !unchecked ? "allgather"
                            : NULL;
    }
    if (op)
        return root ? "reduce" : exchange ? "sendrecv" : "allreduce";
    *several = "NAME";
    return root ? "broadcast" : exchange ? "sendrecv" : NULL;
}

static int find_collective(struct nccl *r, const struct nccl_row *row)
{
    int64_t bytes;
    const char *several = "";
    dtype_of(row->type, &bytes);
    const char *name = collective_of_row(row, bytes, r->ranks, &several);
    bool share = r->what && r->what->factor == IMP_SHARE;
    bool whole = !bytes || row->count * bytes == row->size_B;
    if (r->what && (r->named || share != whole)) /* a command may be of another table */
        return GS_OK;
    if (!name)
        return import_refuse(r->in,
                             "not an all-reduce, and its output does not name the collective; add "
                             "--set collective=%s",
                             several);
    set_collective(r, nccl_program_named(name));
    return GS_OK;
}

static int take_row(struct nccl *r, const struct nccl_row *row)
{
    if (!row->size_B) /* fewer elements than ranks: nothing was sent */
        return GS_OK;
    if (r->size_B < 0 && find_collective(r, row))
        return GS_FAILED;
    if (!in_order(r, row))
        return import_refuse(r->in, "%lld bytes after %lld: " MIXED, (long long)row->size_B,
                             (long long)r->size_B);
    r->size_B = row->size_B;
    r->root = row->root;
    strcpy(r->type, row->type);
    strcpy(r->op, row->op);
    for (int i = 0; i < 2; i++) {
        r->bus = r->bus || row->side[i].busbw.value > 0;
        r->moved = r->moved || row->side[i].algbw.value >= 1;
    }
    return nccl_take_row(r->imp, r->in, open_test(r), r->ranks, r->iters, row);
}

static int take_line(struct nccl *r, const char *line)
{
    struct nccl_row row;
    if (!r->open || !r->tabled)
        return import_refuse(r->in, r->imp->n_tests
                                        ? "a row after the end of its test: " MIXED
                                        : "a row before any table: the start of the file is "
                                          "missing");
    enum nccl_row_kind kind = read_row(&r->table, line, &row);
    if (kind == ROW_WHOLE && r->in->torn) /* 15.5 may have been 15.53 */
        kind = ROW_SHORT;
    if (kind == ROW_SHORT && !r->short_row) {
        r->short_row = r->in->number;
        return GS_OK;
    }
    if (r->short_row)
        return end_whole(r);
    if (kind == ROW_ODD)
        return import_refuse(r->in, "a row with other columns than its table: " MIXED
                                    ", or the file was edited");
    return take_row(r, &row);
}

/* ---- lines ---- */

static void on_message(struct nccl *r, const char *message)
{
    const char *version = strstr(message, "NCCL version ");
    if (version)
        snprintf(r->nccl, sizeof r->nccl, "%.*s", (int)strcspn(version + 13, "+ "), version + 13);
    static const char by[] = " set by environment to "; /* "NCCL_ALGO set by environment to Ring" */
    const char *at = strstr(message, by), *name = at;
    while (name && name > message && name[-1] != ' ')
        name--;
    if (r->open && at && !strncmp(name, "NCCL_", 5))
        import_setting(open_test(r)->settings, name, (size_t)(at - name), at + strlen(by),
                       strcspn(at + strlen(by), " ."));
}

static int on_text(struct nccl *r, char *line)
{
    const char *s = line + strspn(line, " \t");
    bool known = false, comment = *s == '#';
    s += comment;
    CHECK(on_comment(r, s + strspn(s, " \t"), &known));
    if (known)
        return GS_OK;
    if (!strncmp(s, "NCCL version ", 13))
        on_message(r, s);
    /* "HOST: Test NCCL failure FILE:LINE …", then a line of each caller: the process ended there. */
    const char *failure = strstr(s, "Test ");
    if (failure && strstr(failure, "failure ") && r->open) {
        say("%s:%zu: nccl-tests failed here; what it printed before is imported: %s", r->imp->path,
            r->in->number, s);
        return end_test(r, "nccl-tests failed in it");
    }
    if (!comment && nccl_table_claims(line))
        return take_line(r, line);
    import_log_line(&r->log, line);
    return GS_OK;
}

/* A row that a message of NCCL interrupts continues in the next line that is not a message. */
static int on_line(struct nccl *r, char *line)
{
    char *s = line, *message = import_message_in(s);
    if (message) {
        on_message(r, message);
        *message = '\0';
        if (r->carry.len + (size_t)(message - s) < IMPORT_LINE_MAX && s[strspn(s, " ")])
            text_add(&r->carry, s);
        return GS_OK;
    }
    if (!r->carry.len)
        return on_text(r, s);
    bool number = s[0] == ' ' && strspn(s, " 0123456789.eE+-naifN/A:") == strlen(s);
    AUTO_FREE char *joined = number ? xstrfmt("%s%s", r->carry.s, s) : xstrdup(r->carry.s);
    text_clear(&r->carry);
    int code = on_text(r, joined);
    return code || number ? code : on_text(r, s);
}

/* A line that only nccl-tests prints, or the head of its table. */
static const char *table_anchor(const char *line)
{
    static const char *const telling[] = {"nThread ", "nccl-tests version ",
                                          "Collective test starting:"};
    struct nccl_table table;
    for (size_t i = 0; i < COUNT(telling); i++) {
        const char *at = strcasestr(line, telling[i]);
        if (at && (i || strcasestr(at, " nGpus ")))
            return import_anchor(line, at);
    }
    const char *size = strcasestr(line, "size");
    return size && nccl_table_header(&table, size) ? import_anchor(line, size) : NULL;
}

static int read_nccl(struct import *imp, struct import_lines *in)
{
    struct nccl r = {.imp = imp, .in = in};
    char *line;
    int code = GS_OK;
    while (!code && import_lines_next(in, &line))
        code = in->cut ? GS_OK : on_line(&r, line);
    if (!code && r.carry.len)
        code = on_text(&r, r.carry.s);
    if (!code)
        code = end_test(&r, "the file ends before its table does");
    text_free(&r.carry);
    import_log_free(&r.log);
    return code;
}

const struct import_format import_nccl = {"nccl-tests", table_anchor, true, read_nccl};

/* ==== the JSON report ==== */

struct report {
    struct import *imp;
    struct import_lines *in;
    struct imp_test *test;
    const json_t *config;
    int64_t iters;
};

static int read_devices(struct report *r)
{
    const json_t *devices = json_object_get(r->config, "devices");
    struct imp_test *t = r->test;
    AUTO_WORDS struct words hosts = {0};
    size_t i;
    json_t *d;
    t->hosts = json_array();
    json_array_foreach(devices, i, d)
    {
        if (json_integer_of(d, "group") != json_integer_of(json_array_get(devices, 0), "group"))
            continue; /* another communicator */
        words_add_once(&hosts, json_text_of(d, "hostname"));
        json_array_append_new(t->hosts, json_pack("{sI ss ss ss}", "rank",
                                                  (json_int_t)json_integer_of(d, "rank"), "host",
                                                  json_text_of(d, "hostname"), "device",
                                                  json_text_of(d, "device_info"), "bus",
                                                  json_text_of(d, "device_hex")));
    }
    t->nodes = (int64_t)hosts.n;
    t->ranks = (int64_t)json_array_size(t->hosts);
    /* Up to 2.19 the report names the first device of each process only: the next one has a rank that is
     * higher by the number of those in a process. */
    int64_t a_process =
        json_integer_of(r->config, "nthreads") * json_integer_of(r->config, "ngpus");
    int64_t step = t->ranks < 2 ? a_process
                                : json_integer_of(json_array_get(t->hosts, 1), "rank") -
                                      json_integer_of(json_array_get(t->hosts, 0), "rank");
    if (a_process > 1 && a_process <= 64 && step == a_process) {
        t->ranks *= a_process;
        t->hidden = a_process - 1;
    }
    if (t->ranks > 1 || !t->ranks)
        return GS_OK;
    return import_refuse(r->in, "one rank per communicator: its times are of a copy, not a "
                                "collective; build nccl-tests with MPI=1");
}

static int read_config(struct report *r, const json_t *root)
{
    const char *program = json_string_value(json_array_get(json_object_get(root, "args"), 0));
    const struct nccl_program *c = nccl_program_of(r->in, program ? program : "");
    if (!c)
        return GS_FAILED;
    struct imp_test *t = r->test = import_add_test(r->imp, r->in, c->workload);
    t->line = 1;
    t->factor = c->factor;
    t->collective = c->collective;
    t->graph = json_integer_of(r->config, "graph") > 0;
    t->unverified = json_integer_of(r->config, "validation") == 0;
    snprintf(t->tool, sizeof t->tool, "nccl-tests json %lld",
             (long long)json_integer_of(root, "version"));
    if (json_integer_of(root, "nccl_version") > 0)
        nccl_version(t->nccl, sizeof t->nccl, json_integer_of(root, "nccl_version"));
    snprintf(t->started, sizeof t->started, "%s", json_text_of(root, "start_time"));
    t->settings = json_object();
    size_t i;
    json_t *e;
    json_array_foreach(json_object_get(root, "env"), i, e)
    {
        const char *s = json_is_string(e) ? json_string_value(e) : "", *value = strchr(s, '=');
        if (value && !strncmp(s, "NCCL_", 5))
            import_setting(t->settings, s, (size_t)(value - s), value + 1, strlen(value + 1));
    }
    r->iters = nccl_iters(json_integer_of(r->config, "iterations"),
                          json_integer_of(r->config, "aggregated_iterations"));
    return read_devices(r);
}

/* nccl-tests prints six digits behind the point. */
static struct number number_of(const json_t *v)
{
    if (!json_is_number(v))
        return (struct number){.value = NAN};
    double x = json_number_value(v);
    return (struct number){.finite = true, .negative = x < 0, .value = x, .last = -6};
}

static int take_json_row(struct report *r, const json_t *o)
{
    static const char *const sides[][2] = {{"out_of_place", "out_of_place_per_iter"},
                                           {"in_place", "in_place_per_iter"}};
    struct nccl_row row = {.size_B = json_integer_of(o, "size"),
                           .count = json_integer_of(o, "count")};
    const char *type = json_text_of(o, "type"), *op = json_text_of(o, "redop");
    if (!json_is_integer(json_object_get(o, "size")) || row.size_B < 0 || row.count < 0)
        return import_refuse(r->in, "a row without its size");
    if (!text_plain(type, strlen(type)) || !text_plain(op, strlen(op)))
        return import_refuse(r->in, "a row whose type and operation are not names");
    snprintf(row.type, sizeof row.type, "%s", type);
    snprintf(row.op, sizeof row.op, "%s", op);
    row.root = atoi(json_text_of(o, "root"));
    row.root = row.root < 0 ? -1 : row.root;
    for (int i = 0; i < 2; i++) {
        const json_t *side = json_object_get(o, sides[i][0]);
        const json_t *wrong = json_object_get(side, "nwrong");
        const json_t *each = json_object_get(json_object_get(o, sides[i][1]), "times_us");
        if (json_object_get(side, "cpu_time"))
            return nccl_refuse_cpu_time(r->in);
        row.side[i] = (struct nccl_side){.there = json_is_object(side),
                                         .time_us = number_of(json_object_get(side, "time")),
                                         .algbw = number_of(json_object_get(side, "alg_bw")),
                                         .busbw = number_of(json_object_get(side, "bus_bw")),
                                         .time = {"not a number", 12},
                                         .checked = json_is_number(wrong),
                                         .wrong = number_of(wrong),
                                         .each_us = json_array_size(each) ? each : NULL};
    }
    return nccl_take_row(r->imp, r->in, r->test, r->test->ranks, r->iters, &row);
}

static int read_report(struct import *imp, struct import_lines *in)
{
    struct report r = {.imp = imp, .in = in};
    json_error_t why;
    size_t i;
    json_t *row;
    AUTO_JSON json_t *root = json_loadb(in->text.s, in->text.len, JSON_REJECT_DUPLICATES, &why);
    if (!root) {
        in->number = (size_t)why.line;
        return json_error_code(&why) == json_error_premature_end_of_input
                   ? import_refuse(in, "the report breaks off; import what the program printed")
                   : import_refuse(in, "not JSON: %s", why.text);
    }
    text_free(&in->text); /* the tree has it all, in several times the memory */
    const json_t *results = json_object_get(root, "results");
    r.config = json_object_get(root, "config");
    if (!json_is_object(r.config) || !json_is_array(results))
        return import_refuse(in, "JSON, but not of nccl-tests: it needs 'config' and 'results'");
    CHECK(read_config(&r, root));
    json_array_foreach(results, i, row) CHECK(take_json_row(&r, row));
    if (!json_object_get(root, "end_time"))
        snprintf(r.test->missing, sizeof r.test->missing, "the report has no end");
    return GS_OK;
}

static const char *report_anchor(const char *line)
{
    const char *s = line + strspn(line, " \t");
    return *s == '{' ? s : NULL;
}

const struct import_format import_nccl_json = {"nccl-json", report_anchor, false, read_report};
