/* SPDX-License-Identifier: Apache-2.0 */
#include "job/tune_start.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/files.h"
#include "base/jsontext.h"
#include "base/secrets.h"
#include "base/shell.h"
#include "base/stats.h"
#include "base/units.h"
#include "job/job_output.h"
#include "job/job_process.h"
#include "job/trial_ranks.h"
#include "price/trial_config.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define VISITS 5       /* that count; the first is warm-up */
#define VISITS_LEAST 3 /* if they take long */
#define STEPS_LEAST 4  /* a visit */
#define WARM 4         /* steps before the first visit */
#define LINES_LEAST 5  /* that count, of the output, without the object */
#define LINE_STEPS_WARM 3
#define LINE_STEPS_LEAST 16
#define LOOK_S 0.25

struct start {
    struct tune_launch launch; /* the first member: the context of hooks */
    struct job_times *times;
    struct tune_started *r;
    bool seen, alone; /* collectives; those of one rank only */
};

/* ---- the command ---- */

char *tune_command(char **words)
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
int tune_command_find(const char *program)
{
    AUTO_FREE char *found = strpbrk(program, "/= ") ? NULL : program_find(program);
    if ((found && *program) || strpbrk(program, "= "))
        return GS_OK;
    if (!strchr(program, '/'))
        return fail(GS_USAGE, "tune: '%s': no such command in PATH", program);
    return access(program, X_OK)
               ? fail(GS_USAGE, "tune: '%s' cannot be run: %s", program, strerror(errno))
               : GS_OK;
}

json_t *tune_command_record(char **words)
{
    json_t *recorded = json_array();
    AUTO_WORDS struct words shown = {0};
    secrets_hidden_words(&shown, words);
    for (size_t i = 0; i < shown.n; i++)
        json_array_append_new(recorded, json_string(shown.v[i]));
    return recorded;
}

int tune_command_restore(char ***words, const json_t *recorded, const char *path)
{
    AUTO_WORDS struct words shown = {0};
    struct words whole = {0};
    AUTO_FREE char *missing = NULL;
    json_t *word;
    size_t i;
    json_array_foreach(recorded, i, word)
    {
        words_add(&shown, json_string_value(word));
    }
    if (!shown.n)
        return fail_at(GS_FAILED, path, 0, "is damaged: it has no command");
    secrets_restored_words(&whole, &shown, &missing);
    *words = whole.v;
    return missing ? fail(GS_USAGE, "tune: secrets are not recorded; give it again: export %s=...",
                          missing)
                   : GS_OK;
}

/* A switch of PyTorch may change how many collectives a step has, and by so much its bytes. A job that
 * logs with a collective after every tenth step must not be taken for one whose step is ten times as long. */
#define BYTES_LEAST 0.6
#define BYTES_LEAST_LOSSY 0.3
#define BYTES_MOST 1.75

