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
 */
#include "import/import_nccl.h"

#include "base/err.h"
#include "import/import_collective.h"
#include "import/import_messages.h"

#include <stdio.h>
#include <string.h>

/* ---- the end of a test ---- */

static int check_ranks(struct nccl *r, struct imp_test *t)
{
    t->ranks = r->ranks;
    if (t->ranks == 1 || (!t->ranks && r->moved && !r->bus))
        return import_refuse(r->in,
                             "the test that begins in line %zu has one rank per communicator: its "
                             "times are of a copy, not a collective; build nccl-tests with MPI=1",
                             t->line);
    return GS_OK;
}

static int end_test(struct nccl *r, const char *missing)
{
    if (!r->open)
        return GS_OK;
    struct imp_test *t = nccl_test(r);
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
    const struct collective *c = *r->program ? collective_of(r->in, r->program) : NULL;
    if (*r->program && !c)
        return GS_FAILED;
    /* Before 2.17 the program is not named; the columns must fit an all-reduce. */
    struct imp_test *t = import_add_test(r->imp, r->in, c ? c->workload : "nccl_allreduce");
    if (!t)
        return GS_FAILED;
    t->factor = c ? c->factor : IMP_ALLREDUCE;
    t->collective = c ? c->collective : "";
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
    r->iters = collective_iters(iters, each);
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

static int on_header(struct nccl *r, const char *s)
{
    struct table table;
    const char *at = strstr(s, "size");
    if (!at || !table_header(&table, at))
        return GS_OK;
    if (!r->open)
        return import_refuse(r->in, "a table before any test: the start of the file is missing");
    if (r->tabled)
        return import_refuse(r->in, "a second table in one test: " MIXED);
    if (table.cpu_time)
        return collective_refuse_cpu_time(r->in);
    r->table = table;
    r->tabled = true;
    return GS_OK;
}

static int on_bounds(struct nccl *r, const char *s)
{
    if (!r->open)
        return r->imp->n_tests ? import_refuse(r->in, "a second end of one test: " MIXED) : GS_OK;
    struct imp_test *t = nccl_test(r);
    const char *colon = strchr(s, ':');
    int64_t wrong = colon ? integer_after(colon, ":") : 0;
    /* Such a table does not say which rows were out of bounds. */
    for (size_t i = 0; wrong && r->table.errors && i < t->n_cells; i++)
        import_fault(&t->cells[i], "wrong", "%lld values out of bounds in its table",
                     (long long)wrong);
    return GS_OK;
}

int nccl_end(struct nccl *r, const char *s)
{
    (void)s;
    if (r->open && r->short_row) {
        r->in->number = r->short_row;
        return import_refuse(r->in, "a row without all its columns in a table that goes on: " MIXED
                                    ", or the file was edited");
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
    {"Rank ", nccl_device},
    {"size ", on_header},
    {"Out of bounds values", on_bounds},
    {"Avg bus bandwidth", nccl_end},
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
        copy_setting(nccl_test(r)->algorithm, message, "NCCL_ALGO ");
        copy_setting(nccl_test(r)->protocol, message, "NCCL_PROTO ");
    }
}

static int on_text(struct nccl *r, char *line)
{
    const char *s = line + strspn(line, " \t");
    if (*s == '#')
        return on_comment(r, s);
    if (!strncmp(s, "NCCL version ", 13))
        on_message(r, s);
    /* "HOST: Test NCCL failure FILE:LINE …", then a line of each caller: the process ended there. */
    const char *failure = strstr(s, "Test ");
    if (failure && strstr(failure, "failure ") && r->open) {
        say("%s:%zu: nccl-tests failed here; what it printed before is imported: %s", r->imp->path,
            r->in->number, s);
        return end_test(r, "nccl-tests failed in it");
    }
    return table_claims(line) ? nccl_row(r, line) : GS_OK;
}

/* A row that a message of NCCL interrupts continues in the next line that is not a message. */
static int on_line(struct nccl *r, char *line)
{
    char *s = import_past_tag(line), *message = import_message_in(s);
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

static bool claims(const char *line)
{
    static const char *const telling[] = {"# nThread ", "# nccl-tests version ",
                                          "# Collective test starting:", "out-of-place"};
    for (size_t i = 0; i < sizeof telling / sizeof *telling; i++)
        if (strstr(line, telling[i]))
            return strchr(line, '#');
    return false;
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
    return code;
}

const struct import_format import_nccl = {"nccl-tests", claims, read_nccl};
