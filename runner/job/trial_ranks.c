/* SPDX-License-Identifier: Apache-2.0 */
#include "job/trial_ranks.h"

#include "base/err.h"
#include "base/family.h"
#include "base/files.h"
#include "base/jsontext.h"
#include "base/stats.h"
#include "base/text.h"
#include "common/choice.h"
#include "price/trial_config.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define STEPS_MAX 1000000 /* different ones that a job may have */
#define RANKS_MAX 1000000 /* of a communicator: above it, a line is damaged */

/* The file of one rank while it is read. */
struct reader {
    struct trial_ranks *all;
    size_t comm; /* in all->v */
    double unix_s, at_ns;
    size_t next; /* where to look first for the next visit among those of other ranks */
    int64_t dropped;
};

/* ---- lines ---- */

static bool read_comm(struct reader *f, const json_t *o)
{
    struct trial_ranks *all = f->all;
    int64_t ranks = json_integer_of(o, "ranks");
    if (ranks < 0 || ranks > RANKS_MAX)
        return false;
    for (f->comm = 0; f->comm < all->n; f->comm++)
        if (!strcmp(all->v[f->comm].name, json_text_of(o, "comm")))
            break;
    if (f->comm == all->n) {
        APPEND(all->v, all->n) = (struct trial_comm){
            .name = xstrdup(json_text_of(o, "comm")),
            .ranks = ranks,
            .nodes = json_integer_of(o, "nodes"),
            .abi = json_integer_of(o, "abi"),
            .nccl = json_integer_of(o, "nccl"),
            .takes_part = json_is_true(json_object_get(o, "takes_part")),
        };
    }
    struct trial_comm *c = &all->v[f->comm];
    c->found = xrealloc(c->found, (size_t)(c->files + 1) * sizeof *c->found);
    c->places = xrealloc(c->places, (size_t)(c->files + 1) * sizeof *c->places);
    c->places[c->files] =
        (struct trial_place){json_integer_of(o, "rank"), xstrdup(json_text_of(o, "host")),
                             xstrdup(json_text_of(o, "gpu"))};
    c->found[c->files++] = 0;
    f->unix_s = (double)json_integer_of(o, "unix_s");
    f->at_ns = (double)json_integer_of(o, "at_ns");
    return true;
}

static bool read_step(struct trial_comm *c, const json_t *o)
{
    int64_t number = json_integer_of(o, "number");
    if (number < 1 || number > STEPS_MAX)
        return false;
    uint32_t hash = (uint32_t)strtoul(json_text_of(o, "hash"), NULL, 16);
    c->found[c->files - 1] = hash ^ (uint32_t)json_integer_of(o, "call") * 2654435761u;
    if (number > c->step)
        c->steps = xrealloc(c->steps, (size_t)number * sizeof *c->steps);
    for (; c->step < number; c->step++)
        c->steps[c->step] =
            (struct trial_step){json_integer_of(o, "calls"), json_integer_of(o, "bytes")};
    return true;
}

static bool same(const struct trial_visit *v, const json_t *o)
{
    return v->step == json_integer_of(o, "step") && v->block == json_integer_of(o, "block") &&
           v->copy == json_integer_of(o, "copy") && v->steps == json_integer_of(o, "steps") &&
           !strcmp(v->arm, json_text_of(o, "arm"));
}

static struct trial_visit *visit_of(struct reader *f, struct trial_comm *c, const json_t *o)
{
    size_t i = f->next;
    while (i < c->n && !same(&c->visits[i], o))
        i++;
    f->next = i + 1;
    if (i < c->n)
        return &c->visits[i];
    struct trial_visit *v = &APPEND(c->visits, c->n);
    *v = (struct trial_visit){.step = json_integer_of(o, "step"),
                              .block = json_integer_of(o, "block"),
                              .copy = json_integer_of(o, "copy"),
                              .steps = json_integer_of(o, "steps"),
                              .calls = json_integer_of(o, "calls"),
                              .arm = xstrdup(json_text_of(o, "arm")),
                              .least_ns = UINT64_MAX,
                              .rank_ns = xcalloc((size_t)c->ranks + 1, sizeof *v->rank_ns),
                              .taken = json_incref(json_object_get(o, "taken")),
                              .ran = json_incref(json_object_get(o, "ran"))};
    return v;
}

