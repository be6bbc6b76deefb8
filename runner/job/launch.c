/* SPDX-License-Identifier: Apache-2.0 */
#include "job/launch.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/files.h"
#include "base/jsontext.h"
#include "base/secrets.h"
#include "base/shell.h"
#include "base/stats.h"
#include "base/units.h"
#include "job/tune_setting.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <gnu/libc-version.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define LINES_LEAST 5 /* that count, where there are no visits */
#define LINE_STEPS_WARM 3
#define LINE_STEPS_LEAST 16
#define LOOK_S 0.1 /* and ten times as long as a look takes, which costs the job time */

/* ---- the command ---- */

char *command_text(char **words)
{
    struct text t = {0};
    for (char **w = words; *w; w++) {
        if (w != words)
            text_add(&t, " ");
        if (words[1])
            shell_quote(&t, *w);
        else
            text_add(&t, *w);
    }
    return t.s;
}

/* The shell reads what has blanks or '='. */
int command_find(const char *program)
{
    AUTO_FREE char *found = strpbrk(program, "/= ") ? NULL : program_find(program);
    if ((found && *program) || strpbrk(program, "= "))
        return GS_OK;
    if (!strchr(program, '/'))
        return fail(GS_USAGE,
                    "tune: '%s': no such command in PATH: check the spelling, or give its path",
                    program);
    return access(program, X_OK)
               ? fail(GS_USAGE, "tune: '%s' cannot be run: %s: %s", program, strerror(errno),
                      errno == EACCES ? "see whether it is executable (chmod +x)"
                                      : "check its path")
               : GS_OK;
}

json_t *command_record(char **words)
{
    json_t *recorded = json_array();
    AUTO_WORDS struct words shown = {0};
    secrets_hidden_words(&shown, words);
    for (size_t i = 0; i < shown.n; i++)
        json_array_append_new(recorded, json_string(shown.v[i]));
    return recorded;
}

int command_restore(char ***words, const json_t *recorded, const char *path)
{
    struct words whole = {0};
    bool hidden = false;
    json_t *word;
    size_t i;
    json_array_foreach(recorded, i, word)
    {
        words_add(&whole, json_string_value(word));
        hidden = hidden || secrets_are_hidden(json_string_value(word));
    }
    *words = whole.v;
    if (!whole.n)
        return fail_at(GS_FAILED, path, 0, "is damaged: it has no command");
    return hidden ? fail(GS_USAGE, "tune: the command holds a secret, which is not recorded: type "
                                   "the command again")
                  : GS_OK;
}

bool command_sets(const char *command, const char *name)
{
    if (!strcmp(name, "OMPI_MCA_hwloc_base_binding_policy") && strstr(command, " --bind-to "))
        return true;
    bool mca = !strncmp(name, "OMPI_MCA_", 9);
    const char *word = mca && !strstr(command, name) ? name + 9 : name;
    size_t n = strlen(word);
    for (const char *at = command; (at = strstr(at, word)); at += n) {
        bool begins = at == command || !(isalnum((unsigned char)at[-1]) || at[-1] == '_');
        if (begins && (at[n] == '=' || (word != name && at[n] == ' ')))
            return true;
    }
    return false;
}

/* ---- its environment ---- */

/* A switch of PyTorch may change how many collectives a step has, and by so much its bytes. A job that
 * logs with a collective after every tenth step must not be taken for one whose step is ten times as long. */
#define BYTES_LEAST 0.6
#define BYTES_MOST 1.75

/* The engine's config (plugins/engine/engine.h). */
static bool write_config(const struct launch *l, const struct tune_setting *set)
{
    const struct launch_job *j = l->job;
    double bytes = (double)j->bytes;
    AUTO_TEXT struct text t = {0};
    AUTO_FREE char *path = xstrfmt("%s/engine.txt", l->folder);
    AUTO_FREE char *agree = xstrfmt("%s/agree", l->folder);
    text_addf(&t, "out = %s\nseed = %ld\nvisit_ms = %.0f\nwait_s = 60\nlater = %d\n", l->folder,
              l->seed, LAUNCH_VISIT_MS, !l->arms);
    if (l->keep_s > 0)
        text_addf(&t, "keep = 1\nseconds = %.0f\npercent = %.0f\n", ceil(l->keep_s),
                  100 * l->memory_share);
    if (j->calls && !set->torch.n)
        text_addf(&t, "calls = %lld\n", (long long)j->calls);
    else if (j->bytes)
        text_addf(&t, "bytes_least = %.0f\nbytes_most = %.0f\n", BYTES_LEAST * bytes,
                  BYTES_MOST * bytes);
    text_add(&t, l->arms ? l->arms : "");
    return !mkdir(agree, 0777) && files_write_new(path, t.s, 0666);
}

