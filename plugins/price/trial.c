/* SPDX-License-Identifier: Apache-2.0 */
#include "price/trial.h"

#include "common/clock.h"
#include "common/rng.h"
#include "common/choice.h"

#include <ctype.h>
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Steps between other calls and the next visit, unless other calls come more often. */
#define TRIAL_SETTLE 4
#define TRIAL_ANSWER 64

/* ---- what runs here ---- */

int nccl_version(void)
{
    int version = 0;
    void *library = dlopen("libnccl.so.2", RTLD_LAZY | RTLD_NOLOAD);
    int (*get)(int *) = NULL;
    *(void **)&get = dlsym(library ? library : RTLD_DEFAULT, "ncclGetVersion");
    if (get && get(&version))
        version = 0;
    if (library)
        dlclose(library);
    return version;
}

#define NCCL_GPU_UUID 41

/* "GPU-xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx" of the GPU that this thread has made current, as NVML
 * names it. False: no CUDA driver, or no current GPU. The functions are cuda.h's, whose ABI is stable. */
static bool nccl_gpu_uuid(char uuid[NCCL_GPU_UUID])
{
    int (*current)(int *) = NULL, (*ask)(unsigned char *, int) = NULL, device;
    unsigned char b[16];
    bool found = false;
    void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    if (!driver)
        return false;
    *(void **)&current = dlsym(driver, "cuCtxGetDevice");
    *(void **)&ask = dlsym(driver, "cuDeviceGetUuid");
    found = current && ask && !current(&device) && !ask(b, device);
    if (found)
        snprintf(uuid, NCCL_GPU_UUID,
                 "GPU-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", b[0],
                 b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13],
                 b[14], b[15]);
    dlclose(driver);
    return found;
}

/* ---- agreement ----
 *
 * Agreement between the ranks of a communicator on facts that the sequence of calls does not give:
 * whether all ranks are here, whether time is up, which arm to keep. NCCL hangs or corrupts data if
 * ranks choose differently, so no rank may act on something that only it has seen.
 *
 * Each question has a key, and every rank asks it at the same call. The first rank answers: it
 * creates the symbolic link out/agree/COMM.KEY, whose target is its answer. This is one atomic
 * operation, also on a shared file system, and fails if the link exists. Every rank, also the
 * first, then reads the answer from the link. A rank that can neither create nor read the link gets
 * no answer, and must not change the calls.
 */

/* `answer` holds this rank's proposal, and afterwards the common answer. False: there is none. */
static bool agree(const char *out, const char *comm, const char *key, char *answer, size_t n)
{
    char path[4096];
    int length = snprintf(path, sizeof path, "%s/agree/%s.%s", out, comm, key);
    if (length < 0 || (size_t)length >= sizeof path)
        return false;
    if (symlink(answer, path) && errno != EEXIST)
        return false;
    ssize_t got = readlink(path, answer, n - 1);
    if (got < 0 || (size_t)got == n - 1)
        return false;
    answer[got] = '\0';
    return true;
}

/* Number of answers whose key begins with `prefix`. */
static size_t agree_count(const char *out, const char *comm, const char *prefix)
{
    char path[4096], name[256];
    int length = snprintf(path, sizeof path, "%s/agree", out);
    int begins = snprintf(name, sizeof name, "%s.%s", comm, prefix);
    if (length < 0 || (size_t)length >= sizeof path || begins < 0 || (size_t)begins >= sizeof name)
        return 0;
    size_t n = 0;
    DIR *d = opendir(path);
    for (struct dirent *e; d && (e = readdir(d));)
        n += !strncmp(e->d_name, name, (size_t)begins);
    if (d)
        closedir(d);
    return n;
}

