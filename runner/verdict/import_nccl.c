/* SPDX-License-Identifier: Apache-2.0
 *
 * nccl-tests' text output, of its versions 2.0 to 2.19. A file holds tests one after the other:
 *   # nccl-tests version …, # Collective test starting: …      since 2.17
 *   # nThread 1 nGpus 8 minBytes 8 …
 *   #  Rank  0 Group  0 Pid … on HOST device 0 [0000:0f:00] NAME     Group since 2.16
 *   #  size count type redop root time algbw busbw #wrong …          redop, root and #wrong vary
 *   rows
 *   # Out of bounds values : 0 OK
 *   # Avg bus bandwidth    : 11.2
 * with other lines between them and, from NCCL itself, in the middle of a row.
 */
#include "../err.h"
#include "../jsontext.h"
#include "../text.h"
#include "import_collective.h"
#include "import_messages.h"
#include "import_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct nccl {
    struct import *imp;
    struct lines *in;
    char version[32], nccl[32], program[128]; /* said before the test that they are of */
    bool open;                                /* the last test has begun and not ended */
    struct table table;
    bool tabled;
    int64_t iters, max_B, step_B, step_factor; /* of the open test */
    int64_t ranks;                             /* a communicator, by its list of devices */
    int64_t size_B;                            /* of the last row; -1: none */
    char type[IMP_WORD], op[IMP_WORD];         /* of it */
    int64_t root;
    size_t short_row; /* the line of a row that lacks fields */
    bool bus;         /* some row has a bus bandwidth */
    bool moved;       /* some row has an algorithm bandwidth that must show in it */
    struct text carry;
};

static struct imp_test *test_of(const struct nccl *r)
{
    return &r->imp->tests[r->imp->n_tests - 1];
}

/* ---- the end of a test ---- */

#define MIXED "the output of several processes is mixed in it"

/* Nothing in the file is believed when a test of it cannot be what it says. */
static int check_ranks(struct nccl *r, struct imp_test *t)
{
    t->ranks = r->ranks;
    if (t->ranks == 1 || (!t->ranks && r->moved && !r->bus))
        return import_refuse(r->in,
                             "the test that begins in line %zu has one rank a communicator: its "
                             "times are of a copy, not of a collective",
                             t->line);
    return GS_OK;
}

static int end_test(struct nccl *r, const char *missing)
{
    if (!r->open)
        return GS_OK;
    struct imp_test *t = test_of(r);
    r->open = false;
    if (missing)
        snprintf(t->missing, sizeof t->missing, "%s", missing);
    if (!t->n_cells) {
        json_decref(t->hosts);
        r->imp->n_tests--;
        return GS_OK;
    }
    if (!t->nccl[0])
        snprintf(t->nccl, sizeof t->nccl, "%s", r->nccl);
    return check_ranks(r, t);
}

/* ---- lines with a '#' ---- */

static int64_t integer_after(const char *s, const char *word)
{
    const char *at = strstr(s, word);
    long long v = 0;
    return at && sscanf(at + strlen(word), " %18lld", &v) == 1 ? v : 0;
}

static int on_version(struct nccl *r, const char *s)
{
    int64_t code = integer_after(s, "nccl-library=");
    snprintf(r->version, sizeof r->version, "%.*s", (int)strcspn(s, " "), s);
    if (code > 0)
        collective_version(r->nccl, sizeof r->nccl, code);
    return GS_OK;
}

static int on_program(struct nccl *r, const char *s)
{
    snprintf(r->program, sizeof r->program, "%s", s);
    return GS_OK;
}

static int on_start(struct nccl *r, const char *s)
{
    int code = end_test(r, "its table has no end");
    if (code)
        return code;
    const struct collective *c = *r->program ? collective_of(r->program) : NULL;
    if (*r->program && !c)
        return import_refuse(r->in, "no collective is known by '%.60s'", r->program);
    /* Before 2.17 the program is not named: the columns have to fit an all-reduce. */
    struct imp_test *t = import_add_test(r->imp, c ? c->workload : "nccl_allreduce", r->in->number);
    t->factor = c ? c->factor : IMP_ALLREDUCE;
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
    bool sane = iters > 0 && iters < 1000000 && each > 0 && each < 1000;
    r->iters = sane ? iters * each : 1;
    r->max_B = integer_after(s, "maxBytes");
    r->step_B = strstr(s, "(bytes)") ? integer_after(s, "step:") : 0;
    r->step_factor = strstr(s, "(factor)") ? integer_after(s, "step:") : 0;
    r->open = true;
    r->tabled = r->bus = r->moved = false;
    r->ranks = 0;
    r->size_B = -1;
    r->short_row = 0;
    *r->program = '\0';
    return GS_OK;
}

