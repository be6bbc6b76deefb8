/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/engine.h"

#include "common/clock.h"
#include "common/rng.h"
#include "engine/sequence.h"

#include <ctype.h>
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef unsigned long long ull;

#define ANSWER 96
#define STEPS_LEAST 2 /* a visit: the first is not counted */
#define STEPS_SHORT                                                                                \
    4 /* of steps that are shorter than LONG_STEP_NS: the first takes less of a visit */
#define LONG_STEP_NS 500000000u
#define WARM_LEAST 3          /* to know how long a step takes */
#define TRIES 16              /* steps that ask whether to begin; of later ones each 16th does, */
#define TRIES_NS 10000000000u /* for so long: the hosts of some ranks may be many steps behind */
#define FULL_TRIES 100        /* a full disk: 5 s */

/* ---- the config ---- */

static struct engine_config *config;
static bool leaves_out; /* by GRADSYNC_PRICE_ARM */
static pthread_once_t once = PTHREAD_ONCE_INIT;

void engine_complain(const char *fmt, ...)
{
    static const char *const names[] = {"LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK",
                                        "SLURM_LOCALID"};
    char text[4096];
    va_list args;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *rank = getenv(names[i]);
        if (rank && strcmp(rank, "0"))
            return;
        if (rank)
            break;
    }
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    fprintf(stderr, "gradsync: %s\n", text);
}

static void load(void)
{
    char why[4600];
    const char *path = getenv("GRADSYNC_ENGINE"), *name = getenv("GRADSYNC_PRICE_ARM");
    if (path && *path) {
        config = engine_config_read(path, why, sizeof why);
        if (!config)
            engine_complain("%s; no collective is changed", why);
    } else {
        leaves_out = name && !strcmp(name, "none");
    }
}

const struct engine_config *engine_config(void)
{
    pthread_once(&once, load);
    return config;
}

bool engine_is_on(void)
{
    pthread_once(&once, load);
    return config || leaves_out;
}

enum engine_part engine_fixed(enum engine_func func, size_t bytes)
{
    static bool set_up;
    bool large = bytes >= PART_LEAST;
    set_up = set_up || (large && func != FUNC_BROADCAST && func != FUNC_SEND_RECV);
    return set_up && large ? PART_NONE : PART_ALL;
}

static bool take_arms(void)
{
    char path[4200], why[4600];
    uint64_t until = now_ns() + config->wait_s * 1000000000u;
    struct timespec pause = {.tv_nsec = 5000000};
    int length = snprintf(path, sizeof path, "%s/arms", config->out);
    if (length < 0 || (size_t)length >= sizeof path)
        return false;
    while (access(path, R_OK)) {
        if (now_ns() >= until) {
            engine_complain("%s did not appear within %llu s; no collective is changed", path,
                            (ull)config->wait_s);
            return false;
        }
        nanosleep(&pause, NULL);
    }
    if (!engine_config_arms(config, path, why, sizeof why)) {
        engine_complain("%s; no collective is changed", why);
        return false;
    }
    return true;
}

bool engine_arms(void)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static int known; /* 1: there, -1: not to be had */
    pthread_mutex_lock(&lock);
    if (!known)
        known = !config->later || take_arms() ? 1 : -1;
    if (known < 0)
        config->n_arms = 0;
    pthread_mutex_unlock(&lock);
    return known > 0;
}

uint64_t engine_hash(uint64_t seed, const void *bytes, size_t n)
{
    const unsigned char *b = bytes;
    uint64_t h = seed ^ UINT64_C(14695981039346656037); /* FNV-1a */
    for (size_t i = 0; i < n; i++)
        h = (h ^ b[i]) * UINT64_C(1099511628211);
    return rng_mix(h);
}

/* ---- agreement ---- */

static bool agree_path(char *path, size_t n, const char *key)
{
    int length = snprintf(path, n, "%s/agree/%s", config->out, key);
    return length > 0 && (size_t)length < n;
}

static bool read_answer(const char *path, char *answer, size_t n)
{
    ssize_t got = readlink(path, answer, n - 1);
    if (got < 0 || (size_t)got == n - 1)
        return false;
    answer[got] = '\0';
    return true;
}