/* ---- the log ----
 *
 * The log that one rank writes about one communicator: JSON Lines in out/COMM.HOST.PID.N.jsonl,
 * each line appended with one write(2).
 *   comm      once: schema, host, pid, rank (of the job, -1: unknown), comm, ranks, nodes, abi,
 *             takes_part, nccl (its version, 0: unknown), host, gpu (its UUID, "": unknown), at_ns
 *             (CLOCK_MONOTONIC), unix_s
 *   step      a step was found: number (from 1), call (of the communicator, from 1), calls per
 *             step, bytes per step, hash (of the calls)
 *   begin     visits begin, or get shorter: steps per visit, step (its number), block (the first)
 *   visit     step (its number), block, visit (in the block), arm, copy, steps, calls, taken
 *             {"ring/LL128": calls, ...} (the pair with the lowest cost), ran {"ring/LL128 ctas=8":
 *             calls, ...} (as NCCL reports them, without those of the first step; without ctas
 *             before 2.27; empty before 2.24; of a price: how much of them was communicated, {"none":
 *             calls, "all": calls, ...}), unavailable (calls for which the arm's choice is
 *             not available), at_ns: the first call of each step and of the step after the last
 *   dropped   block, visit, arm, step (of the visit), call: other calls interrupted the visit
 *   captured  call: NCCL captured a collective in a CUDA graph (the first time)
 *   over      the visits have ended, and why
 *   kept      arm: from now on every call gets it
 *   loaded    instead of all others, in loaded.HOST.PID.N.jsonl: a process loaded the plugin; nccl.
 *             From the price only at the end of a process without a call that it saw: has_cuda,
 *             has_nccl, has_mpi, alone (a communicator of one rank made calls)
 *   end       calls, bytes, state, visits, dropped, last_call_ns, at_ns: the communicator or the
 *             process ended. A program that is killed writes no end line
 */

#define JOURNAL_HOST 128

struct line {
    size_t n;
    char s[16384];
};

#define NAME_TRIES 1000 /* ranks in containers may share a host's name and their process id */

/* The name of this host, without what a JSON text or the name of a file cannot hold. */
static void journal_host(char name[JOURNAL_HOST])
{
    if (gethostname(name, JOURNAL_HOST) || !*name)
        snprintf(name, JOURNAL_HOST, "host");
    name[JOURNAL_HOST - 1] = '\0';
    for (char *c = name; *c; c++) /* it becomes part of a file's name and of a JSON text */
        if (*c == '/' || *c == '"' || *c == '\\' || (unsigned char)*c < ' ')
            *c = '_';
}

bool journal_open(struct journal *j, const char *out, const char *comm)
{
    char path[4096], host[JOURNAL_HOST];
    journal_host(host);
    j->fd = -1;
    for (int i = 0; i < NAME_TRIES && j->fd < 0; i++) {
        snprintf(j->name, sizeof j->name, "%s.%s.%ld.%d.jsonl", comm, host, (long)getpid(), i);
        int length = snprintf(path, sizeof path, "%s/%s", out, j->name);
        if (length < 0 || (size_t)length >= sizeof path)
            return false;
        j->fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666);
        if (j->fd < 0 && errno != EEXIST)
            return false;
    }
    return j->fd >= 0;
}

/* A line that cannot be written is lost: the job must not fail. */
static void put(struct journal *j, struct line *l)
{
    if (j->fd < 0)
        return;
    l->s[l->n < sizeof l->s ? l->n : sizeof l->s - 1] = '\n';
    ssize_t got = write(j->fd, l->s, l->n + 1);
    (void)got;
}

void journal_close(struct journal *j)
{
    if (j->fd >= 0)
        close(j->fd);
    j->fd = -1;
}

static void add(struct line *l, const char *fmt, va_list args)
{
    int n = vsnprintf(l->s + l->n, sizeof l->s - l->n, fmt, args);
    if (n > 0)
        l->n = l->n + (size_t)n < sizeof l->s ? l->n + (size_t)n : sizeof l->s - 1;
}

/* Appends text; cuts off the part that does not fit. */
__attribute__((format(printf, 2, 3))) static void line_add(struct line *l, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    add(l, fmt, args);
    va_end(args);
}

void journal_line(struct journal *j, const char *fmt, ...)
{
    struct line l = {0};
    va_list args;
    va_start(args, fmt);
    add(&l, fmt, args);
    va_end(args);
    put(j, &l);
}

