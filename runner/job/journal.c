/* SPDX-License-Identifier: Apache-2.0 */
#include "job/journal.h"

#include "base/family.h"
#include "base/files.h"
#include "base/jsontext.h"
#include "base/stats.h"
#include "base/text.h"
#include "base/units.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RANKS_MAX 1000000 /* of a job: above it, a line is damaged */
#define LAYER 4           /* calls: so short a period may be a layer, of which a step has many */

double visit_step_s(const struct visit *v)
{
    return (double)v->most_ns / (double)(v->steps - 1) / 1e9;
}

const struct visit *visit_of(const struct visits *all, int launch, int64_t block, const char *arm,
                             int64_t copy)
{
    for (size_t i = 0; i < all->n; i++) {
        const struct visit *v = &all->v[i];
        if (v->launch == launch && v->block == block && v->copy == copy && !strcmp(v->arm, arm))
            return v;
    }
    return NULL;
}

bool visits_have(const struct visits *all, const char *arm)
{
    for (size_t i = 0; i < all->n; i++)
        if (!strcmp(all->v[i].arm, arm))
            return true;
    return false;
}

void visits_free(struct visits *all)
{
    for (size_t i = 0; i < all->n; i++) {
        free(all->v[i].arm);
        free(all->v[i].rank_ns);
    }
    free(all->v);
    *all = (struct visits){0};
}

/* ---- lines ---- */

/* The file of one rank while it is read. */
struct reader {
    struct journals *j;
    bool joined; /* its "comm" is of the ranks that are read */
    double unix_s, at_ns;
    int64_t file, dropped, step, step_calls;
    size_t next; /* where to look first for the next visit among those of other ranks */
    bool found, over;
};

static void copy_text(char *to, size_t n, const json_t *o, const char *key)
{
    snprintf(to, n, "%s", json_text_of(o, key));
}

/* Ranks that must agree have one name. A lane writes a second one if it turns out that there are more. The files are
 * read in the order of their names, and the name with most ranks wins. */
static void read_comm(struct reader *f, const json_t *o)
{
    struct journals *j = f->j;
    int64_t ranks = json_integer_of(o, "ranks");
    const char *name = json_text_of(o, "comm");
    if (ranks < 1 || ranks > RANKS_MAX)
        return;
    if (ranks > j->ranks) {
        visits_free(&j->visits);
        j->visits.ranks = j->ranks = ranks;
        j->found = j->over = 0;
        snprintf(j->name, sizeof j->name, "%s", name);
        copy_text(j->library, sizeof j->library, o, "library");
    }
    f->joined = !strcmp(name, j->name);
    f->unix_s = (double)json_integer_of(o, "unix_s");
    f->at_ns = (double)json_integer_of(o, "at_ns");
    int64_t nccl = json_integer_of(o, "nccl");
    j->nccl = nccl > j->nccl ? nccl : j->nccl;
    if (f->file >= 0)
        return;
    f->file = j->files++;
    j->places = xrealloc(j->places, (size_t)j->files * sizeof *j->places);
    j->places[f->file] =
        (struct journal_place){json_integer_of(o, "rank"), xstrdup(json_text_of(o, "host")),
                               xstrdup(json_text_of(o, "gpu"))};
}

static void read_made(struct reader *f, const json_t *o, bool *made)
{
    struct journals *j = f->j;
    const char *id = json_text_of(o, "arm");
    size_t i = 0;
    if (!*id) {
        j->made += !*made;
        *made = true;
        return;
    }
    while (i < j->n_arms && strcmp(j->arms[i].id, id))
        i++;
    if (i == j->n_arms) {
        struct journal_arm *new = &APPEND(j->arms, j->n_arms);
        *new = (struct journal_arm){.memory_B = 0};
        snprintf(new->id, sizeof new->id, "%s", id);
    }
    struct journal_arm *a = &j->arms[i];
    a->memory_B += json_number_value(json_object_get(o, "memory_B"));
    a->made_s += json_number_value(json_object_get(o, "made_s"));
    if (!*a->why && !json_is_true(json_object_get(o, "ready")))
        copy_text(a->why, sizeof a->why, o, "why");
}