bool agree(const char *key, char *answer, size_t n)
{
    char path[4400];
    if (!agree_path(path, sizeof path, key))
        return false;
    if (symlink(*answer ? answer : "-", path) && errno != EEXIST)
        return false;
    return read_answer(path, answer, n);
}

bool agreed(const char *key, char *answer, size_t n)
{
    char path[4400];
    return agree_path(path, sizeof path, key) && read_answer(path, answer, n);
}

int agree_wait(const char *key, int ranks, uint64_t wait_s,
               void (*take)(void *ctx, int rank, const char *answer), void *ctx)
{
    char path[4400], each[400], answer[1024];
    uint64_t until = now_ns() + wait_s * 1000000000u;
    struct timespec pause = {.tv_nsec = 1000000};
    for (int r = 0; r < ranks; r++) {
        snprintf(each, sizeof each, "%s.%d", key, r);
        if (!agree_path(path, sizeof path, each))
            return r;
        while (!read_answer(path, answer, sizeof answer)) {
            if (now_ns() >= until)
                return r;
            nanosleep(&pause, NULL);
            if (pause.tv_nsec < 20000000)
                pause.tv_nsec *= 2;
        }
        if (take)
            take(ctx, r, answer);
    }
    return -1;
}

/* Number of answers whose key begins with `prefix`. */
static size_t agree_count(const char *prefix)
{
    char path[4400];
    size_t n = 0;
    if (!agree_path(path, sizeof path, ""))
        return 0;
    DIR *d = opendir(path);
    for (struct dirent *e; d && (e = readdir(d));)
        n += !strncmp(e->d_name, prefix, strlen(prefix));
    if (d)
        closedir(d);
    return n;
}

void arm_died(const char *arm, const char *why)
{
    char key[64 + ENGINE_ID], answer[1024];
    snprintf(key, sizeof key, "dead.%s", arm);
    snprintf(answer, sizeof answer, "%s", why);
    agree(key, answer, sizeof answer);
}

bool arm_is_dead(const char *arm)
{
    char key[64 + ENGINE_ID], answer[1024];
    snprintf(key, sizeof key, "dead.%s", arm);
    return agreed(key, answer, sizeof answer);
}

/* ---- journals ---- */

void journal_clean(char *text)
{
    for (char *c = text; *c; c++)
        if (*c == '/' || *c == '"' || *c == '\\' || (unsigned char)*c < ' ')
            *c = *c == '/' ? '/' : *c == '"' ? '\'' : ' ';
}

static void host_name(char *name, size_t n)
{
    if (gethostname(name, n) || !*name)
        snprintf(name, n, "host");
    name[n - 1] = '\0';
    for (char *c = name; *c; c++)
        if (!isalnum((unsigned char)*c) && !strchr("-_.", *c))
            *c = '_';
}

bool journal_open(struct journal *j, const char *name)
{
    char path[4400], host[128];
    host_name(host, sizeof host);
    j->fd = -1;
    for (int i = 0; i < 1000 && j->fd < 0; i++) { /* containers may share names and process ids */
        snprintf(j->name, sizeof j->name, "%s.%s.%ld.%d.jsonl", name, host, (long)getpid(), i);
        int length = snprintf(path, sizeof path, "%s/%s", config->out, j->name);
        if (length < 0 || (size_t)length >= sizeof path)
            return false;
        j->fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666);
        if (j->fd < 0 && errno != EEXIST)
            return false;
    }
    return j->fd >= 0;
}

struct line {
    size_t n;
    char s[16384];
};

static void add(struct line *l, const char *fmt, va_list args)
{
    int n = vsnprintf(l->s + l->n, sizeof l->s - l->n, fmt, args);
    if (n > 0)
        l->n = l->n + (size_t)n < sizeof l->s ? l->n + (size_t)n : sizeof l->s - 1;
}

