/* SPDX-License-Identifier: Apache-2.0
 *
 * gradsync-rank: the program that the launcher starts once per rank. Users start `gradsync run`. It
 * measures every missing group of a launch.
 */
#include "base/clock.h"
#include "base/err.h"
#include "base/jsontext.h"
#include "base/text.h"
#include "plan/plan.h"
#include "rank/group.h"
#include "rank/session.h"
#include "rank/shim.h"
#include "rank/team.h"
#include "record/ledger.h"
#include "record/record.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

/* Seconds for steps that the config's deadline does not cover: loading the plugin's libraries,
 * MPI_Init, and the end. */
#define START_S 120.0
#define END_S 60.0
#define HUNG_END_S 5.0

/* ---- what the launch lacks ---- */

/* Only rank 0 reads the recordings: the other ranks may see the folder later. */
static int find_missing(struct session *r)
{
    struct plan *p = r->plan;
    r->missing = xcalloc(p->n_groups, sizeof *r->missing);
    r->given_up = xcalloc(p->n_cells, sizeof *r->given_up);
    struct ledger *l = NULL;
    int code = r->team.rank == 0 ? ledger_read(&l, r->dir) : GS_OK;
    if (l) {
        ledger_missing(l, p, r->launch, r->missing);
        for (size_t i = 0; i < p->n_cells; i++)
            r->given_up[i] =
                ledger_given_up(l, r->launch, p->cells[i].id, p->set.measure.retries) != NULL;
        ledger_free(l);
    }
    code = (int)team_max(&r->team, code);
    team_share(&r->team, r->missing, p->n_groups * sizeof *r->missing, 0);
    team_share(&r->team, r->given_up, p->n_cells * sizeof *r->given_up, 0);
    return code;
}

/* ---- the plugin ---- */

static int open_plugin(struct session *r)
{
    int code = GS_OK;
    session_step(r, "open");
    enum wl_status status = r->wl->open(&r->self, &r->api.wl);
    if (status != WL_OK) {
        r->self = NULL;
        code = fail(status == WL_SKIP ? GS_CANNOT : GS_FAILED, "%s: rank %d on %s: %s", r->wl->name,
                    r->team.rank, r->team.host,
                    *r->api.why ? r->api.why : "open() failed without a reason");
    } else {
        watchdog_start(&r->watchdog, r->wl->abort, r->self);
    }
    return (int)team_max(&r->team, code);
}

/* ---- the recording ---- */

/* {rank, host, …} of every rank, on rank 0; NULL on the others. */
static json_t *gather_hosts(const struct session *r)
{
    AUTO_JSON json_t *mine = record_host(r->team.rank);
    if (r->health.nvml)
        json_object_set_new(mine, "gpu", nvml_gpu_facts(r->health.nvml));
    if (r->health.speaks)
        json_object_set(mine, "fabric", r->health.fabric);
    if (r->bound)
        json_object_set(mine, "bound", r->bound);
    AUTO_FREE char *text = json_dumps(mine, JSON_COMPACT);
    char **texts = team_texts(&r->team, text);
    json_t *hosts = texts ? json_array() : NULL;
    for (int i = 0; texts && i < r->team.ranks; i++)
        json_array_append_new(hosts, json_loads(texts[i], 0, NULL));
    team_texts_free(&r->team, texts);
    return hosts;
}

static int open_recording(struct session *r)
{
    json_t *hosts = gather_hosts(r);
    if (hosts) {
        AUTO_FREE char *path = record_path(r->dir, r->launch, r->attempt, "jsonl");
        json_t *header = record_header(r->plan, r->dir, r->launch, r->attempt);
        json_object_set_new(
            header, "clock",
            json_pack("{s:s, s:I}", "name", CLOCK_NAME, "step_ns", (json_int_t)r->clock_step_ns));
        json_object_set_new(header, "mpi", json_string(r->team.mpi));
        json_object_set_new(header, "hosts", hosts);
        record_attempt_open(&r->recording, path, header);
        if (!r->recording.code)
            r->recording.code = lateness_begin(&r->lateness);
    }
    return (int)team_max(&r->team, r->recording.code);
}

/* ---- the attempt ---- */

static int set_up(struct session *r)
{
    session_own_step(r, "open");
    host_api_begin(&r->api, &r->team, &r->recording, plan_launch_seed(r->plan->seed, r->launch));
    record_attempt_begin(&r->recording, r->team.rank == 0);
    health_open(&r->health, &r->team);
    const struct set_launch *set = &r->plan->set.launch;
    int code = r->team.ranks == set->ranks
                   ? GS_OK
                   : fail_at(GS_USAGE, r->plan->config->path, 0,
                             "ranks=%lld in the plan, but %d ranks were started",
                             (long long)set->ranks, r->team.ranks);
    TRY(code, find_missing(r));
    TRY(code, open_plugin(r));
    session_own_step(r, "open");
    if (code)
        return code;
    /* The coarsest clock step of all ranks, and the sample time: at least a thousand such steps. */
    r->clock_step_ns = (uint64_t)team_max(&r->team, (int64_t)clock_step_ns(clock_now_ns));
    uint64_t asked_ns = (uint64_t)(r->plan->set.measure.sample_time * 1e9);
    r->sample_ns = 1000 * r->clock_step_ns > asked_ns ? 1000 * r->clock_step_ns : asked_ns;
    return open_recording(r);
}

