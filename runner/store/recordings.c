/* SPDX-License-Identifier: Apache-2.0
 *
 * Recordings into the store, and its tables into CSV files. A run is verified and read into temporary tables, which only this
 * process sees, then moved in one transaction: so other processes wait for a copy and not for a
 * read, and a run is in the store whole or not at all.
 */
#include "base/err.h"
#include "base/files.h"
#include "base/jsontext.h"
#include "base/text.h"
#include "compare/collect.h"
#include "compare/verdicts.h"
#include "config/config.h"
#include "config/locate.h"
#include "record/record.h"
#include "record/recorded.h"
#include "record/runs.h"
#include "reduce/summary.h"
#include "reduce/wan_table.h"
#include "store/contrasts.h"
#include "store/limits.h"
#include "store/store.h"
#include "store/transitions.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RUN, HOST, CELL, PARAM, GRP, BLOCK, NOTE, HEALTH, FAIL, RAW_TABLES };

struct ingest {
    const struct recorded *r;
    struct gathered *groups;
    struct csv out[RAW_TABLES + DERIVED];
    struct store_rows *rows[RAW_TABLES + DERIVED];
};

/* ---- lines ---- */

static void put_launch(struct csv *out, const struct ledger_file *f)
{
    CSV_INTEGERS(out, f->launch, f->attempt);
}

static void put_member(struct csv *out, const json_t *o, const char *key)
{
    const json_t *v = json_object_get(o, key);
    if (json_is_integer(v))
        csv_integer(out, json_integer_value(v));
    else if (json_is_real(v))
        csv_real(out, json_real_value(v));
    else if (json_is_array(v)) {
        AUTO_TEXT struct text t = {0};
        text_add(&t, "");
        for (size_t i = 0; i < json_array_size(v); i++)
            text_addf(&t, "%s%s", i ? " " : "", json_string_value(json_array_get(v, i)));
        csv_text(out, t.s);
    } else
        csv_text(out, json_is_string(v) ? json_string_value(v) : "");
}

static void put_members(struct csv *out, const json_t *o, const char *const *keys)
{
    for (size_t i = 0; keys[i]; i++)
        put_member(out, o, keys[i]);
}

static void take_run(struct ingest *in, const json_t *header)
{
    const struct recorded *r = in->r;
    struct csv *out = &in->out[RUN];
    AUTO_FREE char *seed = xstrfmt("%llu", (unsigned long long)r->seed);
    CSV_TEXTS(out, r->run_id, r->dir, r->platform, r->workload, r->label);
    CSV_INTEGERS(out, r->ranks, r->nodes, r->launches);
    CSV_TEXTS(out, seed, json_text_of(header, "gradsync"), json_text_of(header, "commit"),
              r->plugin, json_text_of(header, "started"));
    CSV_INTEGERS(out, run_is_final(r->dir), r->imported);
    const json_t *job = json_object_get(header, "trial");
    job = job ? job : json_object_get(header, "train");
    CSV_TEXTS(out, json_text_of(header, "config"), json_text_of(job, "line"));
    csv_end(out);
}

/* A line whose members are the columns of a table. */
static void take_members(struct csv *out, int table, const struct ledger_file *f,
                         const struct raw_line *l)
{
    static const char *const keys[RAW_TABLES][8] = {
        [NOTE] = {"cell", "copy", "key", "value"},
        [FAIL] = {"cell", "copy", "kind", "why", "rank", "host", "phase"},
        [GRP] = {"group", "blocks"},
    };
    put_launch(out, f);
    for (const char *const *key = keys[table]; *key; key++) {
        double number = raw_number(l, NULL, *key);
        if (isnan(number))
            csv_text(out, raw_text(l, *key));
        else
            csv_real(out, number);
    }
    csv_end(out);
}

static void take_health(struct csv *out, const struct ledger_file *f, const struct raw_line *l)
{
    static const char *const moments[] = {"before", "after"};
    static const char *const of_rank[] = {"load1", "busy_cores", "own_cores", NULL},
                             *const of_gpu[] = {"sm_Hz", "power_W", "temperature_C", "throttle",
                                                NULL};
    const char *rank;
    json_t *now;
    for (size_t i = 0; i < COUNT(moments); i++)
        json_object_foreach(json_object_get(l->json, moments[i]), rank, now)
        {
            put_launch(out, f);
            put_member(out, l->json, "group");
            put_member(out, l->json, "block");
            csv_text(out, moments[i]);
            csv_integer(out, strtol(rank, NULL, 10));
            put_members(out, now, of_rank);
            put_members(out, json_object_get(now, "gpu"), of_gpu);
            csv_end(out);
        }
}