__attribute__((format(printf, 2, 3))) static void line_add(struct line *l, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    add(l, fmt, args);
    va_end(args);
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

void journal_line(struct journal *j, const char *fmt, ...)
{
    struct line l = {0};
    va_list args;
    va_start(args, fmt);
    add(&l, fmt, args);
    va_end(args);
    put(j, &l);
}

/* ---- lanes ---- */

enum state { LEARN, WARM, RUN, OVER, OFF };

/* Marks of the beginnings of steps. `at_ns` of a GPU's clock are known only once it has passed the last one. */
struct visit {
    unsigned set, n;
    uint64_t at_ns[ENGINE_STEPS + 1];
    uint64_t block, calls, parts[ENGINE_PARTS];
    size_t place, arm;
    int copy;
    unsigned step;
};

struct lane_comm {
    struct lane *lane;
    unsigned number; /* of the lane, in order of creation */
    int ranks;
    uint64_t calls;
    struct sequence sequence;
};

/* Bytes of calls. */
struct sum {
    uint64_t all, large, reduced; /* of collectives; with PART_LEAST or more; of all-reduces */
    uint64_t other;
};

struct lane {
    char library[16], name[48], host[128], uuid[64];
    int nccl;
    size_t lanes; /* that must agree */
    bool told;    /* lanes: by the launcher */
    long long rank;
    struct lane_clock clock;
    bool has_clock;
    struct journal journal;
    enum state state;

    unsigned comms;
    struct lane_comm *driver; /* whose steps count */
    unsigned number;          /* of the step found */
    uint64_t asked, found_at, step_hash;
    uint64_t warm_steps, warm_from_ns, warm_step_ns;
    unsigned warm_set, warm_passed; /* marks of the steps so far; those that the GPU has passed */

    size_t arm;                                    /* of all calls now */
    uint64_t alive, begun_ns, block, steps, at;    /* at: steps of this visit */
    size_t place, n_order, order[ENGINE_ARMS + 1]; /* ENGINE_ARMS: the second auto */
    bool measuring;
    unsigned cut; /* visits of this block that were interrupted */
    struct visit now, pending;
    bool is_pending, switches;

    uint64_t calls, others, told_ns; /* told_ns: the latest "seen" */
    struct sum sum, sum_at,
        step; /* since the beginning; at the beginning of this step; of the last step */
    uint64_t visits, captured;
};

static uint64_t number_of(const char *const *names, size_t n, uint64_t none)
{
    for (size_t i = 0; i < n; i++) {
        const char *v = getenv(names[i]);
        if (v && isdigit((unsigned char)*v))
            return strtoull(v, NULL, 10);
    }
    return none;
}

struct lane *lane_new(const char *library, int nccl_version, const char *gpu_uuid,
                      const struct lane_clock *clock)
{
    static const char *const sizes[] = {"WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE"};
    static const char *const ranks[] = {"RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"};
    struct lane *l = calloc(1, sizeof *l);
    if (!l)
        return NULL;
    snprintf(l->library, sizeof l->library, "%s", library);
    snprintf(l->uuid, sizeof l->uuid, "%s", gpu_uuid);
    host_name(l->host, sizeof l->host);
    l->nccl = nccl_version;
    l->has_clock = clock;
    if (clock)
        l->clock = *clock;
    l->journal.fd = -1;
    l->rank = (long long)number_of(ranks, sizeof ranks / sizeof *ranks, (uint64_t)-1);
    l->lanes = number_of(sizes, sizeof sizes / sizeof *sizes, 0);
    l->told = l->lanes > 1;
    if (!l->told)
        l->lanes = 0;
    return l;
}

struct journal *lane_journal(struct lane *l)
{
    return &l->journal;
}

static void write_comm(struct lane *l)
{
    snprintf(l->name, sizeof l->name, "%s-%zu", l->library, l->lanes);
    journal_line(&l->journal,
                 "{\"type\":\"comm\",\"schema\":2,\"file\":\"%s\",\"rank\":%lld,\"comm\":\"%s\","
                 "\"ranks\":%zu,\"library\":\"%s\",\"nccl\":%d,\"clock\":\"%s\",\"host\":\"%s\","
                 "\"gpu\":\"%s\",\"at_ns\":%llu,\"unix_s\":%lld}",
                 l->journal.name, l->rank, l->name, l->lanes, l->library, l->nccl,
                 l->has_clock ? "gpu" : "host", l->host, l->uuid, (ull)now_ns(),
                 (long long)time(NULL));
}

static size_t agree_period(void *ctx, uint64_t call, size_t period)
{
    const struct lane_comm *c = ctx;
    char key[160], answer[ANSWER];
    snprintf(key, sizeof key, "%s.slow.%u.%llu.%llu", c->lane->name, c->number, (ull)c->calls,
             (ull)call);
    snprintf(answer, sizeof answer, "%zu", period);
    return agree(key, answer, sizeof answer) ? strtoull(answer, NULL, 10) : 0;
}

struct lane_comm *lane_comm_new(struct lane *l, int ranks, int rank)
{
    struct lane_comm *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    if (l->journal.fd < 0 && l->state != OFF) {
        l->lanes = l->told ? l->lanes : (size_t)ranks;
        l->rank = l->rank < 0 ? rank : l->rank;
        snprintf(l->name, sizeof l->name, "%s-%zu", l->library, l->lanes);
        if (!journal_open(&l->journal, l->name)) {
            engine_complain("%s: cannot be written to: %s; no collective is changed", config->out,
                            strerror(errno));
            l->state = OFF;
        }
        write_comm(l);
    } else if (!l->told && (size_t)ranks > l->lanes) {
        l->lanes = (size_t)ranks;
        write_comm(l);
    }
    *c = (struct lane_comm){.lane = l, .number = l->comms++, .ranks = ranks};
    seq_begin(&c->sequence, config->calls, agree_period, c);
    c->sequence.bytes_least = config->bytes_least;
    c->sequence.bytes_most = config->bytes_most;
    return c;
}

void lane_comm_end(struct lane_comm *c)
{
    struct lane *l = c->lane;
    if (l->driver == c) { /* another one may have steps */
        l->driver = NULL;
        l->state = l->state < OVER ? LEARN : l->state;
        l->measuring = false;
    }
    seq_end(&c->sequence);
    free(c);
}

/* ---- visits ---- */

bool lane_passed(const struct lane *l)
{
    return !l->is_pending || !l->has_clock ||
           l->clock.passed(l->clock.ctx, l->pending.set, l->pending.n - 1);
}

/* Writes the visit that waits for the GPU, once it is there. It never waits: the GPU may need a call of another thread, which
 * waits for the lock, or hang until a watchdog, which needs the lock, aborts the communicator. */
static void flush(struct lane *l)
{
    struct visit *v = &l->pending;
    struct line line = {0};
    const char *comma = "";
    if (!l->is_pending || !lane_passed(l))
        return;
    l->is_pending = false;
    for (unsigned i = 1; i < v->n && l->has_clock; i++) {
        double ns = l->clock.between_ns(l->clock.ctx, v->set, i);
        if (ns < 0)
            return;
        v->at_ns[i] = v->at_ns[0] + (uint64_t)ns;
    }
    line_add(&line,
             "{\"type\":\"visit\",\"step\":%u,\"block\":%llu,\"visit\":%zu,\"arm\":\"%s\","
             "\"copy\":%d,\"steps\":%u,\"calls\":%llu,\"ran\":{",
             v->step, (ull)v->block, v->place, config->arms[v->arm].id, v->copy, v->n - 1,
             (ull)v->calls);
    for (int i = 0; i < ENGINE_PARTS; i++)
        if (v->parts[i]) {
            line_add(&line, "%s\"%s\":%llu", comma, engine_part_name((enum engine_part)i),
                     (ull)v->parts[i]);
            comma = ",";
        }
    line_add(&line, "},\"at_ns\":[");
    for (unsigned i = 0; i < v->n; i++)
        line_add(&line, "%s%llu", i ? "," : "", (ull)v->at_ns[i]);
    line_add(&line, "]}");
    put(&l->journal, &line);
    l->visits++;
}

/* The marks so far are the visit, if there is a step besides the first. */
static void end_measuring(struct lane *l)
{
    l->measuring = false;
    if (l->now.n <= STEPS_LEAST)
        return;
    flush(l); /* a visit that the GPU has not passed by now is lost */
    l->pending = l->now;
    l->is_pending = true;
    l->now.n = 0;
}

static void over(struct lane *l, enum state state, const char *why)
{
    end_measuring(l);
    flush(l);
    l->state = state;
    journal_line(&l->journal, "{\"type\":\"over\",\"why\":\"%s\",\"visits\":%llu,\"at_ns\":%llu}",
                 why, (ull)l->visits, (ull)now_ns());
}

/* False: the lanes cannot agree. The lane keeps its arm: the others may be in the same. */
static bool ask(struct lane *l, const char *what, char answer[ANSWER])
{
    char key[160];
    const struct timespec pause = {.tv_nsec = 50000000};
    snprintf(key, sizeof key, "%s.%s.%u.%llu", l->name, what, l->number, (ull)l->asked++);
    for (int tries = 0; tries < FULL_TRIES; tries++) {
        if (agree(key, answer, ANSWER))
            return true;
        if (errno != ENOSPC && errno != EDQUOT)
            break;
        /* Another lane may find room a moment later, and would go on alone. */
        nanosleep(&pause, NULL);
    }
    over(l, OFF, "the ranks cannot agree");
    return false;
}

static void mark(struct lane *l, uint64_t now)
{
    if (l->now.n > ENGINE_STEPS)
        return;
    if (l->has_clock)
        l->clock.mark(l->clock.ctx, l->now.set, l->now.n);
    l->now.at_ns[l->now.n++] = now;
}

static void begin_measuring(struct lane *l, uint64_t now)
{
    l->now = (struct visit){.set = l->is_pending ? !l->pending.set : !l->now.set,
                            .block = l->block,
                            .place = l->place,
                            .arm = l->arm,
                            .copy = l->order[l->place] == ENGINE_ARMS,
                            .step = l->number};
    l->measuring = true;
    mark(l, now);
}

static void begin_visit(struct lane *l, uint64_t now)
{
    l->arm = l->order[l->place] == ENGINE_ARMS ? 0 : l->order[l->place];
    l->at = 0;
    l->switches = l->has_clock && l->is_pending;
    journal_line(&l->journal, "{\"type\":\"turn\",\"arm\":\"%s\",\"block\":%llu}",
                 config->arms[l->arm].id, (ull)l->block);
    begin_measuring(l, now);
}

static void begin_block(struct lane *l)
{
    struct rng r;
    l->n_order = 0;
    for (size_t i = 0; i < config->n_arms; i++)
        if (!i || l->alive >> i & 1)
            l->order[l->n_order++] = i;
    l->order[l->n_order++] = ENGINE_ARMS;
    rng_stream(&r, config->seed, l->block);
    rng_shuffle(&r, l->order, l->n_order);
    l->place = 0;
    l->cut = 0;
}

/* The arms that are alive and that gradsync has not let leave. */
static uint64_t arms_alive(void)
{
    char path[4200], id[ENGINE_ID + 1];
    uint64_t alive = 1;
    for (size_t i = 1; i < config->n_arms; i++)
        alive |= (uint64_t)!arm_is_dead(config->arms[i].id) << i;
    snprintf(path, sizeof path, "%s/leave", config->out);
    FILE *f = fopen(path, "re");
    while (f && fscanf(f, "%32s", id) == 1)
        for (size_t i = 1; i < config->n_arms; i++)
            if (!strcmp(config->arms[i].id, id))
                alive &= ~(UINT64_C(1) << i);
    if (f)
        fclose(f);
    return alive;
}

static void write_begin(struct lane *l)
{
    struct line line = {0};
    line_add(&line,
             "{\"type\":\"begin\",\"step\":%u,\"steps\":%llu,\"block\":%llu,\"step_B\":%llu,"
             "\"large_B\":%llu,\"reduced_B\":%llu,\"other_B\":%llu,\"step_s\":%.6f,\"arms\":[",
             l->number, (ull)l->steps, (ull)l->block, (ull)l->step.all, (ull)l->step.large,
             (ull)l->step.reduced, (ull)l->step.other, (double)l->warm_step_ns * 1e-9);
    for (size_t i = 0; i < config->n_arms; i++)
        if (!i || l->alive >> i & 1)
            line_add(&line, "%s\"%s\"", i ? "," : "", config->arms[i].id);
    line_add(&line, "]}");
    put(&l->journal, &line);
}

/* "WORD STEPS ALIVE" */
static bool read_answer_of(struct lane *l, const char *answer, const char *word)
{
    unsigned long long steps, alive;
    size_t n = strlen(word);
    if (strncmp(answer, word, n) || sscanf(answer + n, " %llu %llx", &steps, &alive) != 2 ||
        steps < STEPS_LEAST || steps > ENGINE_STEPS)
        return false;
    bool changed = l->steps != steps || l->alive != alive;
    l->steps = steps;
    l->alive = alive;
    begin_block(l);
    if (changed)
        write_begin(l);
    return true;
}

/* The arm that gradsync wants to be kept; -1: it has not decided. */
static int arm_to_keep(uint64_t alive)
{
    char path[4200], id[ENGINE_ID + 1] = "";
    int keep = -1;
    snprintf(path, sizeof path, "%s/keep", config->out);
    FILE *f = config->keep ? fopen(path, "re") : NULL;
    if (f && fscanf(f, "%32s", id) == 1)
        for (size_t i = 0; i < config->n_arms; i++)
            if (alive >> i & 1 && !strcmp(config->arms[i].id, id))
                keep = (int)i;
    if (f)
        fclose(f);
    return keep;
}

/* False: it was the last. Visits that were interrupted too often get shorter. */
static bool end_block(struct lane *l)
{
    char answer[ANSWER];
    uint64_t steps = l->cut > l->n_order / 2 ? l->steps / 2 : l->steps;
    int keep = arm_to_keep(arms_alive());
    l->block++;
    uint64_t limit_ns = config->seconds * 1000000000u;
    bool enough = limit_ns && now_ns() - l->begun_ns >= limit_ns;
    if (keep >= 0)
        snprintf(answer, sizeof answer, "keep %d", keep);
    else
        snprintf(answer, sizeof answer, "%s %llu %llx", enough ? "stop" : "go",
                 (ull)(steps < STEPS_LEAST ? STEPS_LEAST : steps), (ull)arms_alive());
    if (!ask(l, "block", answer))
        return false;
    if (read_answer_of(l, answer, "go"))
        return true;
    size_t kept = 0;
    over(l, OVER, sscanf(answer, "keep %zu", &kept) == 1 ? "keep" : "stop");
    l->arm = kept < config->n_arms ? kept : 0; /* of all calls from now on */
    for (size_t i = 1; i < config->n_arms; i++)
        if (config->keep && i != l->arm) /* new communicators get no shadows of the others */
            arm_died(config->arms[i].id, "another setting is kept");
    return false;
}

static void run_step(struct lane *l, uint64_t now)
{
    if (l->measuring)
        mark(l, now);
    else if (!l->now.n &&
             l->at < l->steps) /* after an interruption before there was a step to keep */
        begin_measuring(l, now);
    if (++l->at < l->steps)
        return;
    end_measuring(l);
    if (++l->place < l->n_order || end_block(l))
        begin_visit(l, now);
}

/* Other calls came. The arm stays until the visit is over, since not all lanes may see them. */
static void interrupt_visit(struct lane *l)
{
    if (l->state != RUN || !l->measuring)
        return;
    l->cut++;
    if (l->now.n <= STEPS_LEAST) {
        journal_line(&l->journal,
                     "{\"type\":\"dropped\",\"block\":%llu,\"visit\":%zu,\"arm\":\"%s\","
                     "\"copy\":%d,\"step\":%u,\"call\":%llu}",
                     (ull)l->block, l->place, config->arms[l->now.arm].id, l->now.copy, l->now.n,
                     (ull)l->calls);
        l->now.n = 0;
        l->measuring = false;
    } else {
        end_measuring(l);
        l->now.n = 1; /* no second measurement in this visit */
    }
}

/* ---- from the first call to the first visit ---- */

static uint64_t steps_a_visit(uint64_t step_ns)
{
    uint64_t steps = config->visit_ms * 1000000u / (step_ns ? step_ns : 1) + 2;
    uint64_t least = step_ns < LONG_STEP_NS ? STEPS_SHORT : STEPS_LEAST;
    steps = steps < least ? least : steps;
    return steps > ENGINE_STEPS ? ENGINE_STEPS : steps;
}

static void step_key(char *key, size_t n, const struct lane *l)
{
    snprintf(key, n, "%s.found.%u.%llu.%016llx.", l->name, l->number, (ull)l->found_at,
             (ull)l->step_hash);
}

/* The time of a step so far; 0: unknown. A host may be hundreds of steps ahead of its GPU, so the GPU's clock counts. */
static uint64_t warm_step_ns(struct lane *l, uint64_t now)
{
    uint64_t steps = l->warm_steps - 1;
    if (!l->has_clock)
        return (now - l->warm_from_ns) / steps;
    while (l->warm_passed < steps && l->warm_passed < ENGINE_STEPS &&
           l->clock.passed(l->clock.ctx, l->warm_set, l->warm_passed + 1))
        l->warm_passed++;
    double ns = l->warm_passed ? l->clock.between_ns(l->clock.ctx, l->warm_set, l->warm_passed) : 0;
    return ns > 0 ? (uint64_t)(ns / l->warm_passed) : 0;
}

/* A lane that did not find this step at this call runs without the engine, does not see the folder, or has other
 * calls. */
static void warm_step(struct lane *l, uint64_t now)
{
    char answer[ANSWER] = "later", found[160];
    if (l->warm_steps == 0) {
        l->warm_from_ns = now;
        l->warm_set = l->is_pending && !l->pending.set;
        l->warm_passed = 0;
    }
    if (l->has_clock && l->warm_steps <= ENGINE_STEPS)
        l->clock.mark(l->clock.ctx, l->warm_set, (unsigned)l->warm_steps);
    if (++l->warm_steps < 2 || (l->warm_steps > TRIES && l->warm_steps % TRIES))
        return;
    l->warm_step_ns = warm_step_ns(l, now);
    bool slow = now - l->warm_from_ns > 1000000000u;
    step_key(found, sizeof found, l);
    if (agree_count(found) < l->lanes)
        strcpy(answer,
               l->warm_steps > TRIES && now - l->warm_from_ns > TRIES_NS ? "differ" : "wait");
    else if (l->warm_step_ns && (slow || l->warm_steps > WARM_LEAST))
        snprintf(answer, sizeof answer, "go %llu %llx", (ull)steps_a_visit(l->warm_step_ns),
                 (ull)arms_alive());
    if (!ask(l, "begin", answer))
        return;
    if (read_answer_of(l, answer, "go")) {
        l->state = RUN;
        l->begun_ns = l->begun_ns ? l->begun_ns : now;
        begin_visit(l, now);
    } else if (!strcmp(answer, "differ")) {
        over(l, OFF, "the ranks make different sequences of collectives");
    }
}

/* A pause alone tells where such a step begins, and a busy machine hides pauses. */
static bool is_equal(const struct sequence *s)
{
    for (size_t i = 1; i < s->period; i++)
        if (s->pattern[i] != s->pattern[0])
            return false;
    return true;
}

static uint64_t pattern_bytes(const struct sequence *s)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < s->period; i++)
        bytes += seq_bytes(s->pattern[i]);
    return bytes;
}