static void add_export(struct text *t, struct words *names, const char *name, const char *value)
{
    text_addf(t, "export %s=%s\n", name, SHELL_WORD(value));
    words_add_once(names, name);
}

/* In front of what the user has in such a list. */
static void add_first(struct text *t, struct words *names, const char *name, const char *value)
{
    const char *old = getenv(name);
    AUTO_FREE char *both = xstrfmt("%s%s%s", value, old && *old ? ":" : "", old && *old ? old : "");
    add_export(t, names, name, both);
}

static void add_tools(struct text *t, struct words *names, const struct launch *l,
                      const struct tune_setting *set)
{
    const struct launch_job *j = l->job;
    AUTO_FREE char *config = xstrfmt("%s/engine.txt", l->folder);
    if (j->object) {
        AUTO_FREE char *objects =
            xstrfmt("%s%s%s", j->object, set->library ? ":" : "", set->library ? set->library : "");
        add_first(t, names, "LD_PRELOAD", objects);
        if (!words_has(names, LAUNCH_PART))
            add_export(t, names, "GRADSYNC_ENGINE", config);
        int major = 0, minor = 0;
        sscanf(gnu_get_libc_version(), "%d.%d", &major, &minor);
        if (j->audit && (major > 2 || minor >= 35)) /* before, it makes every call slow */
            add_first(t, names, "LD_AUDIT", j->audit);
    }
    if (j->python) {
        add_first(t, names, "PYTHONPATH", j->python);
        add_export(t, names, "GRADSYNC_TORCH_OUT", l->folder);
    }
    if (l->ask_link) {
        AUTO_FREE char *file = xstrfmt("%s/nccl.%%h.%%p", l->folder);
        add_export(t, names, "NCCL_DEBUG", "INFO");
        add_export(t, names, "NCCL_DEBUG_SUBSYS", "INIT,ENV");
        add_export(t, names, "NCCL_DEBUG_FILE", file);
        /* Without it Open MPI's communicators cannot have algorithms of their own. It changes no decision by itself:
         * without rules, tuned takes its fixed ones. */
        if (!getenv("OMPI_MCA_coll_tuned_use_dynamic_rules"))
            add_export(t, names, "OMPI_MCA_coll_tuned_use_dynamic_rules", "1");
    }
}

/* mpirun passes variables to other hosts only if it is told to. A command with its own -x cannot have
 * both: docs/tune.md says what to add there. */
static void add_mpirun(struct text *t, const struct words *names, const char *command)
{
    const char *old = getenv("OMPI_MCA_mca_base_env_list");
    AUTO_TEXT struct text list = {0};
    if (!strstr(command, "mpirun") || strstr(command, " -x "))
        return;
    text_add(&list, old ? old : "");
    for (size_t i = 0; i < names->n; i++)
        if (strncmp(names->v[i], "OMPI_", 5) != 0)
            text_addf(&list, "%s%s", list.len ? ";" : "", names->v[i]);
    if (list.len)
        text_addf(t, "export OMPI_MCA_mca_base_env_list=%s\n", SHELL_WORD(list.s));
}

static char *script_of(const struct launch *l, const struct tune_setting *set)
{
    struct text t = {0};
    AUTO_WORDS struct words names = {0};
    AUTO_TEXT struct text torch = {0};
    for (size_t i = 0; i < set->variables.n; i++) {
        const char *v = set->variables.v[i], *value = v + strcspn(v, "=") + 1;
        AUTO_FREE char *name = xstrfmt("%.*s", (int)(value - v - 1), v);
        if (strcmp(value, "unset"))
            add_export(&t, &names, name, value);
        else
            text_addf(&t, "unset %s\n", name);
    }
    for (size_t i = 0; i < set->torch.n; i++)
        text_addf(&torch, "%s%s", i ? "," : "", set->torch.v[i]);
    if (torch.len)
        add_export(&t, &names, "GRADSYNC_TORCH", torch.s);
    add_tools(&t, &names, l, set);
    add_mpirun(&t, &names, l->job->command);
    if (geteuid() == 0) /* as for the ranks of a run */
        text_add(&t, "export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1\n");
    text_addf(&t, "%s%s\n", l->keep_s > 0 && !l->job->one_word ? "exec " : "", l->job->command);
    return t.s;
}