/* While the recording is read (record/ledger.h). */
static int take_line(void *ctx, const struct ledger *ledger, size_t file, size_t cell,
                     struct raw *raw, const struct raw_line *l)
{
    struct csv *out = ((struct ingest *)ctx)->out;
    const struct ledger_file *f = &ledger->files[file];
    (void)cell;
    (void)raw;
    if (l->type == RAW_NOTE)
        take_members(&out[NOTE], NOTE, f, l);
    else if (l->type == RAW_HEALTH)
        take_health(&out[HEALTH], f, l);
    else if (l->type == RAW_FAIL)
        take_members(&out[FAIL], FAIL, f, l);
    else if (l->type == RAW_GROUP)
        take_members(&out[GRP], GRP, f, l);
    return GS_OK;
}

/* ---- the rows of a recording ---- */

/* The run, of its first header, and the hosts of each. */
static void take_headers(struct ingest *in)
{
    static const char *const of_host[] = {"rank",   "host",     "cpu", "cores",
                                          "kernel", "memory_B", NULL},
                             *const of_gpu[] = {"name", "uuid", "driver", "cuda_driver", NULL};
    struct csv *out = &in->out[HOST];
    bool first = true;
    for (size_t file = 0; file < in->r->n_files; file++) {
        const json_t *header = in->r->files[file].header;
        size_t i;
        json_t *host;
        if (header && first)
            take_run(in, header);
        first = first && !header;
        json_array_foreach(json_object_get(header, "hosts"), i, host)
        {
            put_launch(out, &in->r->ledger->files[file]);
            put_members(out, host, of_host);
            put_members(out, json_object_get(host, "gpu"), of_gpu);
            csv_end(out);
        }
    }
}

/* Are the blocks of this span those of its group that are in the derived tables? */
static bool counts(const struct ingest *in, const struct rec_span *s)
{
    bool closed;
    int launch = in->r->ledger->files[s->file].launch;
    const struct gathered *g = &in->groups[s->group];
    for (size_t i = 0; i < g->out.n && !g->too_many; i++)
        if (g->out.v[i].launch == launch)
            return false;
    return recorded_span(in->r, s->group, launch, &closed) == s;
}

/* {"NAME":VALUE,…}; a name is printable. */
static void put_metrics(struct csv *out, const struct rec_cell *c, const struct rec_block *b)
{
    AUTO_TEXT struct text t = {0};
    text_add(&t, "{");
    for (size_t i = 0; i < c->n_metrics; i++) {
        text_add(&t, i ? ",\"" : "\"");
        for (const char *s = c->metrics[i]; *s; s++) {
            text_add(&t, *s == '"' || *s == '\\' ? "\\" : "");
            text_addn(&t, s, 1);
        }
        text_add(&t, "\":");
        if (isfinite(b->metrics[i]))
            text_addf(&t, "%.17g", b->metrics[i]);
        else
            text_add(&t, "null");
    }
    text_add(&t, "}");
    csv_text(out, t.s);
}

static void take_blocks(struct ingest *in)
{
    const struct recorded *r = in->r;
    struct csv *out = &in->out[BLOCK];
    bool counted = false;
    for (size_t i = 0; i < r->n_blocks; i++) {
        const struct rec_block *b = &r->blocks[i];
        const struct rec_cell *c = &r->cells[b->cell];
        const struct rec_span *span = &r->spans[b->span];
        if (i == span->first)
            counted = counts(in, span);
        csv_integer(out, (int64_t)i + 1);
        put_launch(out, &r->ledger->files[span->file]);
        CSV_TEXTS(out, r->groups[c->group].id, c->id);
        CSV_INTEGERS(out, b->copy, b->number);
        csv_real(out, b->at);
        csv_integer(out, (int64_t)b->iters);
        CSV_REALS(out, b->skew_ns, b->spread_ns);
        csv_integer(out, counted);
        put_metrics(out, c, b);
        AUTO_FREE char *times = xmalloc(RECORD_SAMPLES_BYTES(b->n) + 1);
        *record_put_samples(times, b->time_ns, b->n) = '\0';
        csv_text(out, times);
        csv_end(out);
    }
}