static struct trial_config visits_config(const struct tune_job *j, const struct tune_setting *set)
{
    double steps = j->step_s > 0 ? ceil(j->measure_s / VISITS / j->step_s) + 1 : 0;
    double bytes = (double)j->bytes;
    return (struct trial_config){
        .arms = {{.label = "auto"}, {.label = "auto"}}, /* both are the job as it is */
        .n_arms = 2,
        .seed = 1,
        .steps = (uint64_t)fmin(fmax(steps, STEPS_LEAST), 200),
        .warmup = WARM,
        .calls = set->torch.n ? 0 : (uint64_t)j->calls,
        .bytes_least = (uint64_t)((set->lossy ? BYTES_LEAST_LOSSY : BYTES_LEAST) * bytes),
        .bytes_most = (uint64_t)(BYTES_MOST * bytes)};
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

static void add_tools(struct text *t, struct words *names, const struct tune_launch *l)
{
    const struct tune_job *j = l->job;
    if (j->object) {
        add_first(t, names, "LD_PRELOAD", j->object);
        if (!words_has(names, TUNE_ARM))
            add_export(t, names, "GRADSYNC_PRICE", l->ranks.config);
    }
    if (j->python) {
        add_first(t, names, "PYTHONPATH", j->python);
        add_export(t, names, "GRADSYNC_TORCH_OUT", l->ranks.path);
    }
    if (j->ask_link) {
        AUTO_FREE char *file = xstrfmt("%s/nccl.%%h.%%p", l->ranks.path);
        add_export(t, names, "NCCL_DEBUG", "INFO");
        add_export(t, names, "NCCL_DEBUG_SUBSYS", "INIT,ENV");
        add_export(t, names, "NCCL_DEBUG_FILE", file);
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

static char *script_of(const struct tune_launch *l, const struct tune_setting *set)
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
    add_tools(&t, &names, l);
    add_mpirun(&t, &names, l->job->command);
    text_addf(&t, "%s\n", l->job->command);
    return t.s;
}

/* ---- its times ---- */

static void from_ranks(struct tune_started *r, const struct trial_comm *c)
{
    r->n = 0;
    r->ranks = c->ranks;
    r->nodes = c->nodes;
    r->calls = c->step_calls;
    r->bytes = c->step_bytes;
    r->nccl = c->nccl;
    for (size_t i = 1; i < c->n; i++)
        APPEND(r->v, r->n) =
            (struct tune_sample){c->visits[i].most_ns, c->visits[i].steps - 1, c->visits[i].at};
}

/* Many jobs print the mean of ten steps or more. The time between lines tells how many. */
static double steps_of_line(const struct job_step *lines, size_t n)
{
    AUTO_FREE double *x = xcalloc(n + 1, sizeof *x);
    for (size_t i = 1; i < n; i++)
        x[i - 1] = (lines[i].at - lines[i - 1].at) / ((double)lines[i].ns * 1e-9);
    return n > 1 ? fmax(1, stats_median(x, n - 1)) : 1;
}

static void from_lines(struct tune_started *r, const struct job_times *times)
{
    const struct job_step *steps;
    size_t n = job_times_get(times, &steps);
    r->n = 0;
    r->line_steps = steps_of_line(steps, n);
    for (size_t i = (size_t)ceil(LINE_STEPS_WARM / r->line_steps); i < n; i++)
        APPEND(r->v, r->n) = (struct tune_sample){steps[i].ns, 1, steps[i].at};
}

static double sum_s(const struct tune_started *r)
{
    double sum = 0;
    for (size_t i = 0; i < r->n; i++)
        sum += (double)r->v[i].ns * 1e-9;
    return sum;
}

int tune_launch_ranks(struct trial_ranks *all, const struct tune_launch *l)
{
    char why[400];
    err_capture(why, sizeof why);
    int code = trial_ranks_read(all, l->ranks.path);
    err_capture(NULL, 0);
    return code;
}

/* The job as it is and a setting are measured in the same way: by the calls of the ranks, or by lines. A step
 * of the one may be several of the other. */
static bool may_count_calls(const struct tune_job *j)
{
    return j->object && (!(j->step_s > 0) || j->calls);
}

static bool may_read_lines(const struct tune_job *j)
{
    return !(j->step_s > 0) || !j->calls;
}

static bool read_ranks(struct start *s)
{
    AUTO(trial_ranks_free) struct trial_ranks all = {0};
    const struct trial_comm *c =
        tune_launch_ranks(&all, &s->launch) ? NULL : trial_ranks_lead(&all);
    s->alone = !all.n && all.alone;
    s->seen = all.n;
    for (size_t i = 0; i < all.n; i++)
        s->r->captured = s->r->captured || all.v[i].captured;
    if (c)
        from_ranks(s->r, c);
    return c;
}

/* ---- what else it left ---- */

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

static void read_link(struct tune_started *r, const char *line)
{
    enum tune_link link = link_of(line);
    const char *version = strstr(line, "NCCL version ");
    int v[3] = {0};
    char plus = 0; /* "2.28.9+cuda13.0"; not "2.27.0 or later" */
    if (version && sscanf(version, "NCCL version %d.%d.%d%c", v, v + 1, v + 2, &plus) == 4 &&
        plus == '+')
        r->nccl = v[0] * 10000 + v[1] * 100 + v[2];
    r->link = link > r->link ? link : r->link; /* the slowest of them */
}

/* Of sitecustomize.py: "rank", "ddp", "fsdp", "gloo", "memory BYTES", "changed TEXT". */
static void read_torch(struct tune_started *r, const char *line)
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

/* Every line of the files of this pattern. */
static void read_files(struct start *s, const char *pattern,
                       void (*take)(struct tune_started *, const char *))
{
    AUTO_WORDS struct words names = {0};
    files_list(s->launch.ranks.path, pattern, &names);
    for (size_t i = 0; i < names.n; i++) {
        AUTO_FREE char *path = xstrfmt("%s/%s", s->launch.ranks.path, names.v[i]);
        AUTO_TEXT struct text t = {0};
        if (!files_read(path, FILES_OWN, FILES_WHOLE_MAX, &t) || !t.s)
            continue;
        for (char *rest = t.s, *line; (line = strsep(&rest, "\n"));)
            take(s->r, line);
    }
}

static void read_rest(struct start *s)
{
    read_files(s, "nccl.*", read_link);
    read_files(s, "torch.*", read_torch);
    /* The object saw collectives, and there is no NCCL: they are MPI's. */
    if (s->r->calls && !s->r->nccl && s->r->link == TUNE_UNKNOWN)
        s->r->link = TUNE_MPI;
}

static bool enough(void *ctx)
{
    struct start *s = ctx;
    double now = clock_now_s();
    if (now < s->launch.looked_at + LOOK_S)
        return false;
    s->launch.looked_at = now;
    if (may_count_calls(s->launch.job) && read_ranks(s))
        return s->r->n >= VISITS ||
               (s->r->n >= VISITS_LEAST && sum_s(s->r) >= 2 * s->launch.job->measure_s);
    if (s->alone)
        return true;
    if (!may_read_lines(s->launch.job))
        return false;
    from_lines(s->r, s->times);
    if (!s->seen && !s->r->n)
        read_files(s, "torch.*", read_torch);
    if (s->r->gloo && !s->r->n)
        return true;
    double steps = (double)s->r->n * s->r->line_steps;
    return s->r->n >= LINES_LEAST && steps >= LINE_STEPS_LEAST &&
           sum_s(s->r) * s->r->line_steps >= s->launch.job->measure_s;
}

/* A start looks for its step in 64 calls, or in 256 if a step has up to 4 (price/trial_config.h); one
 * that is told the number of calls needs 2 steps. */
double tune_next_s(const struct tune_started *r)
{
    double calls = fmax((double)r->calls, 1);
    double looked = fmax(4, (calls <= 4 ? 256 : 64) / calls);
    double spared = fmax(0, looked - 2) * r->step_s;
    return r->calls ? fmax(r->took_s - spared, r->took_s / 10) : r->took_s;
}

static void judge(struct start *s, const struct job_ended *e, double timeout_s)
{
    const struct job_output *o = &s->launch.output;
    struct tune_started *r = s->r;
    AUTO_FREE char *reason = job_output_reason(o);
    if (e->lost)
        r->kind = job_ended_kind(e, r->why, sizeof r->why);
    if (r->n >= VISITS_LEAST || e->lost)
        return; /* a job that ended by itself gave enough, or was ended */
    const char *seen = r->captured ? "its collectives are in a CUDA graph"
                       : s->seen   ? "the sequence of its collectives did not repeat"
                       : r->gloo   ? "its DDP uses Gloo, whose collectives gradsync does not see"
                                   : "no collective of NCCL or MPI on two ranks or more was seen";
    AUTO_FREE char *nothing = xstrfmt(
        "%s, and %s", seen,
        may_read_lines(s->launch.job)
            ? "it prints no step times that gradsync knows: let it print lines such as 'step "
              "time: 12.3 ms'"
            : "the job as it is was measured by its collectives");
    r->kind = job_ended_kind(e, r->why, sizeof r->why);
    size_t n = strlen(r->why);
    if (s->alone) {
        r->kind = "failed";
        r->ranks = 1;
        snprintf(r->why, sizeof r->why, "the job has one rank, which does not communicate");
    } else if (e->enough) {
        r->kind = "failed";
        snprintf(r->why, sizeof r->why, "%s; ended%s", nothing, reason);
    } else if (e->hung) {
        snprintf(r->why, sizeof r->why, "no step was measured in %s: %s; ended%s",
                 HUMAN_TIME(timeout_s), nothing, reason);
    } else if (r->kind) {
        snprintf(r->why + n, sizeof r->why - n, "%s", reason);
    } else {
        snprintf(r->why, sizeof r->why, "it ended after %s with too few steps to measure: %s%s",
                 HUMAN_TIME(e->took_s), nothing, reason);
    }
    r->kind = r->kind ? r->kind : "failed";
}

int tune_launch_run(struct tune_launch *l, const struct tune_setting *set,
                    const struct trial_config *config, double timeout_s, bool (*over)(void *),
                    struct job_ended *ended)
{
    const struct job_hooks hooks = {.take = job_output_take,
                                    .meanwhile = job_output_meanwhile,
                                    .enough = over,
                                    .at_once = true,
                                    .ctx = l};
    int code = trial_folder_make(&l->ranks, l->job->out, config);
    AUTO_FREE char *script = code ? NULL : script_of(l, set);
    code = code ? code : job_guarded(script, timeout_s, l->job->interrupts, &hooks, ended);
    if (!code && (ended->enough || ended->hung || ended->stopped))
        l->output.times = NULL; /* the line that it was writing may lack digits */
    job_output_end(&l->output);
    return code;
}

void tune_launch_end(struct tune_launch *l)
{
    job_output_free(&l->output);
    trial_folder_remove(&l->ranks);
}

int tune_start(const struct tune_job *j, const struct tune_setting *set, double timeout_s,
               struct tune_started *r)
{
    AUTO(job_times_free_of) struct job_times *times = job_times_new();
    struct start s = {
        .launch = {.output = {.log = j->log, .times = times}, .job = j}, .times = times, .r = r};
    const struct trial_config config = visits_config(j, set);
    struct job_ended ended;
    *r = (struct tune_started){.watch = job_watch_new()};
    s.launch.output.job = r->watch;
    int code = tune_launch_run(&s.launch, set, &config, timeout_s, enough, &ended);
    if (!code) {
        r->took_s = ended.took_s;
        r->stopped = ended.stopped;
        if (!(may_count_calls(j) && read_ranks(&s)) && may_read_lines(j))
            from_lines(r, times);
        read_rest(&s);
        judge(&s, &ended, timeout_s);
        AUTO_FREE double *x = xcalloc(r->n + 1, sizeof *x);
        for (size_t i = 0; i < r->n; i++)
            x[i] = (double)r->v[i].ns * 1e-9 / (double)r->v[i].steps;
        r->step_s = r->n ? stats_median(x, r->n) : (double)NAN;
    }
    tune_launch_end(&s.launch);
    return code;
}

void tune_started_free(struct tune_started *r)
{
    if (r->watch)
        job_watch_free(r->watch);
    free(r->v);
    *r = (struct tune_started){0};
}