/* ---- its lines ---- */

/* The arm of the current visit, and which of the baseline's two copies it is. */
static size_t trial_arm_now(const struct trial *t)
{
    size_t i = t->order[t->visit];
    return i == t->config->n_arms ? 0 : i;
}

static int trial_copy_now(const struct trial *t)
{
    return t->order[t->visit] == t->config->n_arms;
}

static const char *const state_names[] = {
    [TRIAL_LEARN] = "learn", [TRIAL_WARM] = "warm", [TRIAL_RUN] = "run",
    [TRIAL_HOLD] = "hold",   [TRIAL_KEPT] = "kept", [TRIAL_OFF] = "off"};

typedef unsigned long long ull;

static long long job_rank(void)
{
    static const char *const names[] = {"RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *v = getenv(names[i]);
        if (v && isdigit((unsigned char)*v))
            return atoll(v);
    }
    return -1;
}

static void trial_write_comm(struct trial *t, size_t nodes, int abi)
{
    char host[JOURNAL_HOST], gpu[NCCL_GPU_UUID] = "";
    journal_host(host);
    nccl_gpu_uuid(gpu);
    journal_line(&t->journal,
                 "{\"type\":\"comm\",\"schema\":1,\"file\":\"%s\",\"rank\":%lld,\"comm\":\"%s\","
                 "\"ranks\":%zu,\"nodes\":%zu,\"abi\":%d,\"nccl\":%d,\"takes_part\":%s,"
                 "\"host\":\"%s\",\"gpu\":\"%s\",\"at_ns\":%llu,\"unix_s\":%lld}",
                 t->journal.name, job_rank(), t->comm, t->ranks, nodes, abi, nccl_version(),
                 t->takes_part ? "true" : "false", host, gpu, (ull)now_ns(), (long long)time(NULL));
}

static void trial_write_step(struct trial *t)
{
    const struct sequence *s = &t->sequence;
    uint64_t bytes = 0;
    for (size_t i = 0; i < s->period; i++)
        bytes += s->pattern[i] >> 4;
    journal_line(&t->journal,
                 "{\"type\":\"step\",\"number\":%u,\"call\":%llu,\"calls\":%zu,\"bytes\":%llu,"
                 "\"hash\":\"%08x\"}",
                 t->number, (ull)t->calls, s->period, (ull)bytes, t->step_hash);
}

static void trial_write_begin(struct trial *t)
{
    journal_line(&t->journal, "{\"type\":\"begin\",\"step\":%u,\"steps\":%llu,\"block\":%llu}",
                 t->number, (ull)t->steps, (ull)t->block);
}

static void add_taken(struct line *l, const struct trial *t)
{
    const char *comma = "";
    for (int i = 0; i < NCCL_PAIRS; i++)
        if (t->taken[i]) {
            line_add(l, "%s\"%s/%s\":%llu", comma, choice_algo_name(i / NCCL_PROTOS),
                     choice_proto_name(i % NCCL_PROTOS), (ull)t->taken[i]);
            comma = ",";
        }
}

static void add_ran(struct line *l, const struct trial *t)
{
    const char *comma = "";
    for (int i = 0; i < CHOICE_PARTS; i++)
        if (t->parts[i]) {
            line_add(l, "%s\"%s\":%llu", comma, choice_part_name(i), (ull)t->parts[i]);
            comma = ",";
        }
    for (int i = 0; i < NCCL_PAIRS; i++)
        for (int c = 0; c <= NCCL_MAX_CHANNELS; c++)
            if (t->ran[i][c]) {
                line_add(l, "%s\"%s/%s", comma, choice_algo_name(i / NCCL_PROTOS),
                         choice_proto_name(i % NCCL_PROTOS));
                if (c)
                    line_add(l, " ctas=%d", c);
                line_add(l, "\":%u", t->ran[i][c]);
                comma = ",";
            }
}