/* ---- what it left so far ---- */

static enum tune_link link_of(const char *line)
{
    static const struct {
        const char *via;
        enum tune_link link;
    } known[] = {{"NET/OFI", TUNE_OFI}, {"NET/AWS", TUNE_OFI},       {"NET/Libfabric", TUNE_OFI},
                 {"NET/IB", TUNE_IB},   {"NET/Socket", TUNE_SOCKET}, {"SHM", TUNE_SHM},
                 {"P2P", TUNE_P2P}};
    const char *via = strstr(line, " via ");
    for (size_t i = 0; via && i < COUNT(known); i++)
        if (!strncmp(via + 5, known[i].via, strlen(known[i].via)))
            return known[i].link;
    return TUNE_UNKNOWN;
}

/* "NCCL_X set by environment to V." NCCL also names what gradsync and the user set. */
static void read_inside(struct launched *r, const char *line)
{
    static const char set[] = " set by environment to ";
    const char *at = strstr(line, set), *name = at;
    while (name && name > line && (isalnum((unsigned char)name[-1]) || name[-1] == '_'))
        name--;
    AUTO_FREE char *word = at ? xstrfmt("%.*s", (int)(at - name), name) : NULL;
    if (!word || strncmp(word, "NCCL_", 5) || tune_ignores(word) || getenv(word) ||
        !strncmp(word, "NCCL_DEBUG", 10))
        return;
    const char *value = at + strlen(set);
    AUTO_FREE char *both = xstrfmt("%s=%.*s", word, (int)strcspn(value, ". \r"), value);
    words_add_once(&r->set_inside, both);
}

static void read_link(struct launched *r, const char *line)
{
    enum tune_link link = link_of(line);
    const char *version = strstr(line, "NCCL version ");
    int v[3] = {0};
    char plus = 0; /* "2.28.9+cuda13.0"; not "2.27.0 or later" */
    if (version && sscanf(version, "NCCL version %d.%d.%d%c", v, v + 1, v + 2, &plus) == 4 &&
        plus == '+')
        r->nccl = v[0] * 10000 + v[1] * 100 + v[2];
    r->link = link > r->link ? link : r->link; /* the slowest of them */
    read_inside(r, line);
}

/* Of sitecustomize.py: "rank", "ddp", "fsdp", "gloo", "memory BYTES", "changed TEXT". */
static void read_torch(struct launched *r, const char *line)
{
    r->torch |= !strcmp(line, "ddp")    ? TUNE_DDP
                : !strcmp(line, "fsdp") ? TUNE_FSDP
                : !strcmp(line, "rank") ? TUNE_PYTHON
                                        : 0;
    r->gloo = r->gloo || !strcmp(line, "gloo");
    if (!strncmp(line, "memory ", 7))
        r->memory_B = fmax(r->memory_B, strtod(line + 7, NULL));
    if (!strncmp(line, "changed ", 8))
        snprintf(r->torch_changed, sizeof r->torch_changed, "%s", line + 8);
}

static bool file_holds(const char *path, const char *bytes)
{
    struct stat s;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    void *at = fd >= 0 && !fstat(fd, &s) && s.st_size
                   ? mmap(NULL, (size_t)s.st_size, PROT_READ, MAP_PRIVATE, fd, 0)
                   : MAP_FAILED;
    bool holds = at != MAP_FAILED && memmem(at, (size_t)s.st_size, bytes, strlen(bytes));
    if (at != MAP_FAILED)
        munmap(at, (size_t)s.st_size);
    if (fd >= 0)
        close(fd);
    return holds;
}