/* The communicator has a new step. It drives the lane if its step has more bytes than the driver's. */
static void found(struct lane_comm *c)
{
    struct lane *l = c->lane;
    const struct sequence *s = &c->sequence;
    char key[500], answer[ANSWER] = "yes";
    uint64_t bytes = pattern_bytes(s);
    if (l->driver && l->driver != c && pattern_bytes(&l->driver->sequence) >= bytes)
        return;
    interrupt_visit(l);
    if (l->state == RUN)
        l->block++;
    l->driver = c;
    l->state = WARM;
    l->number++;
    l->warm_steps = l->steps = 0;
    l->found_at = c->calls;
    l->step_hash = engine_hash(c->number, s->pattern, s->period * sizeof *s->pattern);
    journal_line(&l->journal,
                 "{\"type\":\"step\",\"number\":%u,\"call\":%llu,\"calls\":%zu,\"bytes\":%llu,"
                 "\"equal\":%s,\"hash\":\"%08x\"}",
                 l->number, (ull)c->calls, s->period, (ull)bytes, is_equal(s) ? "true" : "false",
                 (unsigned)l->step_hash);
    step_key(key, sizeof key, l);
    size_t n = strlen(key);
    snprintf(key + n, sizeof key - n, "%s", l->journal.name);
    agree(key, answer, sizeof answer);
}