#define LAYER                                                                                      \
    4 /* calls: so short a period may be a layer, of which a step has many (trial_config.h) */

/* The time of a visit: that of its middle steps, for as many steps as there are without the first, which
 * still runs collectives of the arm before. The host times the steps: where a job waits for its GPUs,
 * one step is longer and the next shorter, and a visit may have one of the two. The layers of a step
 * differ by nature, so there all of them count. 0: times in no order. */
static uint64_t visit_ns(const json_t *at, size_t n, int64_t calls)
{
    AUTO_FREE double *step = xcalloc(n, sizeof *step);
    for (size_t i = 0; i + 2 < n; i++) {
        step[i] = (double)(json_integer_value(json_array_get(at, i + 2)) -
                           json_integer_value(json_array_get(at, i + 1)));
        if (step[i] <= 0)
            return 0;
    }
    bool layers = calls <= LAYER * (int64_t)(n - 1);
    double mean = layers ? stats_mean(step, n - 2) : stats_middle_mean(step, n - 2);
    return (uint64_t)(mean * (double)(n - 2));
}

static bool read_visit(struct reader *f, struct trial_comm *c, const json_t *o)
{
    const json_t *at = json_object_get(o, "at_ns");
    size_t n = json_array_size(at);
    uint64_t took = n < 3 || n != (size_t)json_integer_of(o, "steps") + 1
                        ? 0
                        : visit_ns(at, n, json_integer_of(o, "calls"));
    if (!took)
        return false;
    struct trial_visit *v = visit_of(f, c, o);
    if (!v->ranks++)
        v->at = f->unix_s + ((double)json_integer_value(json_array_get(at, 0)) - f->at_ns) / 1e9;
    if (c->files <= c->ranks)
        v->rank_ns[c->files - 1] = took;
    v->most_ns = took > v->most_ns ? took : v->most_ns;
    v->least_ns = took < v->least_ns ? took : v->least_ns;
    int64_t unavailable = json_integer_of(o, "unavailable");
    v->unavailable = unavailable > v->unavailable ? unavailable : v->unavailable;
    return true;
}

static void read_end(struct reader *f, struct trial_comm *c, const json_t *o)
{
    int64_t last = json_integer_of(o, "last_call_ns");
    c->ended++;
    c->calls = json_integer_of(o, "calls");
    c->dropped = f->dropped;
    c->silent_s = last ? (double)(json_integer_of(o, "at_ns") - last) / 1e9 : 0;
}

static bool read_line(struct reader *f, const json_t *o)
{
    const char *type = json_text_of(o, "type");
    if (!strcmp(type, "comm"))
        return read_comm(f, o);
    if (!strcmp(type, "loaded")) {
        f->all->loaded++;
        f->all->nccl = json_integer_of(o, "nccl");
        f->all->has_cuda |= json_is_true(json_object_get(o, "has_cuda"));
        f->all->has_nccl |= json_is_true(json_object_get(o, "has_nccl"));
        f->all->has_mpi |= json_is_true(json_object_get(o, "has_mpi"));
        f->all->alone |= json_is_true(json_object_get(o, "alone"));
        return true;
    }
    if (f->comm >= f->all->n)
        return false;
    struct trial_comm *c = &f->all->v[f->comm];
    if (!strcmp(type, "step"))
        return read_step(c, o);
    if (!strcmp(type, "visit"))
        return read_visit(f, c, o);
    if (!strcmp(type, "dropped"))
        f->dropped++;
    else if (!strcmp(type, "end"))
        read_end(f, c, o);
    else if (!strcmp(type, "captured"))
        c->captured = true;
    else if (!strcmp(type, "begin"))
        c->begun = true;
    else if (!strcmp(type, "over")) {
        c->over++;
        xstrset(&c->why, json_text_of(o, "why"));
    }
    return true;
}

/* ---- files ---- */