static void put_params(struct csv *out, const struct rec_cell *c)
{
    AUTO_WORDS struct words words = {0};
    words_split(&words, c->params, ' ');
    for (size_t i = 0; i < words.n; i++) {
        char *value = strchr(words.v[i], '=');
        if (!value)
            continue;
        *value++ = '\0';
        CSV_TEXTS(out, c->id, words.v[i], value);
        csv_end(out);
    }
}

static void take_cells(struct ingest *in)
{
    for (size_t i = 0; i < in->r->n_cells; i++) {
        const struct rec_cell *c = &in->r->cells[i];
        struct csv *out = &in->out[CELL];
        CSV_TEXTS(out, c->id, in->r->groups[c->group].id);
        csv_integer(out, (int64_t)c->group + 1);
        CSV_TEXTS(out, c->config, c->mode);
        csv_integer(out, c->size_B);
        csv_real(out, c->busbw_factor);
        CSV_TEXTS(out, c->params, c->ran);
        csv_end(out);
        put_params(&in->out[PARAM], c);
    }
}

/* ---- what is computed ---- */

static int derive_groups(struct ingest *in, struct summary *cells)
{
    const struct recorded *r = in->r;
    struct csv *out = in->out + RAW_TABLES;
    int code = GS_OK;
    for (size_t k = 0; k < r->n_groups && !code; k++) {
        const struct gathered *g = &in->groups[k];
        for (size_t i = 0; i < g->n; i++) {
            const struct series *s = &g->series[i];
            if (s->copy)
                continue;
            cells[s->cell] = summary_of(r, s);
            cells[s->cell].metrics = summary_metrics(r, s);
            summary_row(&out[SUMMARY], r, g, s, &cells[s->cell]);
            metrics_rows(&out[METRICS], r, s, &cells[s->cell]);
            launches_rows(&out[LAUNCHES], r, s);
        }
        iteration_rows(&out[ITERATION], r, g, cells);
        code = wan_rows(&out[WAN], r, g, cells);
    }
    return code;
}

/* best_of NULL: against the baseline. */
static void derive_contrasts(struct ingest *in, const char *best_of)
{
    AUTO(comparison_free) struct comparison c = {.without_aa = best_of != NULL};
    struct csv *out = in->out + RAW_TABLES;
    compare_recorded(&c, in->r, in->groups, best_of, NULL);
    comparison_solve(&c, 1);
    for (size_t i = 0; i < c.n; i++) {
        contrast_row(&out[best_of ? CHOSEN : COMPARE], &c.v[i]);
        csv_end(&out[best_of ? CHOSEN : COMPARE]);
    }
    if (!best_of)
        placebo_put(&out[PLACEBO], &c);
}

static int derive(struct ingest *in)
{
    AUTO_FREE struct summary *cells = xcalloc(in->r->n_cells + 1, sizeof *cells);
    int code = derive_groups(in, cells);
    derive_contrasts(in, NULL);
    derive_contrasts(in, "comm");
    for (size_t i = 0; i < in->r->n_cells; i++)
        free(cells[i].metrics);
    return code;
}

/* ---- a run ---- */

static const struct store_table *table_at(size_t i)
{
    return i < RAW_TABLES ? &store_tables[i] : &store_derived[i - RAW_TABLES];
}

/* Without `run`, which a run has not before it is moved. */
static const char *columns_at(size_t table)
{
    return table_at(table)->columns + (table < RAW_TABLES ? strlen("run,") : 0);
}

/* With its rows: see the trigger in store.c. */
static void add_forget(struct text *sql, const char *dir)
{
    char *one = sqlite3_mprintf("DELETE FROM main.stamp WHERE dir = %Q;", dir);
    text_add(sql, one);
    sqlite3_free(one);
}

/* In one transaction. */
static int execute_all(struct store *s, const char *sql)
{
    AUTO_FREE char *all = xstrfmt("BEGIN IMMEDIATE; %s COMMIT;", sql);
    int code = store_execute(s, all);
    if (code)
        sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
    return code;
}