/* Of a process of this host without libnccl, which writes NCCL's log (nccl.HOST.PID): the file that has NCCL. */
static void find_holder(struct launched *r, const char *log)
{
    char host[64] = "";
    gethostname(host, sizeof host - 1);
    AUTO_FREE char *prefix = xstrfmt("nccl.%s.", host), *line = NULL;
    AUTO_WORDS struct words files = {0};
    size_t cap = 0;
    if (strncmp(log, prefix, strlen(prefix)))
        return;
    AUTO_FREE char *maps = xstrfmt("/proc/%s/maps", log + strlen(prefix));
    AUTO_FCLOSE FILE *in = fopen(maps, "re");
    while (in && getline(&line, &cap, in) > 0) {
        char *path = strchr(line, '/');
        if (path && strstr(path, "libnccl"))
            return;
        if (!path || !strstr(line, " r-xp ") || strstr(path, JOB_OBJECT))
            continue;
        path[strcspn(path, "\n")] = '\0';
        words_add_once(&files, path);
    }
    for (size_t i = 0; i < files.n && !*r->holder; i++)
        if (file_holds(files.v[i], "NCCL_DEBUG_FILE"))
            snprintf(r->holder, sizeof r->holder, "%s", files.v[i]);
}

/* Every line of the files of this pattern. */
static void read_files(struct launch *l, const char *pattern,
                       void (*take)(struct launched *, const char *))
{
    AUTO_WORDS struct words names = {0};
    files_list(l->folder, pattern, &names);
    for (size_t i = 0; i < names.n; i++) {
        AUTO_FREE char *path = xstrfmt("%s/%s", l->folder, names.v[i]);
        AUTO_TEXT struct text t = {0};
        if (!files_read(path, FILES_OWN, FILES_WHOLE_MAX, &t) || !t.s)
            continue;
        for (char *rest = t.s, *line; (line = strsep(&rest, "\n"));)
            take(l->r, line);
        if (take == read_link && !l->r->journals.files && !*l->r->holder)
            find_holder(l->r, names.v[i]);
    }
}

static double median_s(const struct launched *r)
{
    AUTO_FREE double *x = xcalloc(r->n + 1, sizeof *x);
    for (size_t i = 0; i < r->n; i++)
        x[i] = (double)r->v[i].ns * 1e-9 / (double)r->v[i].steps;
    return r->n ? stats_median(x, r->n) : (double)NAN;
}

/* Steps as the lines have them; true: they are enough to be measured by. */
static bool read_lines(struct launch *l)
{
    const struct job_step *steps = l->times->v;
    struct launched *r = l->r;
    size_t n = l->times->n;
    AUTO_FREE double *x = xcalloc(n + 1, sizeof *x);
    for (size_t i = 1; i < n; i++)
        x[i - 1] = (steps[i].at - steps[i - 1].at) / ((double)steps[i].ns * 1e-9);
    /* Many jobs print the mean of ten steps or more. The time between lines tells how many. */
    double each = n > 1 ? fmax(1, stats_median(x, n - 1)) : 1;
    r->n = 0;
    for (size_t i = (size_t)ceil(LINE_STEPS_WARM / each); i < n; i++)
        APPEND(r->v, r->n) = (struct launch_sample){steps[i].ns, 1, steps[i].at};
    r->step_s = median_s(r);
    r->line_s = r->n ? r->step_s : 0;
    return r->n >= LINES_LEAST && (double)r->n * each >= LINE_STEPS_LEAST;
}

/* A setting and the job as it is are measured in the same way: by the calls of the ranks, or by lines. A step
 * of the one may be several of the other. */
static void read_all(struct launch *l)
{
    struct launched *r = l->r;
    const struct launch_job *j = l->job;
    journals_free(&r->journals);
    journals_read(&r->journals, l->folder);
    r->nccl = (int)r->journals.nccl > r->nccl ? (int)r->journals.nccl : r->nccl;
    bool may_lines = !(j->step_s > 0) || !j->calls, may_calls = !(j->step_s > 0) || j->calls;
    if (may_lines)
        read_lines(l);
    const struct visits *all = &r->journals.visits;
    if (may_calls && all->n) {
        r->n = 0;
        for (size_t i = 0; i < all->n; i++)
            if (!strcmp(all->v[i].arm, TUNE_BASELINE))
                APPEND(r->v, r->n) =
                    (struct launch_sample){all->v[i].most_ns, all->v[i].steps - 1, all->v[i].at};
        r->step_s = median_s(r);
        r->by_calls = true;
    } else if (!may_lines) {
        r->n = 0;
        r->step_s = (double)NAN;
    }
    if (!r->begun_s && r->n)
        r->begun_s = clock_now_s() - l->began;
    read_files(l, "torch.*", read_torch);
    if (l->ask_link && !all->n)
        read_files(l, "nccl.*", read_link);
    if (!strcmp(r->journals.library, "mpi"))
        r->link = TUNE_MPI;
}