static int read_file(struct trial_ranks *r, const char *path)
{
    struct reader f = {.all = r, .comm = SIZE_MAX};
    AUTO_FREE char *line = NULL;
    size_t cap = 0;
    ssize_t n;
    int number = 0, code = GS_OK;
    FILE *in = files_stream(path, FILES_OWN);
    if (!in)
        return fail_at(GS_FAILED, path, 0, "cannot be read: %s", files_why(errno));
    while (!code && (n = getline(&line, &cap, in)) > 0 && line[n - 1] == '\n') {
        AUTO_JSON json_t *o = json_loadb(line, (size_t)n, 0, NULL);
        number++;
        if (!o || !read_line(&f, o))
            code = fail_at(GS_FAILED, path, number, "damaged: not a line of a trial");
    }
    if (f.comm < r->n && f.dropped > r->v[f.comm].dropped)
        r->v[f.comm].dropped = f.dropped;
    fclose(in);
    return code;
}

static void free_visit(struct trial_visit *v)
{
    free(v->arm);
    free(v->rank_ns);
    json_decref(v->taken);
    json_decref(v->ran);
}

/* Keeps the visits that all ranks completed, of the step with most visits. */
static void keep_whole(struct trial_comm *c)
{
    int64_t best = 0;
    size_t kept = 0;
    AUTO_FREE size_t *visits = xcalloc((size_t)c->step + 1, sizeof *visits);
    for (size_t i = 0; i < c->n; i++)
        if (c->visits[i].step >= 1 && c->visits[i].step <= c->step)
            visits[c->visits[i].step]++;
    for (int64_t step = 1; step <= c->step; step++)
        if (visits[step] >= visits[best] || !best)
            best = step;
    for (size_t i = 0; i < c->n; i++)
        if (c->visits[i].step == best && c->visits[i].ranks == c->ranks)
            c->visits[kept++] = c->visits[i];
        else
            free_visit(&c->visits[i]);
    c->n = kept;
    if (c->step) {
        const struct trial_step *step = &c->steps[(kept ? best : c->step) - 1];
        c->step_calls = step->calls;
        c->step_bytes = step->bytes;
    }
}

/* NCCL tells the tuner how many nodes a communicator has. The object of a price is not told, so the
 * hosts in the files of the ranks are counted. */
static int64_t hosts_of(const struct trial_comm *c)
{
    int64_t n = 0;
    for (int64_t i = 0, k; i < c->files; i++) {
        for (k = 0; k < i && strcmp(c->places[k].host, c->places[i].host);)
            k++;
        n += k == i;
    }
    return n;
}

static int is_journal(const struct dirent *e)
{
    return text_ends(e->d_name, ".jsonl");
}

int trial_ranks_read(struct trial_ranks *r, const char *dir)
{
    struct dirent **names;
    *r = (struct trial_ranks){0};
    int n = scandir(dir, &names, is_journal, alphasort), code = GS_OK;
    if (n < 0)
        return fail_file(dir, "read", errno);
    for (int i = 0; i < n; i++) {
        AUTO_FREE char *path = xstrfmt("%s/%s", dir, names[i]->d_name);
        code = code ? code : read_file(r, path);
        free(names[i]);
    }
    free(names);
    for (size_t i = 0; i < r->n; i++) {
        int64_t hosts = hosts_of(&r->v[i]);
        keep_whole(&r->v[i]);
        r->v[i].nodes = hosts > r->v[i].nodes ? hosts : r->v[i].nodes;
    }
    if (code)
        trial_ranks_free(r);
    return code;
}

void trial_comm_free(struct trial_comm *c)
{
    for (size_t k = 0; k < c->n; k++)
        free_visit(&c->visits[k]);
    for (int64_t k = 0; k < c->files; k++) {
        free(c->places[k].host);
        free(c->places[k].gpu);
    }
    free(c->places);
    free(c->visits);
    free(c->name);
    free(c->why);
    free(c->found);
    free(c->steps);
    *c = (struct trial_comm){0};
}

void trial_ranks_free(struct trial_ranks *r)
{
    for (size_t i = 0; i < r->n; i++)
        trial_comm_free(&r->v[i]);
    free(r->v);
    *r = (struct trial_ranks){0};
}