static enum course measure_groups(struct session *r)
{
    uint32_t all = 0, done = 0;
    size_t n = r->plan->n_groups;
    AUTO_FREE size_t *order = xcalloc(n, sizeof *order);
    struct visit v;
    enum course course = GO_ON;
    visit_begin(&v, r);
    plan_order_groups(order, n, r->plan->seed, r->launch);
    for (size_t i = 0; i < n; i++)
        all += r->missing[i];
    atomic_store(&r->beat->groups, all);
    for (size_t i = 0; i < n && course == GO_ON; i++) {
        if (!r->missing[order[i]])
            continue;
        atomic_store(&r->beat->groups_done, done++);
        course = group_measure(r, &v, order[i]);
    }
    if (course == GO_ON)
        atomic_store(&r->beat->groups_done, done);
    free(v.mine);
    free(v.values);
    return course;
}

static const char *const status_of[] = {
    [GO_ON] = "complete", [STOP] = "interrupted", [BROKEN] = "failed", [HUNG] = "hang"};

/* After a hang the beat keeps the step, so that the shim can report it; the supervisor then closes
 * the recording. */
static enum course take_down(struct session *r, enum course course)
{
    if (course == HUNG)
        atomic_store(&r->beat->deadline_ns, clock_now_ns() + (uint64_t)(HUNG_END_S * 1e9));
    else
        beat_step(r->beat, "close", END_S);
    if (course <= STOP)
        record_attempt_end(&r->recording, status_of[course]);
    record_attempt_close(&r->recording);
    free(r->lateness.control);
    watchdog_stop(&r->watchdog);
    if (r->self && course != HUNG)
        r->wl->close(r->self);
    if (r->recording.code)
        course = BROKEN;
    health_close(&r->health);
    free(r->missing);
    free(r->given_up);
    json_decref(r->bound);
    return course;
}

struct measure {
    const char *dir; /* the run folder, the same for every rank */
    int launch, attempt, local_rank;
    struct beat *beat;
};

/* Returns the exit code of the process. beat->status is complete, interrupted, hang (the plugin was
 * aborted), or failed (another rank has the reason). beat->error is this rank's own error, if any. */
static int measure(void *arg)
{
    const struct measure *m = arg;
    struct session r = {.dir = m->dir, .launch = m->launch, .attempt = m->attempt, .beat = m->beat};
    beat_step(r.beat, "init", START_S);
    CHECK(plan_read(&r.plan, r.dir));
    r.wl = &r.plan->plugin->wl;
    r.bound = bind_to_gpu(r.plan, m->local_rank);
    int code = team_join(&r.team, r.beat);
    TRY(code, set_up(&r));
    enum course course = code ? BROKEN : measure_groups(&r);
    course = take_down(&r, course);
    MPI_Comm_free(&r.team.comm);
    MPI_Finalize();
    plan_free(r.plan);
    snprintf(r.beat->status, sizeof r.beat->status, "%s", status_of[course]);
    if (course <= STOP) /* earlier errors were handled */
        r.beat->error[0] = '\0';
    if (!*r.beat->error)
        return GS_OK;
    return code ? code : GS_FAILED;
}

/* ---- the program ---- */

int main(int argc, char **argv)
{
    long long launch, attempt;
    const char *end;
    signal(SIGXFSZ, SIG_IGN); /* beyond a file size limit write(2) fails instead of killing us */
    if (argc != 4 || !text_integer(argv[2], 1, INT_MAX, &launch, &end) || *end ||
        !text_integer(argv[3], 1, INT_MAX, &attempt, &end) || *end)
        return fail(GS_USAGE, "gradsync run starts this: gradsync-rank RUNDIR LAUNCH ATTEMPT");
    struct rank_place place;
    place_find(&place);
    struct beat *beat =
        mmap(NULL, sizeof *beat, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (beat == MAP_FAILED)
        return fail(GS_CANNOT, "rank %d on %s: cannot allocate the memory that the ranks share",
                    place.rank, place.host);
    struct measure m = {.dir = argv[1],
                        .launch = (int)launch,
                        .attempt = (int)attempt,
                        .local_rank = place.local_rank,
                        .beat = beat};
    return shim(&place, beat, measure, &m);
}