static void trial_write_visit(struct trial *t)
{
    struct line l = {0};
    line_add(&l,
             "{\"type\":\"visit\",\"step\":%u,\"block\":%llu,\"visit\":%zu,\"arm\":\"%s\","
             "\"copy\":%d,\"steps\":%llu,\"calls\":%llu,\"unavailable\":%llu,\"taken\":{",
             t->number, (ull)t->block, t->visit, t->config->arms[trial_arm_now(t)].label,
             trial_copy_now(t), (ull)t->steps, (ull)t->visit_calls, (ull)t->unavailable);
    add_taken(&l, t);
    line_add(&l, "},\"ran\":{");
    add_ran(&l, t);
    line_add(&l, "},\"at_ns\":[");
    for (uint64_t i = 0; i < t->n_at; i++)
        line_add(&l, "%s%llu", i ? "," : "", (ull)t->at_ns[i]);
    line_add(&l, "]}");
    put(&t->journal, &l);
}

static void trial_write_dropped(struct trial *t)
{
    journal_line(&t->journal,
                 "{\"type\":\"dropped\",\"block\":%llu,\"visit\":%zu,\"arm\":\"%s\",\"copy\":%d,"
                 "\"step\":%llu,\"call\":%llu}",
                 (ull)t->block, t->visit, t->config->arms[trial_arm_now(t)].label,
                 trial_copy_now(t), (ull)t->n_at, (ull)t->calls);
}

void trial_write_end(struct trial *t)
{
    journal_line(&t->journal,
                 "{\"type\":\"end\",\"calls\":%llu,\"bytes\":%llu,\"state\":\"%s\",\"visits\":%llu,"
                 "\"dropped\":%llu,\"last_call_ns\":%llu,\"at_ns\":%llu}",
                 (ull)t->calls, (ull)t->bytes, state_names[t->state], (ull)t->visits,
                 (ull)t->dropped, (ull)t->last_call_ns, (ull)now_ns());
}

/* ---- begin and end ---- */

static bool takes_part(const struct trial_config *c, size_t ranks)
{
    static const char *const names[] = {"WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE"};
    uint64_t want = c->ranks;
    for (size_t i = 0; !want && i < sizeof names / sizeof *names; i++) {
        const char *v = getenv(names[i]);
        want = v && isdigit((unsigned char)*v) ? strtoull(v, NULL, 10) : 0;
        want = want == 1 ? 0 : want;
    }
    return !want || want == ranks;
}

/* FNV-1a */
uint32_t trial_hash(const void *bytes, size_t n)
{
    const unsigned char *b = bytes;
    uint32_t h = 2166136261u;
    for (size_t i = 0; i < n; i++)
        h = (h ^ b[i]) * 16777619u;
    return h;
}

bool trial_begin(struct trial *t, const struct trial_config *c, const char *id, size_t ranks,
                 size_t nodes, int abi)
{
    *t = (struct trial){
        .config = c, .ranks = ranks, .takes_part = takes_part(c, ranks), .settle = TRIAL_SETTLE};
    /* Ranks that read different configs must not take each other for partners. */
    snprintf(t->comm, sizeof t->comm, "%.40s-%08x%s", id, trial_hash(c, sizeof *c),
             t->takes_part ? "" : "-x");
    if (!journal_open(&t->journal, c->out, t->comm))
        return false;
    seq_begin(&t->sequence, c->calls);
    t->sequence.bytes_least = c->bytes_least;
    t->sequence.bytes_most = c->bytes_most;
    trial_write_comm(t, nodes, abi);
    return true;
}

void trial_end(struct trial *t)
{
    trial_write_end(t);
    journal_close(&t->journal);
    seq_end(&t->sequence);
}

/* ---- for what feeds the calls ---- */

void trial_name(char *id, size_t n, size_t ranks, int rank)
{
    static struct {
        size_t ranks;
        int rank;
        unsigned count;
    } seen[256];
    size_t i = 0;
    while (i < 255 && seen[i].ranks && (seen[i].ranks != ranks || seen[i].rank != rank))
        i++;
    seen[i].ranks = ranks;
    seen[i].rank = rank;
    snprintf(id, n, "r%zuc%u", ranks, seen[i].count++);
}