static bool is_over(void *ctx)
{
    struct launch *l = ctx;
    double now = clock_now_s();
    job_watch_look(l->r->watch);
    if (now < l->look_at)
        return false;
    read_all(l);
    bool over = l->enough(l->ctx, l);
    l->look_at = clock_now_s() + fmax(LOOK_S, 10 * (clock_now_s() - now));
    return over;
}

#define FULL_S 3.0

bool launch_is_full(struct launch *l)
{
    static const char some[16384];
    if (clock_now_s() < l->full_at)
        return false;
    l->full_at = clock_now_s() + FULL_S;
    AUTO_FREE char *path = xstrfmt("%s/room", l->folder);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    ssize_t wrote = fd < 0 ? -1 : write(fd, some, sizeof some);
    int error = wrote < 0 ? errno : wrote < (ssize_t)sizeof some ? ENOSPC : 0;
    if (fd >= 0 && close(fd) && !error)
        error = errno;
    unlink(path);
    if (!error)
        return false;
    l->r->kind = "failed";
    snprintf(l->r->why, sizeof l->r->why, "%s cannot be written to: %s", l->job->out,
             strerror(error));
    return true;
}

void launch_tell(const struct launch *l, const char *what, const char *text)
{
    AUTO_FREE char *path = xstrfmt("%s/%s", l->folder, what);
    if (!files_replace(path, text, 0666))
        fail_file(path, "written", errno);
}

/* ---- the launch ---- */

/* It is in the folder of the recordings, which all nodes of the job must see. One that a killed gradsync left is
 * removed by the next. */
static int make_folder(struct launch *l)
{
    char host[64] = "host";
    gethostname(host, sizeof host - 1);
    AUTO_FREE char *prefix = xstrfmt(".trial.%s.", host);
    scratch_sweep(l->job->out, prefix); /* a lock is seen on its own host only */
    l->lock = -1;
    l->folder = xstrfmt("%s/%sXXXXXX", l->job->out, prefix);
    if (!mkdtemp(l->folder))
        return fail_file(l->folder, "made", errno);
    l->lock = scratch_lock(l->folder);
    return GS_OK;
}

/* A job that still runs cannot write to it any more. */
static void remove_folder(struct launch *l)
{
    files_remove_tree(l->folder);
    if (l->lock >= 0)
        close(l->lock);
    free(l->folder);
    l->folder = NULL;
}

char *launch_unseen(const struct launch_job *job, const struct launched *r)
{
    if (!r->journals.files && command_sets(job->command, "LD_PRELOAD"))
        return xstrdup(
            "the command sets LD_PRELOAD itself, so gradsync's object is not in the job: "
            "set it in front of gradsync");
    if (!r->journals.files && *r->holder)
        return xstrfmt("NCCL is linked statically into %s, so its calls are not seen", r->holder);
    return r->gloo ? xstrdup("its DDP uses Gloo, whose collectives gradsync does not see")
                   : journals_why(&r->journals);
}

static void judge(struct launch *l, const struct job_ended *e)
{
    struct launched *r = l->r;
    char why[200];
    AUTO_FREE char *reason = job_output_reason(&l->output);
    if (e->lost)
        r->kind = job_ended_kind(e, r->why, sizeof r->why);
    else if (!e->enough && !e->hung && e->status && job_ended_kind(e, why, sizeof why))
        snprintf(r->crash, sizeof r->crash, "%s%s", why, reason);
    if (r->kind || (r->n && (r->by_calls || r->n >= LINES_LEAST)))
        return; /* a job that ended by itself gave enough, or was ended */
    AUTO_FREE char *calls = launch_unseen(l->job, r);
    AUTO_FREE char *nothing = xstrfmt(
        "%s%s", calls,
        !(l->job->step_s > 0) || !l->job->calls
            ? "; and it prints no step times that gradsync knows: let it print lines such as 'step "
              "time: 12.3 ms'"
            : "; and the job as it is was measured by its collectives");
    r->kind = e->enough ? NULL : job_ended_kind(e, why, sizeof why);
    if (r->kind && !e->hung && l->output.advice) {
        r->kind = "failed"; /* the code is the launcher's own */
        snprintf(r->why, sizeof r->why, "%s", l->output.advice);
        return;
    }
    if (e->hung && r->journals.seen.calls) /* it ran */
        r->kind = "failed";
    if (e->hung)
        snprintf(r->why, sizeof r->why, "no step was measured in %s: %s; ended%s",
                 HUMAN_TIME(e->took_s), nothing, reason);
    else if (r->kind)
        snprintf(r->why, sizeof r->why, "%s%s", why, reason);
    else
        snprintf(r->why, sizeof r->why, "%s after %s: %s%s", e->enough ? "ended" : "it ended",
                 HUMAN_TIME(e->took_s), nothing, e->enough ? "" : reason);
    r->kind = r->kind ? r->kind : "failed";
}