/* The time of a visit: that of its middle steps, for as many steps as there are without the first, which
 * still runs collectives of the arm before. Where the host times the steps, and a job waits for its GPUs,
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

static struct visit *same_visit(struct reader *f, const json_t *o)
{
    struct visits *all = &f->j->visits;
    int64_t step = json_integer_of(o, "step"), block = json_integer_of(o, "block"),
            copy = json_integer_of(o, "copy"), steps = json_integer_of(o, "steps");
    const char *arm = json_text_of(o, "arm");
    for (size_t i = f->next; i < all->n; i++) {
        struct visit *v = &all->v[i];
        if (v->step == step && v->block == block && v->copy == copy && v->steps == steps &&
            !strcmp(v->arm, arm)) {
            f->next = i + 1;
            return v;
        }
    }
    struct visit *v = &APPEND(all->v, all->n);
    *v = (struct visit){.step = step,
                        .block = block,
                        .copy = copy,
                        .steps = steps,
                        .arm = xstrdup(arm),
                        .least_ns = UINT64_MAX,
                        .rank_ns = xcalloc((size_t)all->ranks + 1, sizeof *v->rank_ns)};
    f->next = all->n;
    return v;
}

static void read_visit(struct reader *f, const json_t *o)
{
    const json_t *at = json_object_get(o, "at_ns");
    size_t n = json_array_size(at);
    uint64_t took = n < 3 || n != (size_t)json_integer_of(o, "steps") + 1
                        ? 0
                        : visit_ns(at, n, json_integer_of(o, "calls"));
    if (!took)
        return;
    struct visit *v = same_visit(f, o);
    if (!v->ranks++)
        v->at = f->unix_s + ((double)json_integer_value(json_array_get(at, 0)) - f->at_ns) / 1e9;
    if (f->file < f->j->ranks)
        v->rank_ns[f->file] = took;
    v->most_ns = took > v->most_ns ? took : v->most_ns;
    v->least_ns = took < v->least_ns ? took : v->least_ns;
    v->left_out = v->left_out || json_object_get(json_object_get(o, "ran"), "none");
}

static void read_line(struct reader *f, const json_t *o, bool *made)
{
    struct journals *j = f->j;
    const char *type = json_text_of(o, "type");
    if (!strcmp(type, "loaded")) {
        j->has_cuda |= json_is_true(json_object_get(o, "has_cuda"));
        j->has_nccl |= json_is_true(json_object_get(o, "has_nccl"));
        j->has_mpi |= json_is_true(json_object_get(o, "has_mpi"));
        j->alone |= json_is_true(json_object_get(o, "alone"));
    } else if (!strcmp(type, "comm")) {
        read_comm(f, o);
    } else if (!strcmp(type, "made")) {
        read_made(f, o, made);
    } else if (!strcmp(type, "before")) {
        copy_text(j->before, sizeof j->before, o, "object");
    } else if (!strcmp(type, "captured")) {
        j->captured = true;
    } else if (!f->joined) {
        return;
    } else if (!strcmp(type, "step")) {
        j->found += !f->found;
        f->found = true;
        int64_t number = json_integer_of(o, "number");
        j->step = number > j->step ? number : j->step;
        j->equal = json_is_true(json_object_get(o, "equal"));
        if (number >= 1 && number <= (int64_t)COUNT(j->steps))
            j->steps[number - 1] =
                (struct journal_step){json_integer_of(o, "calls"), json_integer_of(o, "bytes")};
    } else if (!strcmp(type, "begin")) {
        j->begun = true;
        j->visit_steps = json_integer_of(o, "steps");
        j->all_B = json_integer_of(o, "step_B");
        j->large_B = json_integer_of(o, "large_B");
        j->reduced_B = json_integer_of(o, "reduced_B");
        j->other_B = json_integer_of(o, "other_B");
        j->step_s = fmax(j->step_s, json_number_value(json_object_get(o, "step_s")));
    } else if (!strcmp(type, "seen")) {
        struct journal_seen s = {json_integer_of(o, "calls"), json_integer_of(o, "bytes"),
                                 json_integer_of(o, "others"), json_integer_of(o, "other_B")};
        if (s.calls + s.others > j->seen.calls + j->seen.others)
            j->seen = s;
    } else if (!strcmp(type, "turn")) {
        copy_text(j->turn, sizeof j->turn, o, "arm");
    } else if (!strcmp(type, "visit")) {
        read_visit(f, o);
    } else if (!strcmp(type, "dropped")) {
        f->dropped++;
    } else if (!strcmp(type, "over")) {
        j->over += !f->over;
        f->over = true;
        copy_text(j->why, sizeof j->why, o, "why");
    } else if (!strcmp(type, "end")) {
        j->ended++;
        j->calls = json_integer_of(o, "calls");
    }
}

static void read_file(struct journals *j, const char *path)
{
    struct reader f = {.j = j, .file = -1};
    AUTO_FCLOSE FILE *in = files_stream(path, FILES_OWN);
    AUTO_FREE char *line = NULL;
    size_t cap = 0;
    ssize_t n;
    bool made = false;
    while (in && (n = getline(&line, &cap, in)) > 0 && line[n - 1] == '\n') {
        AUTO_JSON json_t *o = json_loadb(line, (size_t)n, 0, NULL);
        if (o)
            read_line(&f, o, &made);
    }
    j->dropped = f.dropped > j->dropped ? f.dropped : j->dropped;
}

/* Keeps the visits that all ranks completed, of the step with most visits. */
static void keep_whole(struct journals *j)
{
    struct visits *all = &j->visits;
    size_t kept = 0, count[COUNT(j->steps) + 1] = {0};
    int64_t best = 0;
    for (size_t i = 0; i < all->n; i++)
        if (all->v[i].step >= 1 && all->v[i].step <= (int64_t)COUNT(j->steps))
            count[all->v[i].step] += all->v[i].ranks == all->ranks;
    for (int64_t step = 1; step <= (int64_t)COUNT(j->steps); step++)
        if (count[step] >= count[best] && count[step])
            best = step;
    for (size_t i = 0; i < all->n; i++)
        if (all->v[i].step == best && all->v[i].ranks == all->ranks) {
            all->v[kept++] = all->v[i];
        } else {
            free(all->v[i].arm);
            free(all->v[i].rank_ns);
        }
    all->n = kept;
    best = best ? best : j->step;
    if (best >= 1 && best <= (int64_t)COUNT(j->steps)) {
        all->step_calls = j->step_calls = j->steps[best - 1].calls;
        all->step_B = j->step_B = j->steps[best - 1].bytes;
    }
}