static void step(struct lane *l)
{
    uint64_t now = now_ns();
    l->step = (struct sum){l->sum.all - l->sum_at.all, l->sum.large - l->sum_at.large,
                           l->sum.reduced - l->sum_at.reduced, l->sum.other - l->sum_at.other};
    l->sum_at = l->sum;
    flush(l);
    if (l->state == WARM)
        warm_step(l, now);
    else if (l->state == RUN)
        run_step(l, now);
}

/* What a job without a step does: now and then, since it may go on for ever. */
static void tell(struct lane *l)
{
    uint64_t now = l->state == LEARN ? now_ns() : 0;
    if (now < l->told_ns + 1000000000u)
        return;
    l->told_ns = now;
    journal_line(
        &l->journal,
        "{\"type\":\"seen\",\"calls\":%llu,\"bytes\":%llu,\"others\":%llu,\"other_B\":%llu}",
        (ull)l->calls, (ull)l->sum.all, (ull)l->others, (ull)l->sum.other);
}

struct turn lane_call(struct lane_comm *c, enum engine_func func, size_t bytes, bool inside)
{
    struct lane *l = c->lane;
    enum seq_event event = SEQ_AWAY;
    c->calls++;
    l->calls++;
    /* Once visits have begun, the other communicators follow the driver. */
    if (l->state < OVER && (c == l->driver || l->state != RUN))
        event = seq_call(&c->sequence, seq_word(func, 0, bytes, inside));
    if (event == SEQ_FOUND)
        found(c);
    else if (event == SEQ_LOST && c == l->driver)
        interrupt_visit(l);
    else if (event == SEQ_STEP && c == l->driver)
        step(l);
    l->sum.all += bytes;
    l->sum.large += bytes >= PART_LEAST ? bytes : 0;
    l->sum.reduced += func == FUNC_ALL_REDUCE ? bytes : 0;
    tell(l);
    if (l->state >= OVER)
        flush(l);
    struct turn t = {.arm = l->arm, .switches = l->switches};
    l->switches = false;
    if (bytes >= PART_LEAST && config->n_arms)
        t.part = config->arms[t.arm].part;
    l->now.calls++;
    l->now.parts[t.part]++;
    return t;
}