static bool is_small_remainder(const struct trial_comm *c)
{
    for (int64_t i = 0; i < c->step; i++)
        if (c->steps[i].bytes / 100 > c->step_bytes)
            return true;
    return false;
}

const struct trial_comm *trial_ranks_lead(const struct trial_ranks *r)
{
    const struct trial_comm *lead = NULL;
    for (size_t i = 0; i < r->n; i++) {
        const struct trial_comm *c = &r->v[i];
        if (c->n && !is_small_remainder(c) && (!lead || c->step_bytes > lead->step_bytes))
            lead = c;
    }
    return lead;
}

int64_t trial_ranks_alike(const struct trial_comm *c)
{
    int64_t most = 0;
    for (int64_t i = 0; i < c->files; i++) {
        int64_t n = 0;
        for (int64_t k = 0; k < c->files; k++)
            n += c->found[i] && c->found[k] == c->found[i];
        most = n > most ? n : most;
    }
    return most;
}

/* ---- did NCCL run what an arm requested? ---- */

#define TOLERANCE 0.01 /* of the calls */

static bool is_of(const struct trial_visit *v, const char *arm, int64_t copy)
{
    return !strcmp(v->arm, arm) && v->copy == copy;
}

/* Of all visits of an arm: {"ring/LL128 ctas=8": calls, ...} */
static json_t *sum(const struct trial_comm *c, const char *arm, int64_t copy, bool expected)
{
    json_t *all = json_object(), *calls;
    const char *key;
    for (size_t i = 0; i < c->n; i++) {
        const struct trial_visit *v = &c->visits[i];
        if (is_of(v, arm, copy))
            json_object_foreach(expected ? v->taken : v->ran, key, calls)
                json_object_set_new(all, key,
                                    json_integer(json_integer_value(json_object_get(all, key)) +
                                                 json_integer_value(calls)));
    }
    return all;
}

static double total(const json_t *sums)
{
    double all = 0;
    const char *key;
    json_t *calls;
    json_object_foreach((json_t *)sums, key, calls) all += (double)json_integer_value(calls);
    return all;
}

char *trial_taken_shares(const struct trial_comm *c, const char *arm, int64_t copy, bool expected)
{
    json_t *sums = sum(c, arm, copy, expected), *calls;
    const char *key;
    struct text t = {0};
    double all = total(sums);
    text_clear(&t);
    json_object_foreach(sums, key, calls)
    {
        text_addf(&t, "%s%s", t.len ? ", " : "", key);
        if (json_object_size(sums) > 1)
            text_addf(&t, " %.0f%%", 100 * (double)json_integer_value(calls) / all);
    }
    json_decref(sums);
    return t.s;
}

/* The share of an arm's calls for which NCCL has what it requests. */
static double available(const struct trial_comm *c, const char *arm, int64_t copy)
{
    double calls = 0, without = 0;
    for (size_t i = 0; i < c->n; i++)
        if (is_of(&c->visits[i], arm, copy)) {
            calls += (double)c->visits[i].calls;
            without += (double)c->visits[i].unavailable;
        }
    return calls > 0 ? 1 - without / calls : 1;
}

/* Whether a key of `ran` is of the pair that was requested; its CTAs, 0: not reported. */
static bool is_pair(const char *key, const struct choice *want, int *ctas)
{
    char algo[32] = "", proto[32] = "";
    *ctas = 0;
    sscanf(key, "%31[^/]/%31s ctas=%d", algo, proto, ctas);
    return (want->algo < 0 || choice_algo(algo) == want->algo) &&
           (want->proto < 0 || choice_proto(proto) == want->proto);
}

