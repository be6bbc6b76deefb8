/* SPDX-License-Identifier: Apache-2.0 */
#include "record/choose_runs.h"

#include "base/err.h"
#include "base/files.h"
#include "base/jsontext.h"
#include "base/locate.h"
#include "base/text.h"
#include "record/raw.h"
#include "record/record.h"
#include "record/run_campaign.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SUMS "data/SHA256SUMS" /* lists the recordings of the repository */

/* ---- order ---- */

/* Run ids begin with the time. */
static bool is_later(const struct run_folder *a, const struct run_folder *b)
{
    bool measured = runs_measured(a->dir);
    if (measured != runs_measured(b->dir))
        return measured;
    return strcmp(path_name(a->dir), path_name(b->dir)) > 0;
}

const struct run_folder *choice_latest(const struct choice *c)
{
    const struct run_folder *latest = NULL;
    for (size_t i = 0; i < c->runs.n; i++)
        if (!latest || is_later(&c->runs.v[i], latest))
            latest = &c->runs.v[i];
    return latest;
}

/* ---- this machine ---- */

static bool is_platform(const struct run_folder *run, const char *name)
{
    size_t n = strlen(name);
    return !strncmp(run->key, name, n) && run->key[n] == '\n';
}

/* Part of the repository. A host name does not tell: many machines are called `vm` or `localhost`. */
static bool is_listed(const struct run_folder *run, const struct text *sums)
{
    AUTO_FREE char *path = xstrfmt("  %s/", run->dir);
    return sums->len && strstr(sums->s, path);
}

static bool is_here(const struct run_folder *run, const struct text *sums)
{
    char host[256] = "";
    if (is_platform(run, "local"))
        return true;
    if (gethostname(host, sizeof host - 1) || !*host || is_listed(run, sums))
        return false;
    return is_platform(run, host) || !strcmp(run->host, host);
}

static const struct run_folder *latest_here(const struct runs *runs)
{
    AUTO_TEXT struct text sums = {0};
    const struct run_folder *latest = NULL;
    files_read(SUMS, FILES_ANY, FILES_WHOLE_MAX, &sums); /* a folder of recordings may have none */
    for (size_t i = 0; i < runs->n; i++)
        if (is_here(&runs->v[i], &sums) && (!latest || is_later(&runs->v[i], latest)))
            latest = &runs->v[i];
    return latest;
}

/* ---- the latest of each section ---- */

static void drop(struct runs *runs, size_t i)
{
    run_folder_free(&runs->v[i]);
    memmove(runs->v + i, runs->v + i + 1, (--runs->n - i) * sizeof *runs->v);
}

static void keep_platform(struct runs *runs, const char *platform)
{
    for (size_t i = runs->n; i-- > 0;)
        if (!is_platform(&runs->v[i], platform))
            drop(runs, i);
}

/* Of one section: a complete run goes before one that was interrupted, or is under way. */
static bool stands_for(const struct run_folder *a, const struct run_folder *b)
{
    bool complete = run_is_final(a->dir);
    return complete != run_is_final(b->dir) ? complete : is_later(a, b);
}

/* All trials share one section. The group id of a cell tells their steps apart. */
static void steps_of(struct words *steps, const char *dir)
{
    AUTO_WORDS struct words paths = {0};
    char ignored[1];
    err_capture(ignored, sizeof ignored);
    record_list(dir, &paths);
    for (size_t i = 0; i < paths.n && !steps->n; i++) {
        struct raw *raw = NULL;
        struct raw_line l;
        if (!raw_open(&raw, paths.v[i]))
            while (raw_next(raw, 1u << RAW_CELL, &l) == 1)
                words_add_once(steps, json_text_of(l.json, "group"));
        if (raw)
            raw_close(raw);
    }
    err_capture(NULL, 0);
}

static bool is_job(const struct run_folder *run)
{
    const char *workload = strchr(run->key, '\n');
    return workload && (!strncmp(workload, "\ntrial\n", 7) || !strncmp(workload, "\ntrain\n", 7));
}

/* Of one section: runs of other jobs, with other steps, do not replace each other. */
static bool same_steps(const struct run_folder *a, const struct run_folder *b)
{
    AUTO_WORDS struct words x = {0}, y = {0};
    if (!is_job(a))
        return true;
    steps_of(&x, a->dir);
    steps_of(&y, b->dir);
    bool same = !x.n || !y.n;
    for (size_t i = 0; i < x.n && !same; i++)
        same = words_has(&y, x.v[i]);
    return same;
}