/* Only the first rank of a host reports, if the launcher numbers them. */
void trial_complain(const char *who, const char *why, const char *effect)
{
    const char *names[] = {"LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "SLURM_LOCALID"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *rank = getenv(names[i]);
        if (rank && strcmp(rank, "0"))
            return;
        if (rank)
            break;
    }
    fprintf(stderr, "%s: %s; %s\n", who, why, effect);
}

/* ---- questions ---- */

/* False: no agreement is possible. */
static bool trial_ask(struct trial *t, const char *what, uint64_t a, uint64_t b,
                      char answer[TRIAL_ANSWER])
{
    char key[96];
    snprintf(key, sizeof key, "%s-%llu-%llu", what, (ull)a, (ull)b);
    return agree(t->config->out, t->comm, key, answer, TRIAL_ANSWER);
}

static void step_key(char *key, size_t n, const struct trial *t)
{
    snprintf(key, n, "found-%u-%llu-%08x.", t->number, (ull)t->found_at, t->step_hash);
}

/* Tells the other ranks that this one found its step, which, and at which call. */
static void trial_announce_step(const struct trial *t)
{
    char key[512], answer[TRIAL_ANSWER] = "yes";
    step_key(key, sizeof key, t);
    size_t n = strlen(key);
    snprintf(key + n, sizeof key - n, "%s", t->journal.name);
    agree(t->config->out, t->comm, key, answer, sizeof answer);
}

/* Have all ranks found this step at the same call? A rank that has not runs without the plugin,
 * does not see the folder, or sees other calls. */
static bool trial_all_found_step(const struct trial *t)
{
    char key[96];
    step_key(key, sizeof key, t);
    return agree_count(t->config->out, t->comm, key) >= t->ranks;
}

/* Is the time over, or has gradsync asked for the end? */
static bool trial_asked_to_stop(const struct trial *t)
{
    char path[4096];
    uint64_t limit = t->config->seconds * 1000000000u;
    snprintf(path, sizeof path, "%s/stop", t->config->out);
    return (limit && now_ns() - t->begun_ns >= limit) || !access(path, F_OK);
}

/* The number of the arm that gradsync wants to keep, or "none". */
static void trial_read_keep(const struct trial *t, char answer[TRIAL_ANSWER])
{
    char path[4096];
    unsigned long arm = t->config->n_arms;
    snprintf(path, sizeof path, "%s/keep", t->config->out);
    FILE *f = fopen(path, "re");
    if (f && fscanf(f, "%lu", &arm) != 1)
        arm = t->config->n_arms;
    if (f)
        fclose(f);
    if (arm < t->config->n_arms)
        snprintf(answer, TRIAL_ANSWER, "%lu", arm);
    else
        strcpy(answer, "none");
}

/* ---- states ---- */

/* The next call of the communicator: its arm, or TRIAL_UNCHANGED. */
#define TRIAL_UNCHANGED (-1)

#define STEPS_LEAST 4 /* a visit: the first is thrown away */
#define WARM_LEAST 3  /* to know how long a step takes */
#define DROPS 2       /* of one visit in a row, before visits get shorter */
#define TRIES 16      /* questions whether to begin */
#define KEEP_EVEN 64  /* questions which arm to keep, one a visit's steps; then ever more rarely */

/* ---- visits ---- */

static void over(struct trial *t, enum trial_state state, const char *why)
{
    t->state = state;
    t->visiting = false;
    t->held_steps = 0;
    t->next_keep = t->steps;
    journal_line(&t->journal, "{\"type\":\"over\",\"why\":\"%s\",\"visits\":%llu,\"at_ns\":%llu}",
                 why, (ull)t->visits, (ull)now_ns());
}