static bool host_known(const json_t *hosts, const char *host)
{
    for (size_t i = 0; i < json_array_size(hosts); i++)
        if (!strcmp(json_string_value(json_object_get(json_array_get(hosts, i), "host")), host))
            return true;
    return false;
}

static int on_device(struct nccl *r, const char *s)
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
    struct imp_test *t = test_of(r);
    size_t i;
    json_t *known;
    json_array_foreach(t->hosts, i, known)
    {
        if (json_integer_value(json_object_get(known, "rank")) == rank &&
            json_integer_value(json_object_get(known, "group")) == group)
            return import_refuse(r->in,
                                 "rank %lld a second time in one list of devices: each process "
                                 "has a communicator of its own, of one rank (nccl-tests without "
                                 "MPI?), and " MIXED,
                                 rank);
    }
    if (!t->hosts)
        t->hosts = json_array();
    if (json_array_size(t->hosts) >= 4096)
        return import_refuse(r->in, "more than 4096 ranks in one list of devices");
    /* A communicator has the ranks of one group (NCCL_TESTS_SPLIT makes several). */
    const json_t *first = json_object_get(json_array_get(t->hosts, 0), "group");
    r->ranks += !first || json_integer_value(first) == group;
    t->nodes += !host_known(t->hosts, host);
    const char *name = s + at + strspn(s + at, " ");
    json_t *o = json_pack("{sI sI sI}", "rank", (json_int_t)rank, "group", (json_int_t)group, "pid",
                          (json_int_t)pid);
    json_object_set_new(o, "host", json_text(host));
    json_object_set_new(o, "device", json_text(name));
    json_object_set_new(o, "bus", json_text(bus));
    json_array_append_new(t->hosts, o);
    return GS_OK;
}

static int on_header(struct nccl *r, const char *s)
{
    struct table table;
    (void)s;
    const char *at = strstr(s, "size");
    if (!at || !table_header(&table, at))
        return GS_OK;
    if (!r->open)
        return import_refuse(r->in, "a table before any test has begun: the start of the file is "
                                    "missing");
    if (r->tabled)
        return import_refuse(r->in, "a second table in one test: " MIXED);
    if (table.cpu_time)
        return import_refuse(r->in, "its times are the host's to issue an operation (-C), not the "
                                    "operation's");
    r->table = table;
    r->tabled = true;
    return GS_OK;
}

static int on_bounds(struct nccl *r, const char *s)
{
    if (!r->open)
        return r->imp->n_tests ? import_refuse(r->in, "a second end of one test: " MIXED) : GS_OK;
    struct imp_test *t = test_of(r);
    const char *colon = strchr(s, ':');
    int64_t wrong = colon ? integer_after(colon, ":") : 0;
    /* Where a row has its largest error only, which of them were out of bounds is not said. */
    for (size_t i = 0; wrong && r->table.errors && i < t->n_cells; i++)
        import_fault(&t->cells[i], "wrong", "%lld values out of bounds in its table",
                     (long long)wrong);
    return GS_OK;
}

static int on_end(struct nccl *r, const char *s)
{
    (void)s;
    if (r->open && r->short_row) {
        r->in->number = r->short_row;
        return import_refuse(r->in, "a row without all its columns, in a table that goes on: " MIXED
                                    ", or it was edited");
    }
    return end_test(r, NULL);
}

static int on_reduced(struct nccl *r, const char *s)
{
    r->max_B = integer_after(s, "to");
    return GS_OK;
}

static const struct {
    const char *start;
    int (*on)(struct nccl *r, const char *rest);
} comments[] = {
    {"nccl-tests version ", on_version},
    {"Collective test starting: ", on_program},
    {"nThread ", on_start},
    {"Rank ", on_device},
    {"size ", on_header},
    {"Out of bounds values", on_bounds},
    {"Avg bus bandwidth", on_end},
    {"Reducing maxBytes", on_reduced},
};