static void leave_out(struct choice *c, size_t i, const struct run_folder *kept)
{
    const char *dir = c->runs.v[i].dir, *name = path_name(dir);
    bool newer = !run_is_final(dir) && strcmp(name, path_name(kept->dir)) > 0;
    if (newer && (!c->unfinished || strcmp(name, path_name(c->unfinished)) > 0))
        xstrset(&c->unfinished, dir);
    c->older += !newer;
    drop(&c->runs, i);
}

/* Runs are sorted, so those of one section are adjacent. */
static void keep_latest(struct choice *c)
{
    for (size_t i = c->runs.n; i-- > 1;)
        for (size_t k = i; k-- > 0 && runs_same_section(&c->runs.v[i], &c->runs.v[k]);) {
            const struct run_folder *a = &c->runs.v[i], *b = &c->runs.v[k];
            if (!same_steps(a, b))
                continue;
            if (!stands_for(a, b)) {
                leave_out(c, i, b);
                break;
            }
            leave_out(c, k, a);
            i--;
        }
}

static char *platform_of(const struct run_folder *run)
{
    return xstrfmt("%.*s", (int)strcspn(run->key, "\n"), run->key);
}

/* Of the platform, or NULL: of this machine. */
static void note_failed(struct choice *c, const char *platform)
{
    AUTO_TEXT struct text sums = {0};
    files_read(SUMS, FILES_ANY, FILES_WHOLE_MAX, &sums);
    for (size_t i = 0; i < c->runs.n; i++) {
        const struct run_folder *run = &c->runs.v[i];
        bool later = !c->failed || strcmp(path_name(run->dir), path_name(c->failed)) > 0;
        if (later && (platform ? is_platform(run, platform) : is_here(run, &sums)) &&
            run_is_final(run->dir) && !runs_measured(run->dir))
            xstrset(&c->failed, run->dir);
    }
}

/* ---- the choice ---- */

int choose_runs(struct choice *c, const char *const *args, size_t n)
{
    static const char *const everything[] = {LOCATE_DATA};
    AUTO_FREE char *folder = n == 1 ? locate_platform(args[0]) : NULL;
    *c = (struct choice){.named = folder};
    int code = runs_below(&c->runs, n ? args : everything, n ? n : 1);
    if (!code && (folder || !n))
        note_failed(c, folder ? args[0] : NULL);
    if (!code && folder)
        c->platform = xstrdup(args[0]);
    if (!code && !n) {
        const struct run_folder *mine = latest_here(&c->runs);
        c->here = mine;
        c->platform = platform_of(mine ? mine : choice_latest(c));
        keep_platform(&c->runs, c->platform);
    }
    if (!code && c->platform)
        keep_latest(c);
    return code;
}

int choose_every_run(struct choice *c, const char *const *args, size_t n)
{
    *c = (struct choice){0};
    return runs_below(&c->runs, args, n);
}

int choose_quietly(struct choice *c)
{
    char ignored[1];
    err_capture(ignored, sizeof ignored);
    int code = choose_runs(c, NULL, 0);
    err_capture(NULL, 0);
    return code;
}

void choice_say(const struct choice *c)
{
    char older[96] = "";
    AUTO_FREE char *unfinished = NULL, *command = NULL;
    if (!c->platform)
        return;
    if (c->unfinished) {
        command = run_completed_by(c->unfinished);
        unfinished =
            xstrfmt(", without a newer run that is unfinished (to complete it: %s)", command);
    }
    const struct run_folder *latest = choice_latest(c);
    bool failed = c->failed && latest && strcmp(path_name(c->failed), path_name(latest->dir)) > 0;
    bool of_many = c->one && c->runs.n + c->older > 1;
    if (of_many && c->named)
        snprintf(older, sizeof older, ", latest of %zu runs", c->runs.n + c->older);
    else if (c->older && !c->one)
        snprintf(older, sizeof older, ", without %zu older run%s", c->older,
                 c->older == 1 ? "" : "s");
    say("platform %s%s%s%s%s%s%s%s", c->platform,
        c->named  ? ""
        : c->here ? ", the latest of this machine"
                  : ", the latest (this machine has no recording)",
        older, unfinished ? unfinished : "", failed ? "; newer: " : "", failed ? c->failed : "",
        failed ? ", all cells failed" : "",
        of_many    ? "; others: gradsync list recordings"
        : c->named ? ""
                   : "; others: gradsync list measured");
}

void choice_free(struct choice *c)
{
    runs_free(&c->runs);
    free(c->platform);
    free(c->unfinished);
    free(c->failed);
    *c = (struct choice){0};
}