void lane_other(struct lane *l, size_t bytes)
{
    l->others++;
    l->sum.other += bytes;
    tell(l);
}

void lane_captured(struct lane *l)
{
    if (l->captured++)
        return;
    journal_line(&l->journal, "{\"type\":\"captured\",\"call\":%llu}", (ull)l->calls);
    l->is_pending = l->measuring =
        false; /* nobody may wait for the GPU while a stream is captured */
    l->now.n = 0;
    if (l->state < OVER)
        over(l, OFF, "a collective was captured in a CUDA graph");
    l->arm = 0;
}

bool lane_keeps(const struct lane *l)
{
    return config->keep && l->state == OVER;
}

void lane_write_end(struct lane *l)
{
    journal_line(&l->journal,
                 "{\"type\":\"end\",\"calls\":%llu,\"bytes\":%llu,\"visits\":%llu,\"at_ns\":%llu}",
                 (ull)l->calls, (ull)l->sum.all, (ull)l->visits, (ull)now_ns());
}

/* ---- what is loaded ---- */

static unsigned engine_saw_alone; /* communicators of one rank */

void *engine_real(void **known, const char *const *objects, const char *symbol, const char *lack)
{
    void *f = __atomic_load_n(known, __ATOMIC_RELAXED);
    for (size_t i = 0; !f && objects[i]; i++) {
        void *object = dlopen(objects[i], RTLD_LAZY | RTLD_NOLOAD);
        f = object ? dlsym(object, symbol) : NULL;
        if (object)
            dlclose(object);
    }
    if (!f)
        f = dlsym(RTLD_NEXT, symbol);
    __atomic_store_n(known, f, __ATOMIC_RELAXED);
    if (!f) {
        fprintf(stderr, "gradsync: %s: %s\n", symbol, lack);
        abort();
    }
    return f;
}

static bool is_loaded(const char *object)
{
    void *handle = dlopen(object, RTLD_LAZY | RTLD_NOLOAD);
    if (handle)
        dlclose(handle);
    return handle;
}

void engine_write_alone(void)
{
    if (!engine_saw_alone++ && config)
        engine_write_unseen();
}

void engine_write_unseen(void)
{
    struct journal j;
    bool cuda = is_loaded("libcuda.so.1"), nccl = is_loaded("libnccl.so.2");
    bool mpi = dlsym(RTLD_DEFAULT, "PMPI_Init") || is_loaded("libmpi.so.40");
    if (!(cuda || nccl || mpi || engine_saw_alone) || !journal_open(&j, "loaded"))
        return;
    journal_line(&j,
                 "{\"type\":\"loaded\",\"has_cuda\":%s,\"has_nccl\":%s,\"has_mpi\":%s,"
                 "\"alone\":%s}",
                 cuda ? "true" : "false", nccl ? "true" : "false", mpi ? "true" : "false",
                 engine_saw_alone ? "true" : "false");
    close(j.fd);
}