static int on_comment(struct nccl *r, const char *line)
{
    const char *s = line + 1;
    s += strspn(s, " \t");
    for (size_t i = 0; i < sizeof comments / sizeof *comments; i++) {
        size_t n = strlen(comments[i].start);
        if (!strncmp(s, comments[i].start, n))
            return comments[i].on(r, comments[i].on == on_header ? s : s + n);
    }
    return GS_OK;
}

/* ---- rows ---- */

/* Sizes grow; after the last of them they may start again, and with another type or operation. */
static bool in_order(const struct nccl *r, const struct row *row)
{
    char type[IMP_WORD], op[IMP_WORD];
    if (r->size_B < 0 || row->size_B > r->size_B ||
        strcmp(word_copy(type, sizeof type, &row->type), r->type) ||
        strcmp(word_copy(op, sizeof op, &row->op), r->op) || row->root != r->root)
        return true;
    int64_t next = r->step_factor > 1 ? r->size_B * r->step_factor : r->size_B + r->step_B;
    return row->size_B < r->size_B ? next + 16 * (r->step_factor + 1) > r->max_B
                                   : test_of(r)->n_cells <= 2; /* -b = -e, cycle after cycle */
}

/* Of one side; GS_OK or refused. */
static int take_side(struct nccl *r, const struct row *row, int in_place, struct imp_cell *like)
{
    struct claim c = {.size_B = row->size_B};
    const struct word *time = &row->side[in_place].time, *algbw = &row->side[in_place].algbw,
                      *busbw = &row->side[in_place].busbw, *wrong = &row->side[in_place].wrong;
    struct imp_test *t = test_of(r);
    struct number errors;
    uint64_t ns;
    if (word_is(time, "N/A")) /* there is no such variant of the operation */
        return GS_OK;
    if (!number_read(&c.time_us, time->s, time->s + time->n) ||
        !number_read(&c.algbw, algbw->s, algbw->s + algbw->n) ||
        !number_read(&c.busbw, busbw->s, busbw->s + busbw->n))
        return import_refuse(r->in, "'%.*s' where a number should be", (int)time->n, time->s);
    if (c.time_us.negative)
        return import_refuse(r->in, "a negative time, %.*s us", (int)time->n, time->s);
    int code = collective_check(r->in, &c, t->factor, r->ranks);
    if (code)
        return code;
    r->bus = r->bus || c.busbw.value > 0;
    r->moved = r->moved || c.algbw.value >= 1;
    like->in_place = in_place;
    struct imp_cell *cell = import_cell(r->imp, r->in, t, like);
    if (!cell)
        return GS_FAILED;
    if (word_is(wrong, "N/A"))
        t->unverified = true;
    else if (!number_read(&errors, wrong->s, wrong->s + wrong->n))
        return import_refuse(r->in, "'%.*s' wrong values is no number", (int)wrong->n, wrong->s);
    else if (!r->table.errors && (!errors.finite || errors.digits))
        import_fault(cell, "wrong", "line %zu: %.*s wrong values", r->in->number, (int)wrong->n,
                     wrong->s);
    if (!number_scaled(&c.time_us, 3, &ns)) {
        import_fault(cell, "failed", "line %zu: its time is %.*s", r->in->number, (int)time->n,
                     time->s);
        return GS_OK;
    }
    return import_sample(r->imp, r->in, cell, ns);
}

static int take_row(struct nccl *r, const struct row *row)
{
    struct imp_cell like = {.size_B = row->size_B, .root = row->root, .iters = (uint64_t)r->iters};
    char type[IMP_WORD];
    int64_t bytes;
    if (!in_order(r, row))
        return import_refuse(r->in, "%lld bytes after %lld: " MIXED, (long long)row->size_B,
                             (long long)r->size_B);
    snprintf(like.dtype, sizeof like.dtype, "%s",
             collective_dtype(word_copy(type, sizeof type, &row->type), &bytes));
    word_copy(like.op, sizeof like.op, &row->op);
    if (test_of(r)->factor == IMP_ALLREDUCE && bytes &&
        (row->count > INT64_MAX / 8 || row->count * bytes != row->size_B))
        return import_refuse(r->in, "%lld elements of %s are not %lld bytes", (long long)row->count,
                             type, (long long)row->size_B);
    r->size_B = row->size_B;
    r->root = row->root;
    strcpy(r->type, type);
    strcpy(r->op, like.op);
    int code = row->side[0].there ? take_side(r, row, 0, &like) : GS_OK;
    if (!code && row->side[1].there)
        code = take_side(r, row, 1, &like);
    return code;
}