static struct trial_taken judge(const json_t *ran, const struct choice *want, double share)
{
    struct trial_taken t = {TAKEN_HONOURED, "honoured"};
    double all = total(ran), pair = 0;
    int ctas, most = 0;
    const char *key;
    json_t *calls;
    json_object_foreach((json_t *)ran, key, calls) if (is_pair(key, want, &ctas))
    {
        pair += (double)json_integer_value(calls);
        most = ctas > most ? ctas : most;
    }
    bool has_pair = want->algo >= 0 || want->proto >= 0;
    if (all == 0 || (!has_pair && want->channels && !most))
        t = (struct trial_taken){TAKEN_UNKNOWN, "unknown: this NCCL does not report what it ran"};
    else if (has_pair && pair / all < share - TOLERANCE)
        t.how = TAKEN_IGNORED;
    else if (want->channels && most && most != want->channels)
        t.how = TAKEN_CLAMPED;
    if (t.how == TAKEN_CLAMPED)
        snprintf(t.text, sizeof t.text, "clamped: NCCL ran %s CTAs, at most %d",
                 most < want->channels ? "fewer" : "more", most);
    return t;
}

bool trial_arm_is_price(const char *arm)
{
    struct choice c;
    return choice_parse(&c, arm) && c.part != PART_ALL;
}

struct trial_taken trial_taken(const struct trial_comm *c, const char *arm, int64_t copy)
{
    struct choice want;
    double share = available(c, arm, copy);
    if (!choice_parse(&want, arm) || (want.algo < 0 && want.proto < 0 && !want.channels))
        return (struct trial_taken){TAKEN_HONOURED, "honoured"};
    if (share <= 0)
        return (struct trial_taken){
            TAKEN_UNAVAILABLE,
            "not available: NCCL does not have it for any collective of the step"};
    AUTO_JSON json_t *ran = sum(c, arm, copy, false);
    struct trial_taken t = judge(ran, &want, share);
    if (t.how == TAKEN_IGNORED) {
        AUTO_FREE char *shares = trial_taken_shares(c, arm, copy, false);
        snprintf(t.text, sizeof t.text, "ignored: NCCL ran %s", shares);
    }
    return t;
}

bool trial_taken_counts(const struct trial_taken *t)
{
    return t->how == TAKEN_HONOURED || t->how == TAKEN_UNKNOWN;
}

/* ---- the folder of the ranks ---- */

/* The file that the ranks read. */
static bool write_config(const struct trial_folder *f, const struct trial_config *c)
{
    AUTO_TEXT struct text t = {0};
    text_addf(&t, "out = %s\n", f->path);
    for (size_t i = 0; i < c->n_arms; i++)
        text_addf(&t, "arm = %s\n", c->arms[i].label);
    text_addf(&t,
              "seed = %ju\nsteps = %ju\nvisit_ms = %ju\nwarmup = %ju\nblocks = %ju\n"
              "seconds = %ju\ncalls = %ju\nranks = %ju\nbytes_least = %ju\nbytes_most = %ju\n",
              c->seed, c->steps, c->visit_ms, c->warmup, c->blocks, c->seconds, c->calls, c->ranks,
              c->bytes_least, c->bytes_most);
    return files_write_new(f->config, t.s, 0666);
}

int trial_folder_make(struct trial_folder *f, const char *out, const struct trial_config *config)
{
    char host[64] = "host";
    AUTO_FREE char *root = realpath(out, NULL);
    *f = (struct trial_folder){.lock = -1};
    if (!root)
        return fail_file(out, "written to", errno);
    gethostname(host, sizeof host - 1);
    AUTO_FREE char *prefix = xstrfmt(".trial.%s.", host);
    scratch_sweep(root, prefix); /* of killed trials; a lock is seen on its own host only */
    f->path = xstrfmt("%s/%sXXXXXX", root, prefix);
    if (!mkdtemp(f->path))
        return fail_file(f->path, "made", errno);
    f->lock = scratch_lock(f->path);
    f->config = xstrfmt("%s/trial.txt", f->path);
    AUTO_FREE char *agree = xstrfmt("%s/agree", f->path);
    return mkdir(agree, 0777) || !write_config(f, config) ? fail_file(f->path, "written to", errno)
                                                          : GS_OK;
}

void trial_folder_remove(struct trial_folder *f)
{
    if (f->path)
        files_remove_tree(f->path);
    if (f->path && f->lock >= 0)
        close(f->lock);
    free(f->path);
    free(f->config);
    *f = (struct trial_folder){.lock = -1};
}
