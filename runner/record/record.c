/* SPDX-License-Identifier: Apache-2.0 */
#include "record/record.h"

#include "base/err.h"
#include "base/files.h"
#include "base/jsontext.h"
#include "base/secrets.h"
#include "base/text.h"
#include "base/version.h"
#include "config/config.h"
#include "config/params.h"
#include "lab/spec.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <libgen.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

/* ---- the file ---- */

#define BATCH ((size_t)256 << 10)

static const char *remedy(int error)
{
    static const struct {
        int error;
        const char *remedy;
    } remedies[] = {
        {ENOSPC, "free some space, then 'gradsync resume' the run"},
        {EDQUOT, "free some of your quota, then 'gradsync resume' the run"},
        {EFBIG, "raise the file size limit (ulimit -f), then 'gradsync resume' the run"},
        {ENOENT, "choose a folder that can be created"},
        {EROFS, "choose a folder that can be written"},
        {EACCES, "give yourself write permission or choose another folder"},
        {EPERM, "give yourself write permission or choose another folder"},
        {EEXIST, "a recording is never written twice; another run may be using this folder"},
    };
    for (size_t i = 0; i < COUNT(remedies); i++)
        if (remedies[i].error == error)
            return remedies[i].remedy;
    return "existing recordings are kept; correct the cause, then 'gradsync resume' the run";
}

int record_cannot(const char *what, const char *path)
{
    int error = errno;
    return fail_at(GS_FAILED, path, 0, "cannot %s: %s; %s", what, strerror(error), remedy(error));
}

bool record_is_being_written(const char *path)
{
    int fd = open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    bool busy = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK;
    if (fd >= 0)
        close(fd);
    return busy;
}

int record_create(struct record *r, const char *path)
{
    *r =
        (struct record){.fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666)};
    if (r->fd < 0)
        return record_cannot("create", path);
    flock(r->fd, LOCK_EX | LOCK_NB); /* for record_is_being_written */
    r->path = xstrdup(path);
    AUTO_FREE char *copy = xstrdup(path);
    files_sync_folder(dirname(copy));
    return GS_OK;
}

/* Writes the complete line or none of it: after a failed write the file is cut back, so that it
 * stays valid. */
static int append(struct record *r, const char *bytes, size_t n)
{
    off_t start = lseek(r->fd, 0, SEEK_END);
    size_t done = 0;
    while (done < n) {
        ssize_t got = write(r->fd, bytes + done, n - done);
        if (got < 0 && errno != EINTR)
            break;
        done += got < 0 ? 0 : (size_t)got;
    }
    if (done == n)
        return GS_OK;
    int code = record_cannot("write", r->path);
    if (done && ftruncate(r->fd, start))
        return record_cannot("remove the incomplete last line", r->path);
    return code;
}

static int write_batch(struct record *r)
{
    size_t n = r->batch.len;
    r->batch.len = 0;
    return n ? append(r, r->batch.s, n) : GS_OK;
}

static int put(struct record *r, const char *line, size_t n)
{
    int code = GS_OK;
    if (r->in_batches)
        text_addn(&r->batch, line, n);
    if (!r->in_batches)
        code = append(r, line, n);
    else if (r->batch.len >= BATCH)
        code = write_batch(r);
    if (!code) /* a line that did not fit is not in the file */
        sha256_add(&r->written, line, n);
    return code;
}

char *record_put_samples(char *at, const uint64_t *time_ns, size_t n)
{
    *at++ = '[';
    for (size_t i = 0; i < n; i++) {
        if (i)
            *at++ = ',';
        at = text_digits(at, time_ns[i]);
    }
    *at++ = ']';
    return at;
}

/* `text` is the object without its last brace. The samples are its last member; NULL: it has none. */
static int write_text(struct record *r, const char *text, size_t length, const uint64_t *time_ns,
                      size_t n)
{
    static const char key[] = ",\"time_ns\":";
    AUTO_FREE char *line = xmalloc(length + sizeof key + RECORD_SAMPLES_BYTES(n) + sizeof "}\n");
    char *at = mempcpy(line, text, length);
    if (time_ns)
        at = record_put_samples(stpcpy(at, key), time_ns, n);
    at = mempcpy(at, "}\n", 2);
    return put(r, line, (size_t)(at - line));
}