static int move_run(struct store *s, const struct recorded *r, bool measured, const char *stamp)
{
    const char *group = r->n_groups ? r->groups[0].id : NULL;
    AUTO_TEXT struct text sql = {0};
    AUTO_FREE char *key =
        xstrfmt("%s\n%s\n%s\n%s\n", r->platform, r->workload, r->label, r->run_id);
    for (size_t i = 0; i < r->n_groups; i++)
        group = strcmp(r->groups[i].id, group) < 0 ? r->groups[i].id : group;
    AUTO_FREE char *section = runs_section(key, group);
    AUTO_FREE char *rank = runs_rank(run_is_final(r->dir), measured, r->run_id);
    add_forget(&sql, r->dir);
    char *insert = sqlite3_mprintf("INSERT INTO main.stamp (dir, sort, section, rank, stamp)"
                                   " VALUES (%Q, %Q, %Q, %Q, %Q);",
                                   r->dir, key, section, rank, stamp);
    text_add(&sql, insert);
    sqlite3_free(insert);
    for (size_t i = 0; i < RAW_TABLES + DERIVED; i++) {
        const struct store_table *t = table_at(i);
        const char *rest = columns_at(i);
        text_addf(&sql,
                  "INSERT INTO main.\"%s\" (run, %s) SELECT (SELECT max(run) FROM main.stamp), %s "
                  "FROM temp.\"%s\" ORDER BY rowid;",
                  t->name, rest, rest, t->name);
    }
    return execute_all(s, sql.s);
}

static int forget(struct store *s, const char *dir)
{
    AUTO_TEXT struct text sql = {0};
    add_forget(&sql, dir);
    return execute_all(s, sql.s);
}

/* In a worker process (read_ahead): where stderr goes. A run about which something was said is left to
 * the caller, which reads it again and says it. */
static int said = -1;

/* Into temporary tables, which have the names of the others and are used first. */
static int read_tables(struct store *s, struct ingest *in, const char *dir, struct recorded **r)
{
    for (size_t i = 0; i < RAW_TABLES + DERIVED; i++)
        CHECK(store_make(s, table_at(i)->name, columns_at(i)));
    CHECK(store_execute(s, "BEGIN")); /* else each row is a transaction */
    for (size_t i = 0; i < RAW_TABLES + DERIVED; i++)
        in->rows[i] =
            store_rows_begin(s, table_at(i)->name, columns_at(i), i >= RAW_TABLES, &in->out[i]);
    int code = recorded_read_with(r, dir, &(struct ledger_reader){take_line, in});
    if (!code && *r) {
        in->r = *r;
        in->groups = gather_run(*r);
        code = derive(in);
        take_headers(in);
        take_blocks(in);
        take_cells(in);
    }
    for (size_t i = 0; i < RAW_TABLES + DERIVED; i++) {
        int one = store_rows_end(in->rows[i]);
        code = code ? code : one;
    }
    int ended = store_execute(s, "COMMIT");
    return code ? code : ended;
}

/* Damaged: reported, and what the store had of it goes. */
static int read_run(struct store *s, const char *dir, const char *stamp)
{
    AUTO(recorded_free_of) struct recorded *r = NULL;
    struct ingest in = {0};
    int code = read_tables(s, &in, dir, &r);
    if (!code && r && !(said >= 0 && lseek(said, 0, SEEK_CUR) > 0))
        code = move_run(s, r, r->n_blocks > 0, stamp);
    gathered_free_run(r, in.groups);
    AUTO_TEXT struct text sql = {0};
    for (size_t i = 0; i < RAW_TABLES + DERIVED; i++)
        text_addf(&sql, "DROP TABLE IF EXISTS temp.\"%s\";", table_at(i)->name);
    int dropped = store_execute(s, sql.s);
    dropped = dropped || (!code && r) ? dropped : forget(s, dir);
    return code ? code : dropped;
}

/* ---- what has changed ---- */