static void begin_visit(struct trial *t, uint64_t now)
{
    memset(t->taken, 0, sizeof t->taken);
    memset(t->ran, 0, sizeof t->ran);
    memset(t->parts, 0, sizeof t->parts);
    t->unavailable = t->visit_calls = 0;
    t->at_ns[0] = now;
    t->n_at = 1;
    t->visiting = true;
}

static void begin_block(struct trial *t)
{
    struct rng r;
    for (size_t i = 0; i <= t->config->n_arms; i++)
        t->order[i] = i;
    rng_stream(&r, t->config->seed, t->block);
    rng_shuffle(&r, t->order, t->config->n_arms + 1);
    t->visit = 0;
}

/* False: the trial is over. */
static bool end_block(struct trial *t)
{
    char answer[TRIAL_ANSWER];
    t->block++;
    if (++t->blocks == t->config->blocks) {
        over(t, TRIAL_HOLD, "blocks");
        return false;
    }
    strcpy(answer, trial_asked_to_stop(t) ? "stop" : "go");
    if (!trial_ask(t, "block", t->number, t->block, answer)) {
        over(t, TRIAL_OFF, "the ranks cannot agree");
        return false;
    }
    if (strcmp(answer, "go")) {
        over(t, TRIAL_HOLD, "stop");
        return false;
    }
    begin_block(t);
    return true;
}

static void run_step(struct trial *t, uint64_t now)
{
    if (!t->visiting) {
        if (t->settling)
            t->settling--;
        else
            begin_visit(t, now);
        return;
    }
    t->at_ns[t->n_at++] = now;
    if (t->n_at <= t->steps)
        return;
    trial_write_visit(t);
    t->visits++;
    t->in_a_row = 0;
    if (++t->visit <= t->config->n_arms || end_block(t))
        begin_visit(t, now);
}

static void drop_visit(struct trial *t)
{
    if (t->state != TRIAL_RUN)
        return;
    if (t->settling)
        t->settle /= 2; /* other calls come more often than that */
    t->settling = t->settle;
    if (!t->visiting)
        return;
    trial_write_dropped(t);
    t->dropped++;
    t->visiting = false;
    if (++t->in_a_row < DROPS)
        return;
    t->in_a_row = 0;
    if (t->steps == STEPS_LEAST) {
        t->settle /= 2;
        return;
    }
    /* The job interrupts its steps more often than a visit takes: shorter visits, in a new block. */
    t->steps = t->steps / 2 < STEPS_LEAST ? STEPS_LEAST : t->steps / 2;
    t->block++;
    begin_block(t);
    trial_write_begin(t);
}

/* ---- the other states ---- */

static uint64_t steps_a_visit(const struct trial *t, uint64_t now)
{
    if (t->config->steps)
        return t->config->steps < STEPS_LEAST ? STEPS_LEAST : t->config->steps;
    uint64_t step_ns = (now - t->warm_from_ns) / (t->warm_steps - 1);
    uint64_t steps = t->config->visit_ms * 1000000u / (step_ns ? step_ns : 1) + 1;
    steps = steps < STEPS_LEAST ? STEPS_LEAST : steps;
    return steps > TRIAL_STEPS ? TRIAL_STEPS : steps;
}

static void ask_begin(struct trial *t, uint64_t now)
{
    char answer[TRIAL_ANSWER], *end;
    if (trial_all_found_step(t))
        snprintf(answer, sizeof answer, "%llu", (unsigned long long)steps_a_visit(t, now));
    else
        strcpy(answer, "wait");
    if (!trial_ask(t, "begin", t->number, t->tries, answer)) {
        over(t, TRIAL_OFF, "the ranks cannot agree");
        return;
    }
    t->warm_steps = 0;
    uint64_t steps = strtoull(answer, &end, 10);
    if (!isdigit((unsigned char)*answer) || *end || steps < STEPS_LEAST || steps > TRIAL_STEPS) {
        if (++t->tries == TRIES)
            over(t, TRIAL_OFF, "the ranks did not find the same step");
        return;
    }
    t->steps = steps;
    t->state = TRIAL_RUN;
    t->begun_ns = t->begun_ns ? t->begun_ns : now;
    begin_block(t);
    trial_write_begin(t);
    begin_visit(t, now);
}