/* Takes ownership of the object. What readers refuse is not written. */
static int write_line(struct record *r, json_t *object, const uint64_t *time_ns, size_t n)
{
    char why[320];
    bool good = json_names_good(object, why, sizeof why);
    AUTO_FREE char *text = json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(16));
    json_decref(object);
    if (!good)
        return fail_at(GS_FAILED, r->path, 0, "%s, and is not recorded", why);
    if (!text)
        return fail_at(GS_FAILED, r->path, 0,
                       "a line cannot be written as JSON (not UTF-8, or not a finite number)");
    return write_text(r, text, strlen(text) - 1, time_ns, n);
}

int record_line(struct record *r, json_t *object)
{
    return write_line(r, object, NULL, 0);
}

int record_block(struct record *r, json_t *head, const uint64_t *time_ns, size_t n)
{
    static const uint64_t none;
    return write_line(r, head, n ? time_ns : &none, n);
}

int record_block_text(struct record *r, const char *head, const uint64_t *time_ns, size_t n)
{
    return write_text(r, head, strlen(head), time_ns, n);
}

int record_end(struct record *r, const char *status)
{
    struct timespec t;
    char hex[65];
    clock_gettime(CLOCK_REALTIME, &t);
    AUTO_FREE char *text = xstrfmt("{\"type\":\"end\",\"at\":%.6f,\"status\":\"%s\"",
                                   (double)t.tv_sec + (double)t.tv_nsec * 1e-9, status);
    sha256_with(r->written, text, strlen(text), hex);
    AUTO_FREE char *line = xstrfmt("%s" RECORD_DIGEST "%s\"}\n", text, hex);
    CHECK(put(r, line, strlen(line)));
    return record_sync(r);
}

int record_sync(struct record *r)
{
    CHECK(write_batch(r));
    return fsync(r->fd) ? record_cannot("write", r->path) : GS_OK;
}

int record_close(struct record *r)
{
    int code = r->fd >= 0 && r->path ? write_batch(r) : GS_OK;
    if (r->fd >= 0 && r->path && close(r->fd) && !code)
        code = record_cannot("write", r->path);
    free(r->path);
    text_free(&r->batch);
    sha256_free(r->written);
    *r = (struct record){.fd = -1};
    return code;
}

void record_attempt_begin(struct record_attempt *a, bool writes)
{
    *a = (struct record_attempt){.writes = writes, .waiting = writes ? json_array() : NULL};
}

void record_attempt_line(struct record_attempt *a, json_t *object)
{
    if (!a->writes || a->code)
        json_decref(object);
    else if (!a->open)
        json_array_append_new(a->waiting, object);
    else
        a->code = record_line(&a->record, object);
}

void record_attempt_block(struct record_attempt *a, json_t *head, const uint64_t *time_ns, size_t n)
{
    if (a->open && !a->code)
        a->code = record_block(&a->record, head, time_ns, n);
    else
        json_decref(head);
}

void record_attempt_open(struct record_attempt *a, const char *path, json_t *header)
{
    size_t i;
    json_t *waiting;
    if (a->writes && !a->code)
        a->code = record_create(&a->record, path);
    a->open = a->writes && !a->code;
    record_attempt_line(a, header);
    json_array_foreach(a->waiting, i, waiting) record_attempt_line(a, json_incref(waiting));
    json_decref(a->waiting);
    a->waiting = NULL;
}

void record_attempt_sync(struct record_attempt *a)
{
    if (a->open && !a->code)
        a->code = record_sync(&a->record);
}

void record_attempt_end(struct record_attempt *a, const char *status)
{
    if (a->open && !a->code)
        a->code = record_end(&a->record, status);
}

void record_attempt_close(struct record_attempt *a)
{
    json_decref(a->waiting);
    a->waiting = NULL;
    int code = a->open ? record_close(&a->record) : GS_OK;
    a->code = a->code ? a->code : code;
    a->open = false;
}

char *record_path(const char *dir, int launch, int attempt, const char *extension)
{
    return xstrfmt("%s/launch-%02d.%02d.%s", dir, launch, attempt, extension);
}

bool record_parse_name(const char *name, int *launch, int *attempt)
{
    if (sscanf(name, "launch-%5d.%9d.jsonl", launch, attempt) != 2 || *launch <= 0 || *attempt <= 0)
        return false;
    AUTO_FREE char *again = record_path("", *launch, *attempt, "jsonl");
    return !strcmp(name, path_name(again));
}