static int on_row(struct nccl *r, const char *line)
{
    struct row row;
    if (!r->open || !r->tabled)
        return import_refuse(r->in, r->imp->n_tests
                                        ? "a row after the end of its test: " MIXED
                                        : "a row before any table: the start of the file is "
                                          "missing");
    enum row_kind kind = table_row(&r->table, line, &row);
    if (kind == ROW_WHOLE && r->in->torn) /* 15.5 may have been 15.53 */
        kind = ROW_SHORT;
    if (kind == ROW_SHORT && !r->short_row) {
        r->short_row = r->in->number;
        return GS_OK;
    }
    if (r->short_row)
        return on_end(r, line);
    if (kind == ROW_ODD)
        return import_refuse(r->in, "a row with other columns than its table: " MIXED
                                    ", or it was edited");
    return take_row(r, &row);
}

/* ---- lines ---- */

static void copy_setting(char *to, const char *message, const char *name)
{
    const char *at = strstr(message, name);
    at = at ? strstr(at, "set by environment to ") : NULL;
    if (at) {
        at += strlen("set by environment to ");
        snprintf(to, IMP_WORD, "%.*s", (int)strcspn(at, " ."), at);
    }
}

static void on_message(struct nccl *r, const char *message)
{
    const char *version = strstr(message, "NCCL version ");
    if (version)
        snprintf(r->nccl, sizeof r->nccl, "%.*s", (int)strcspn(version + 13, "+ "), version + 13);
    if (r->open) {
        copy_setting(test_of(r)->algorithm, message, "NCCL_ALGO ");
        copy_setting(test_of(r)->protocol, message, "NCCL_PROTO ");
    }
}

static int on_text(struct nccl *r, char *line)
{
    const char *s = line + strspn(line, " \t");
    if (*s == '#')
        return on_comment(r, s);
    if (!strncmp(s, "NCCL version ", 13))
        on_message(r, s);
    return table_claims(line) ? on_row(r, line) : GS_OK;
}

/* What stands before a message of NCCL goes on in the next line that is none. */
static int on_line(struct nccl *r, char *line)
{
    char *s = import_past_tag(line), *message = import_message_in(s);
    if (message) {
        on_message(r, message);
        *message = '\0';
        if (r->carry.len + (size_t)(message - s) < LINES_MAX && s[strspn(s, " ")])
            text_add(&r->carry, s);
        return GS_OK;
    }
    if (!r->carry.len)
        return on_text(r, s);
    bool number = s[0] == ' ' && strspn(s, " 0123456789.eE+-naifN/A:") == strlen(s);
    char *joined = number ? xstrfmt("%s%s", r->carry.s, s) : xstrdup(r->carry.s);
    text_clear(&r->carry);
    int code = on_text(r, joined);
    free(joined);
    return code || number ? code : on_text(r, s);
}

static bool claims(const char *line)
{
    static const char *const telling[] = {"# nThread ", "# nccl-tests version ",
                                          "# Collective test starting:", "out-of-place"};
    for (size_t i = 0; i < sizeof telling / sizeof *telling; i++)
        if (strstr(line, telling[i]))
            return strchr(line, '#');
    return false;
}

static int read_nccl(struct import *imp, struct lines *in)
{
    struct nccl r = {.imp = imp, .in = in};
    char *line;
    size_t n;
    int got, code = GS_OK;
    while (!code && (got = lines_next(in, &line, &n)) != 0)
        code = got < 0 ? GS_FAILED : in->cut ? GS_OK : on_line(&r, line);
    if (!code && r.carry.len)
        code = on_text(&r, r.carry.s);
    if (!code)
        code = end_test(&r, "the file ends before its table does");
    text_free(&r.carry);
    return code;
}

const struct import_format import_nccl = {"nccl-tests", claims, read_nccl};