bool journals_read(struct journals *j, const char *dir)
{
    AUTO_WORDS struct words names = {0};
    *j = (struct journals){0};
    if (!files_list(dir, "*.jsonl", &names))
        return false;
    words_sort(&names);
    for (size_t i = 0; i < names.n; i++) {
        AUTO_FREE char *path = xstrfmt("%s/%s", dir, names.v[i]);
        read_file(j, path);
    }
    keep_whole(j);
    for (int64_t i = 0, k; i < j->files; i++) {
        for (k = 0; k < i && strcmp(j->places[k].host, j->places[i].host);)
            k++;
        j->hosts += k == i;
    }
    return true;
}

void journals_free(struct journals *j)
{
    visits_free(&j->visits);
    for (int64_t i = 0; i < j->files; i++) {
        free(j->places[i].host);
        free(j->places[i].gpu);
    }
    free(j->places);
    free(j->arms);
    *j = (struct journals){0};
}

bool journals_only_send(const struct journals *j)
{
    const struct journal_seen *s = &j->seen;
    return !j->step && s->others > 100 && s->other_B / 20 >= s->bytes;
}

char *journals_why(const struct journals *j)
{
    if (j->captured)
        return xstrdup("it captures its collectives in a CUDA graph, which nothing can switch");
    if (!j->files)
        return xstrdup(
            j->alone      ? "the job has one rank, which does not communicate"
            : j->has_nccl ? "it has NCCL, but no collective of it on two ranks or more was seen"
            : j->has_mpi  ? "it has MPI, but no collective of it on two ranks or more was seen"
            : j->has_cuda ? "it has CUDA, but no libnccl.so.2, and no collective was seen"
                          : "no collective of NCCL or MPI on two ranks or more was seen");
    if (j->files < j->ranks)
        return xstrfmt(
            "%lld of %lld ranks run without gradsync: they do not get its variables, or do not "
            "see the folder of the recordings",
            (long long)(j->ranks - j->files), (long long)j->ranks);
    if (journals_only_send(j))
        return xstrfmt("it sends and receives: %s in %lld calls of a rank so far, and %s in %lld "
                       "collectives; sends, receives and broadcasts of bytes are never left out",
                       HUMAN_SIZE(j->seen.other_B), (long long)j->seen.others,
                       HUMAN_SIZE(j->seen.bytes), (long long)j->seen.calls);
    if (!j->step && j->ended && !j->calls)
        return xstrdup(
            "it makes no collectives on two ranks or more; sends and receives are never left out");
    if (!j->step && (j->calls || j->seen.calls))
        return xstrfmt("it has no steps: the sequence of its %lld collectives did not repeat",
                       (long long)(j->calls ? j->calls : j->seen.calls));
    if (!j->step)
        return xstrdup("no step was found: it makes no collectives");
    if (j->found < j->ranks)
        return xstrfmt("%lld of %lld ranks found no step: the ranks make other collectives",
                       (long long)(j->ranks - j->found), (long long)j->ranks);
    if (strstr(j->why, "the ranks"))
        return xstrdup(j->why);
    return xstrfmt("it has no steps that last: a sequence of %lld collective%s repeated for a "
                   "while, but no visit of "
                   "some steps was complete%s%s; %lld were interrupted by other collectives",
                   (long long)j->step_calls, j->step_calls == 1 ? "" : "s", *j->why ? ": " : "",
                   j->why, (long long)j->dropped);
}