bool record_list(const char *dir, struct words *paths)
{
    AUTO_WORDS struct words names = {0};
    int launch, attempt;
    bool found = files_list(dir, "launch-*", &names);
    *paths = (struct words){0};
    for (size_t i = 0; i < names.n; i++)
        if (record_parse_name(names.v[i], &launch, &attempt))
            words_addf(paths, "%s/%s", dir, names.v[i]);
    return found;
}

/* Names from a config become folder names: only letters, digits, '.', '_' and '-', and no leading
 * dot. */
static void add_word(struct text *path, const char *word)
{
    for (size_t i = 0; word[i]; i++) {
        bool plain =
            strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-", word[i]) ||
            (word[i] == '.' && i > 0);
        text_addn(path, plain ? word + i : "-", 1);
    }
}

static void add_run_id(struct text *path, const char *label)
{
    char stamp[32];
    time_t now = time(NULL);
    struct tm utc;
    strftime(stamp, sizeof stamp, "%Y%m%dT%H%M%SZ", gmtime_r(&now, &utc));
    text_add(path, stamp);
    if (*label) {
        text_add(path, "-");
        add_word(path, label);
    }
    uint16_t random = 0;
    if (getrandom(&random, sizeof random, 0) != sizeof random)
        random = (uint16_t)getpid();
    text_addf(path, "-%04x", random);
}

int record_make_run(const char *root, const char *platform, const char *workload, const char *label,
                    char **dir)
{
    enum { TRIES = 64 };
    struct text path = {0};
    if (!printable(root, ""))
        return fail(GS_USAGE,
                    "the folder of recordings '%s': its path has a line feed or another "
                    "character that cannot be printed: choose another with -o",
                    root);
    text_addf(&path, "%s/", root);
    add_word(&path, platform);
    text_add(&path, "/");
    add_word(&path, workload);
    text_add(&path, "/");
    size_t stem = path.len;
    AUTO_FREE char *failed = files_make_above(path.s);
    int code = failed ? record_cannot("create the folder", failed) : GS_OK;
    bool made = false;
    for (int i = 0; !code && !made && i < TRIES; i++) {
        path.s[path.len = stem] = '\0';
        add_run_id(&path, label);
        made = !mkdir(path.s, 0777); /* fails if the name exists: draw again */
        if (!made && (errno != EEXIST || i == TRIES - 1))
            code = record_cannot("create the run folder", path.s);
    }
    if (code) {
        text_free(&path);
        return code;
    }
    *dir = path.s;
    return GS_OK;
}

/* ---- where and with what it is measured ---- */

/* The first matching pattern decides. Open MPI's launcher passes addresses and job ids in OMPI_MCA_*
 * of its own components and in OMPI_* that are not MCA parameters. */
static const struct {
    const char *pattern;
    bool kept;
} env_rules[] = {
    {"OMPI_MCA_orte_*", false},
    {"OMPI_MCA_ess*", false},
    {"OMPI_MCA_pmix*", false},
    {"OMPI_MCA_prte_*", false},
    {"OMPI_MCA_*_uri", false},
    {"OMPI_MCA_initial_wdir", false},
    {"OMPI_MCA_plm_rsh_agent", false}, /* a path of this machine */
    {"OMPI_MCA_*_directory", false},
    {"OMPI_MCA_shmem_RUNTIME_QUERY_hint", false},
    {"OMPI_MCA_*", true},
    {"NCCL_*", true},
    {"UCX_*", true},
};

static bool is_kept(const char *name)
{
    static const char *const families[] = {"NCCL_*", "OMPI_*", "UCX_*"};
    bool ours = false;
    for (size_t i = 0; i < COUNT(families); i++)
        ours = ours || !fnmatch(families[i], name, 0);
    for (size_t i = 0; ours && i < COUNT(env_rules); i++)
        if (!fnmatch(env_rules[i].pattern, name, FNM_CASEFOLD))
            return env_rules[i].kept;
    return false;
}