static void add_file(struct text *t, const char *path, off_t *bytes)
{
    struct stat st;
    if (stat(path, &st))
        return;
    *bytes += st.st_size;
    text_addf(t, "%s %lld %lld.%09ld\n", path_name(path), (long long)st.st_size,
              (long long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
}

/* The files of a run, the config that has the limits of its platform, and this program, which
 * computes the tables. */
static char *stamp_of(const char *dir, off_t *bytes)
{
    struct text t = {0};
    AUTO_WORDS struct words names = {0};
    AUTO_FREE char *parent = xstrfmt("%.*s", (int)(path_name(dir) - dir), dir);
    files_list(dir, "*", &names);
    for (size_t i = 0; i < names.n; i++) {
        AUTO_FREE char *path = xstrfmt("%s/%s", dir, names.v[i]);
        add_file(&t, path, bytes);
    }
    AUTO_WORDS struct words parts = {0};
    words_split(&parts, parent, '/');
    if (parts.n > 3) { /* …/PLATFORM/WORKLOAD/ */
        AUTO_FREE char *config = xstrfmt("configs/%s.ini", parts.v[parts.n - 3]);
        add_file(&t, config, &(off_t){0});
    }
    add_file(&t, "/proc/self/exe", &(off_t){0});
    return t.s;
}

struct known {
    struct words dirs, stamps;
};

static void take_known(void *ctx, sqlite3_stmt *st)
{
    struct known *k = ctx;
    words_add(&k->dirs, store_text(st, 0));
    words_add(&k->stamps, store_text(st, 1));
}

static bool is_known(const struct known *k, const char *dir, const char *stamp)
{
    size_t at = words_find(&k->dirs, dir);
    return at < k->dirs.n && !strcmp(k->stamps.v[at], stamp);
}

static int forget_gone(struct store *s, const struct known *k, const struct runs *runs,
                       const char *const *roots, size_t n)
{
    int code = GS_OK;
    for (size_t i = 0; i < k->dirs.n && !code; i++) {
        bool below = false, there = false;
        for (size_t j = 0; j < n && !below; j++) {
            const char *dir = k->dirs.v[i];
            size_t length = strlen(roots[j]);
            below = !strncmp(dir, roots[j], length) && (dir[length] == '/' || !dir[length]);
        }
        for (size_t j = 0; below && j < runs->n && !there; j++)
            there = !strcmp(runs->v[j].dir, k->dirs.v[i]);
        if (below && !there)
            code = forget(s, k->dirs.v[i]);
    }
    return code;
}

/* ---- several processes ---- */

struct stale { /* a run that is not in the store as it is on the disk */
    const char *dir;
    char *stamp;
    off_t bytes;
};

static int by_size(const void *a, const void *b)
{
    const struct stale *x = a, *y = b;
    return (x->bytes < y->bytes) - (x->bytes > y->bytes);
}

static void work(const char *path, const struct stale *v, size_t n, atomic_size_t *next)
{
    struct store s;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    said = memfd_create("said", MFD_CLOEXEC);
    if (said < 0 || dup2(said, STDERR_FILENO) < 0 || store_open(&s, path) || !*s.path)
        return;
    for (size_t i; (i = atomic_fetch_add(next, 1)) < n && !s.failed;) {
        if (ftruncate(said, 0) || lseek(said, 0, SEEK_SET))
            return;
        read_run(&s, v[i].dir, v[i].stamp);
    }
    store_close(&s);
}

/* The database is closed meanwhile: SQLite's connections do not survive a fork. */
static int start_workers(struct store *s, const struct stale *v, size_t n, long workers)
{
    AUTO_FREE char *path = xstrdup(s->path);
    atomic_size_t *next =
        mmap(NULL, sizeof *next, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (next == MAP_FAILED)
        return GS_OK;
    store_close(s);
    fflush(NULL);
    AUTO_FREE pid_t *pids = xcalloc((size_t)workers, sizeof *pids);
    for (long k = 0; k < workers; k++)
        if (!(pids[k] = fork())) {
            work(path, v, n, next);
            _exit(0);
        }
    for (long k = 0; k < workers; k++)
        while (pids[k] > 0 && waitpid(pids[k], NULL, 0) < 0 && errno == EINTR)
            ;
    munmap(next, sizeof *next);
    return store_open(s, path);
}

/* As after a new build. To forget one run after the other would look at each row for each run. */
static int forget_all(struct store *s)
{
    AUTO_TEXT struct text sql = {0};
    for (size_t i = 0; i < RAW_TABLES + DERIVED; i++)
        text_addf(&sql, "DELETE FROM main.\"%s\";", table_at(i)->name);
    text_add(&sql, "DELETE FROM main.stamp;");
    return execute_all(s, sql.s);
}

/* Reads what is new with all processors. It reports nothing: what cannot be read, or says something,
 * is left to the caller. GS_OK, or reported: the database cannot be opened again. */
static int read_ahead(struct store *s, const struct runs *runs, const struct known *known)
{
    AUTO_FREE struct stale *v = xcalloc(runs->n + 1, sizeof *v);
    size_t n = 0;
    for (size_t i = 0; i < runs->n; i++) {
        struct stale one = {.dir = runs->v[i].dir};
        one.stamp = stamp_of(one.dir, &one.bytes);
        if (is_known(known, one.dir, one.stamp))
            free(one.stamp);
        else
            v[n++] = one;
    }
    int code = n == runs->n && known->dirs.n ? forget_all(s) : GS_OK;
    long processors = sysconf(_SC_NPROCESSORS_ONLN),
         workers = (long)n < processors ? (long)n : processors;
    if (n)
        qsort(v, n, sizeof *v, by_size);
    if (!code && workers > 1 && *s->path)
        code = start_workers(s, v, n, workers);
    for (size_t i = 0; i < n; i++)
        free(v[i].stamp);
    return code;
}

static int read_known(struct store *s, struct known *k)
{
    words_free(&k->dirs);
    words_free(&k->stamps);
    return store_each(s, "SELECT dir, stamp FROM main.stamp", take_known, k);
}

int store_read(struct store *s, const char *const *roots, size_t n)
{
    AUTO(runs_free) struct runs runs = {.unsorted = true};
    struct known known = {0};
    int code = GS_OK;
    for (size_t i = 0; i < n && !code; i++)
        code = runs_find(&runs, roots[i]);
    TRY(code, read_known(s, &known));
    TRY(code, forget_gone(s, &known, &runs, roots, n));
    TRY(code, read_ahead(s, &runs, &known));
    TRY(code, read_known(s, &known));
    for (size_t i = 0; i < runs.n && code != GS_USAGE && !s->failed; i++) {
        AUTO_FREE char *stamp = stamp_of(runs.v[i].dir, &(off_t){0});
        if (is_known(&known, runs.v[i].dir, stamp))
            continue;
        int one = read_run(s, runs.v[i].dir, stamp);
        if (one == GS_FAILED && !s->failed)
            words_add(&s->damaged, runs.v[i].dir);
        code = err_worse(code, one);
    }
    words_free(&known.dirs);
    words_free(&known.stamps);
    return code;
}

int store_open_all(struct store *s)
{
    static const char *const roots[] = {LOCATE_DATA};
    bool any = !access(LOCATE_DATA, F_OK);
    int code = store_open(s, any ? STORE_PATH : NULL);
    if (!code && any)
        code = store_read(s, roots, 1);
    return code == GS_FAILED && s->damaged.n && !s->failed ? GS_OK : code;
}

int store_open_roots(struct store *s, const char *const *roots, size_t n)
{
    if (!n)
        return store_open_all(s);
    int code = store_open(s, NULL);
    TRY(code, store_read(s, roots, n));
    return code == GS_FAILED && s->damaged.n && !s->failed ? GS_OK : code;
}

/* ---- samples.csv ---- */

const char samples_columns[] =
    "run_id,launch,block,cell_id,platform,workload,config,mode,copy,ranks,nodes,size_B,sample,"
    "time_s";

/* The next time of a block, exact to a femtosecond, in units of 10^-digits seconds. False: no more. By
 * hand, as what follows: a table has one for each sample. */
static bool next_time(const char **times_json, uint64_t iters, char buf[CSV_DECIMAL])
{
    const char *s = *times_json;
    uint64_t ns = 0;
    while (*s && !isdigit((unsigned char)*s))
        s++;
    if (!*s)
        return false;
    for (; isdigit((unsigned char)*s); s++)
        ns = 10 * ns + (uint64_t)(*s - '0');
    csv_decimal(buf, ns, iters);
    *times_json = s;
    return true;
}

/* All rows of a block begin alike. */
static void put_samples(void *ctx, sqlite3_stmt *st)
{
    enum { COLUMNS = 12 };
    AUTO_TEXT struct text row = {0};
    char time[CSV_DECIMAL], number[20];
    for (int i = 0; i < COLUMNS; i++) {
        csv_field(&row, store_text(st, i));
        text_add(&row, ",");
    }
    uint64_t iters = (uint64_t)sqlite3_column_int64(st, COLUMNS);
    const char *times = store_text(st, COLUMNS + 1);
    for (size_t n = 1, head = row.len; next_time(&times, iters, time); n++) {
        row.len = head;
        text_addn(&row, number, (size_t)(text_digits(number, n) - number));
        text_add(&row, ",");
        text_add(&row, time);
        text_add(&row, "\n");
        csv_bytes(ctx, row.s, row.len);
    }
}

/* ---- all tables as files ---- */

/* The files: store_derived[], store_joint[], and samples.csv. */
enum { SAMPLES = DERIVED + JOINT, FILES };

static const struct store_table *file_at(size_t i)
{
    static const struct store_table samples = {"samples", samples_columns, NULL, NULL};
    return i < DERIVED ? &store_derived[i] : i < SAMPLES ? &store_joint[i - DERIVED] : &samples;
}

static void export_row(void *ctx, sqlite3_stmt *st)
{
    struct csv *out = ctx;
    for (int i = 0, n = sqlite3_column_count(st); i < n; i++)
        if (sqlite3_column_type(st, i) == SQLITE_FLOAT)
            csv_real(out, sqlite3_column_double(st, i));
        else
            csv_text(out, store_text(st, i));
    csv_end(out);
}

/* Writes the file to its end. */
static int fill(struct store *s, size_t i, struct csv *file)
{
    static const char samples[] =
        "SELECT run_id, launch, block, cell_id, platform, workload, config, mode, copy, ranks, "
        "nodes,"
        " size_B, iters, times_json FROM main.stamp"
        /* else SQLite reads the blocks of a run once for each of its groups */
        " CROSS JOIN main.run USING (run) CROSS JOIN main.block USING (run)"
        " CROSS JOIN main.cell AS c USING (run, cell_id) WHERE counts"
        " ORDER BY sort, place, launch, seq";
    const struct store_table *t = file_at(i);
    AUTO_FREE char *derived = xstrfmt("SELECT %s FROM main.\"%s\" AS t JOIN main.stamp USING (run)"
                                      " ORDER BY sort, t.rowid",
                                      t->columns, t->name),
                   *joint = xstrfmt("SELECT * FROM main.%s ORDER BY rowid", t->name);
    csv_header(file, t->columns);
    CHECK(store_each(s,
                     i == SAMPLES  ? samples
                     : i < DERIVED ? derived
                                   : joint,
                     i == SAMPLES ? put_samples : export_row, file));
    return csv_finish(file);
}

/* The files of recordings, which two threads write: samples.csv, which takes longest, and those of
 * store_derived[]. */
struct filling {
    const char *path; /* of the database */
    struct csv *files;
    atomic_size_t next;
    atomic_int code;
};

static void fill_next(struct filling *f, struct store *s)
{
    for (size_t i; !f->code && (i = atomic_fetch_add(&f->next, 1)) <= DERIVED;) {
        size_t file = i ? i - 1 : SAMPLES;
        int code = fill(s, file, &f->files[file]);
        f->code = code ? code : f->code;
    }
}

static void *fill_beside(void *ctx)
{
    struct filling *f = ctx;
    struct store own;
    if (!store_open(&own, f->path) && *own.path) /* else the other thread writes all */
        fill_next(f, &own);
    store_close(&own);
    return NULL;
}

/* The tables of several recordings. *fault: of a config, whose claims are left out. */
static int make_joint(struct store *s, int *fault)
{
    CHECK(store_execute(s, "BEGIN IMMEDIATE; DELETE FROM again;"
                           " DELETE FROM transitions; DELETE FROM limits"));
    int code = again_make(s);
    TRY(code, transitions_make(s));
    *fault = code ? GS_OK : limits_make(s);
    code = *fault == GS_FAILED ? *fault : code;
    if (sqlite3_exec(s->db, code ? "ROLLBACK" : "COMMIT", NULL, NULL, NULL) && !code)
        code = store_failed(s);
    return code;
}

int store_export_all(struct store *s, const char *dir)
{
    struct csv files[FILES] = {0};
    struct filling filling = {.path = s->path, .files = files};
    pthread_t beside;
    int code = GS_OK, fault = GS_OK;
    for (size_t i = 0; i < FILES && !code; i++) {
        AUTO_FREE char *path = xstrfmt("%s/%s.csv", dir, file_at(i)->name);
        code = csv_open(&files[i], path);
    }
    bool two = !code && *s->path && !pthread_create(&beside, NULL, fill_beside, &filling);
    TRY(code, make_joint(s, &fault));
    for (size_t i = DERIVED; i < SAMPLES && !code; i++)
        code = fill(s, i, &files[i]);
    if (!code)
        fill_next(&filling, s);
    if (two)
        pthread_join(beside, NULL);
    code = code ? code : filling.code;
    for (int i = 0; i < FILES; i++) { /* all are whole before one is renamed */
        int one = csv_close(&files[i], !code);
        code = code ? code : one;
    }
    return code ? code : fault;
}