/* In a session of its own, and no child of the job, which may wait for its children. 1 in the watcher; -1: there is none. */
static int become_watcher(void)
{
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        setsid();
        pid_t watcher = fork();
        if (watcher)
            _exit(watcher < 0);
        return 1;
    }
    return child > 0 && waitpid(child, &status, 0) == child && !status ? 0 : -1;
}

/* Looks at what the engine writes, until the job has ended. */
static void watch_job(struct launch *l, int job)
{
    bool decided = false;
    struct pollfd end = {.fd = job, .events = POLLIN};
    while (poll(&end, 1, 400) == 0) {
        if (decided)
            job_watch_look(l->r->watch);
        else
            decided = is_over(l);
    }
    read_all(l);
    l->r->took_s = clock_now_s() - l->began;
}

int launch_keep(struct launch *l, const struct tune_setting *set, struct launched *r)
{
    struct job_times times = {0}; /* its lines are not read */
    *r = (struct launched){.watch = job_watch_new(), .step_s = NAN};
    l->r = r;
    l->times = &times;
    l->began = clock_now_s();
    int job = -1, watcher = -1, code = make_folder(l);
    if (!code && !write_config(l, set))
        code = fail_file(l->folder, "written to", errno);
    AUTO_FREE char *script = code ? NULL : script_of(l, set);
    if (!code) {
        job = (int)syscall(SYS_pidfd_open, getpid(), 0);
        watcher = job < 0 ? -1 : become_watcher();
        if (watcher < 0) /* ranks would wait for their arms in vain */
            code =
                fail(GS_FAILED, "tune: --keep: no process can watch the job: %s", strerror(errno));
    }
    if (!watcher) {
        execl("/bin/sh", "sh", "-c", script, (char *)NULL); /* the watcher sees that this failed */
        return fail(GS_FAILED, "tune: /bin/sh cannot be started: %s", strerror(errno));
    }
    if (!code)
        watch_job(l, job);
    if (job >= 0)
        close(job);
    remove_folder(l);
    return code;
}

int launch_run(struct launch *l, const struct tune_setting *set, struct launched *r)
{
    const struct job_hooks hooks = {.take = job_output_take, .enough = is_over, .ctx = l};
    struct job_ended e = {0};
    *r = (struct launched){.watch = job_watch_new(), .step_s = NAN};
    AUTO(job_times_free) struct job_times times = {0};
    l->r = r;
    l->times = &times;
    l->output = (struct job_output){.log = l->job->log, .times = &times};
    l->began = clock_now_s();
    l->look_at = l->began + LOOK_S;
    int code = make_folder(l);
    if (!code && !write_config(l, set))
        code = fail_file(l->folder, "written to", errno);
    AUTO_FREE char *script = code ? NULL : script_of(l, set);
    TRY(code, job_guarded(script, l->timeout_s, l->job->interrupts, &hooks, &e));
    if (!code) {
        if (e.enough || e.hung || e.stopped)
            l->output.times = NULL; /* the line that it was writing may lack digits */
        job_output_end(&l->output);
        read_all(l);
        r->took_s = e.took_s;
        r->stopped = e.stopped;
        r->ended = !e.enough && !e.hung && !e.lost;
        if (!r->stopped)
            judge(l, &e);
        size_t used = strlen(r->why);
        if (r->kind && e.halted)
            snprintf(r->why + used, sizeof r->why - used,
                     "; process %d of it was stopped (SIGSTOP)", (int)e.halted);
    }
    job_output_free(&l->output);
    remove_folder(l);
    return code;
}

void launched_free(struct launched *r)
{
    if (r->watch)
        job_watch_free(r->watch);
    journals_free(&r->journals);
    words_free(&r->set_inside);
    free(r->v);
    *r = (struct launched){0};
}