static void warm_step(struct trial *t, uint64_t now)
{
    uint64_t warmup = t->config->warmup > WARM_LEAST ? t->config->warmup : WARM_LEAST;
    if (t->warm_steps++ == 0)
        t->warm_from_ns = now;
    if (t->warm_steps > warmup)
        ask_begin(t, now);
}

static void hold_step(struct trial *t)
{
    char answer[TRIAL_ANSWER];
    if (++t->held_steps < t->next_keep)
        return;
    t->next_keep += t->asked_keep < KEEP_EVEN ? t->steps : t->held_steps;
    trial_read_keep(t, answer);
    if (!trial_ask(t, "keep", 0, t->asked_keep++, answer)) {
        over(t, TRIAL_OFF, "the ranks cannot agree");
    } else if (isdigit((unsigned char)*answer)) {
        t->kept = strtoul(answer, NULL, 10) % t->config->n_arms;
        t->state = TRIAL_KEPT;
        journal_line(&t->journal, "{\"type\":\"kept\",\"arm\":\"%s\",\"call\":%llu}",
                     t->config->arms[t->kept].label, (ull)t->calls);
    }
}

static void found(struct trial *t)
{
    drop_visit(t);
    t->number++;
    t->found_at = t->calls;
    t->step_hash = trial_hash(t->sequence.pattern, t->sequence.period * sizeof(uint64_t));
    trial_write_step(t);
    trial_announce_step(t);
    if (t->state == TRIAL_RUN)
        t->block++;
    if (t->state != TRIAL_HOLD)
        t->state = TRIAL_WARM;
    t->warm_steps = t->tries = 0;
    t->blocks = 0;
}

static void step(struct trial *t)
{
    uint64_t now = now_ns();
    t->last_call_ns = now;
    if (t->state == TRIAL_WARM)
        warm_step(t, now);
    else if (t->state == TRIAL_RUN)
        run_step(t, now);
    else
        hold_step(t);
}

/* ---- calls ---- */

static int trial_next(struct trial *t, int func, size_t bytes)
{
    enum seq_event event;
    t->calls++;
    t->bytes += bytes;
    if (t->state == TRIAL_KEPT)
        return (int)t->kept;
    if (t->state == TRIAL_OFF || !t->takes_part)
        return TRIAL_UNCHANGED;
    event = seq_call(&t->sequence, func, bytes);
    if (event <= SEQ_LOST)
        t->last_call_ns = now_ns();
    if (event == SEQ_FOUND)
        found(t);
    else if (event == SEQ_LOST)
        drop_visit(t);
    else if (event == SEQ_STEP)
        step(t);
    if (t->state == TRIAL_KEPT)
        return (int)t->kept;
    if (!t->visiting || (event != SEQ_STEP && event != SEQ_INSIDE))
        return TRIAL_UNCHANGED;
    t->visit_calls++;
    return (int)trial_arm_now(t);
}

enum choice_part trial_part(struct trial *t, int func, size_t bytes)
{
    int arm = trial_next(t, func, bytes);
    enum choice_part part = PART_ALL;
    if (arm != TRIAL_UNCHANGED && bytes >= TRIAL_PART_LEAST)
        part = t->config->arms[arm].choice.part;
    if (arm != TRIAL_UNCHANGED && t->visiting)
        t->parts[part]++;
    return part;
}

/* NCCL reports a call after it has asked about it, and the calls of a group after it has asked
 * about all of them. So calls of another visit are only among those reported in the first step. */
void trial_ran(struct trial *t, int pair, int channels)
{
    if (t->visiting && t->n_at > 1 && channels >= 0 && channels <= NCCL_MAX_CHANNELS)
        t->ran[pair][channels]++;
}

void trial_captured(struct trial *t)
{
    if (t->captured++ == 0)
        journal_line(&t->journal, "{\"type\":\"captured\",\"call\":%llu}", (ull)t->calls);
}