json_t *record_env(char *const *environment)
{
    json_t *env = json_object();
    for (char *const *e = environment; *e; e++) {
        size_t n = strcspn(*e, "=");
        AUTO_FREE char *name = xstrfmt("%.*s", (int)n, *e);
        const char *value = *e + n + ((*e)[n] == '='); /* an entry may have no '=' */
        AUTO_FREE char *shown = secrets_name(*e, n) ? xstrdup("(hidden)") : secrets_hidden(value);
        if (is_kept(name))
            json_object_set_new(env, name, json_text(shown));
    }
    return env;
}

const char *record_time(char *buf, size_t n)
{
    time_t now = time(NULL);
    struct tm utc;
    strftime(buf, n, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
    return buf;
}

/* Architectures name the processor differently in /proc/cpuinfo; the first match counts. */
static char *cpu_model(const char *machine)
{
    static const char *const names[] = {"model name", "cpu model", "cpu\t", "Model"};
    AUTO_TEXT struct text cpuinfo = {0};
    char *model = NULL;
    bool there = files_read("/proc/cpuinfo", FILES_GIVEN, SIZE_MAX, &cpuinfo);
    for (size_t i = 0; there && !model && i < COUNT(names); i++) {
        const char *line = strstr(cpuinfo.s, names[i]);
        const char *value = line ? strchr(line, ':') : NULL;
        if (value)
            model = xstrfmt("%.*s", (int)strcspn(value + 2, "\n"), value + 2);
    }
    return model ? model : xstrdup(machine);
}

json_t *record_host(int rank)
{
    struct utsname u;
    if (uname(&u))
        memset(&u, 0, sizeof u);
    AUTO_FREE char *cpu = cpu_model(u.machine);
    AUTO_FREE char *kernel = xstrfmt("%s %s %s", u.sysname, u.release, u.machine);
    return json_pack("{si so so sI so sI}", "rank", rank, "host", json_text(u.nodename), "cpu",
                     json_text(cpu), "cores", (json_int_t)sysconf(_SC_NPROCESSORS_ONLN), "kernel",
                     json_text(kernel), "memory_B",
                     (json_int_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE));
}

/* The text with its line breaks. JSON cannot hold a config that is not UTF-8; the run folder's
 * config.ini has its exact bytes. */
static json_t *verbatim(const char *text)
{
    json_t *value = json_string(text);
    return value ? value : json_text(text);
}

static json_t *overrides(const struct config *c)
{
    json_t *list = json_array();
    for (char **o = c->overrides; o && *o; o++)
        json_array_append_new(list, json_text(*o));
    return list;
}

/* The folder's name without trailing slashes. */
static json_t *run_id(const char *dir)
{
    size_t n = strlen(dir);
    while (n && dir[n - 1] == '/')
        n--;
    size_t start = n;
    while (start && dir[start - 1] != '/')
        start--;
    AUTO_FREE char *name = xstrfmt("%.*s", (int)(n - start), dir + start);
    return json_text(name);
}

/* NULL outside a Slurm job. */
static json_t *slurm_job(void)
{
    static const char *const told[][2] = {
        {"id", "SLURM_JOB_ID"},           {"array", "SLURM_ARRAY_JOB_ID"},
        {"task", "SLURM_ARRAY_TASK_ID"},  {"restarts", "SLURM_RESTART_COUNT"},
        {"nodes", "SLURM_JOB_NODELIST"},  {"partition", "SLURM_JOB_PARTITION"},
        {"cluster", "SLURM_CLUSTER_NAME"}};
    if (!getenv("SLURM_JOB_ID"))
        return NULL;
    json_t *job = json_object();
    for (size_t i = 0; i < COUNT(told); i++)
        if (getenv(told[i][1]))
            json_object_set_new(job, told[i][0], json_text(getenv(told[i][1])));
    return job;
}

json_t *record_header(const struct plan *p, const char *dir, int launch, int attempt)
{
    char started[32], hex[65];
    AUTO_FREE char *plan =
        xstrfmt("%s/plan.json", dir); /* its hash shows whether it was edited since */
    bool planned = !access(plan, F_OK) && !sha256_file(plan, hex);
    json_t *h = json_pack(
        "{ss si ss so so so so so si si ss sI so ss so so sI sI so so}", "type", "header", "schema",
        RECORD_SCHEMA, "gradsync", GRADSYNC_VERSION, "commit", json_text(gradsync_commit), "run_id",
        run_id(dir), "platform", json_text(p->set.platform.name), "workload",
        json_text(p->workload), "label", json_text(p->label), "launch", launch, "attempt", attempt,
        "started", record_time(started, sizeof started), "seed", (json_int_t)p->seed, "config",
        verbatim(p->config->text), "config_sha256", p->config_sha256, "plan_sha256",
        planned ? json_string(hex) : json_null(), "overrides", overrides(p->config), "ranks",
        (json_int_t)p->set.launch.ranks, "nodes", (json_int_t)p->set.launch.nodes, "plugin",
        json_text(p->plugin->wl.version), "env", record_env(environ));
    json_t *job = slurm_job(), *lab = lab_facts_recorded();
    if (*p->set.measure.proof_of)
        json_object_set_new(h, "proof_of", json_text(p->set.measure.proof_of));
    if (job)
        json_object_set_new(h, "job", job);
    if (lab)
        json_object_set_new(h, "lab", lab);
    return h;
}

/* ---- lines of cells ---- */

json_t *record_note_line(const char *cell, int copy, const char *key, const char *value)
{
    return json_pack("{ss ss si so so}", "type", "note", "cell", cell, "copy", copy, "key",
                     json_text(key), "value", json_text(value));
}

static json_t *params(const struct plan *p, const struct cell *c)
{
    char buf[4 * WL_TEXT_MAX];
    json_t *o = json_object();
    for (const struct wl_param *q = p->plugin->wl.params; q->name; q++)
        if (plugin_has_param(&p->plugin->wl, q, c->values))
            json_object_set_new(o, q->name, json_text(param_format(q, c->values, buf, sizeof buf)));
    return o;
}

json_t *record_cell_line(const struct plan *p, const struct group *g, const struct cell *c,
                         int copy, unsigned iters, size_t prepared)
{
    json_t *metrics = json_array();
    const struct wl_metric *m = p->plugin->wl.metrics;
    for (m++; m[-1].name && m->name; m++) /* the first is the time */
        json_array_append_new(
            metrics, json_pack("{so so}", "name", json_text(m->name), "unit", json_text(m->unit)));
    return json_pack("{ss ss ss si so so so sI sf sb sI so sb sI}", "type", "cell", "cell", c->id,
                     "group", g->id, "copy", copy, "config", json_text(c->config), "mode",
                     json_text(c->mode), "params", params(p, c), "size_B",
                     (json_int_t)c->shape.size_B, "busbw_factor", c->shape.busbw_factor, "span",
                     c->shape.span, "iters", (json_int_t)iters, "metrics", metrics, "baseline",
                     c->baseline, "prepared", (json_int_t)prepared);
}

json_t *record_closed_cell(const struct cell *c, int copy, size_t blocks, bool converged,
                           double half_width)
{
    json_t *o = json_pack("{ss si sI sb}", "cell", c->id, "copy", copy, "blocks",
                          (json_int_t)blocks, "converged", converged);
    if (isfinite(half_width))
        json_object_set_new(o, "half_width", json_real(half_width));
    return o;
}

json_t *record_group_line(const struct group *g, int blocks, json_t *cells)
{
    return json_pack("{ss ss si so}", "type", "group", "group", g->id, "blocks", blocks, "cells",
                     cells);
}

/* ---- the number of an attempt ---- */

#define ATTEMPTS 10000

int record_take_attempt(const char *dir, int launch, int *attempt)
{
    for (int end = *attempt + ATTEMPTS; *attempt < end; ++*attempt) {
        AUTO_FREE char *log = record_path(dir, launch, *attempt, "log"),
                       *recording = record_path(dir, launch, *attempt, "jsonl");
        int fd = open(log, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666), error = errno;
        /* An empty log is removed after its attempt, and then only the recording shows that the number
         * is taken. So this looks for the recording after the log was created. */
        bool mine = fd >= 0 && access(recording, F_OK);
        if (fd >= 0 && !mine)
            unlink(log);
        if (fd >= 0)
            close(fd);
        int code = fd < 0 && error != EEXIST
                       ? fail_at(GS_FAILED, log, 0, "cannot be created: %s", strerror(error))
                       : GS_OK;
        if (mine || code)
            return code;
    }
    return fail_at(GS_FAILED, dir, 0, "launch %d has no free attempt number; measure a new run",
                   launch);
}
