/* SPDX-License-Identifier: Apache-2.0
 *
 * The parts of a campaign that need no Slurm: words for shells, indices, the ledger, the reasons,
 * campaign.json.
 */
#include "base/shell.h"
#include "cluster/campaign.h"
#include "cluster/cluster_status.h"
#include "cluster/slurm.h"
#include "folder.h"
#include "record/runs.h"

#include <dirent.h>
#include <sys/resource.h>

/* Two arrays: tasks 1 to 4, at most 2 at a time, and 5 to 7. */
static struct campaign campaign_of(void)
{
    static struct camp_run runs[] = {
        {.dir = "runs/p/null/r", .platform = "p", .section = "null", .launches = 7, .retries = 1}};
    static struct camp_task tasks[7];
    static struct camp_array arrays[] = {{"array-1.sh", 0, 4, 2}, {"array-2.sh", 4, 3, 0}};
    for (int i = 0; i < 7; i++)
        tasks[i] = (struct camp_task){0, i < 4 ? 0 : 1, i + 1, i + 1};
    return (struct campaign){.dir = folder.dir,
                             .id = "gs-test",
                             .runs = runs,
                             .tasks = tasks,
                             .arrays = arrays,
                             .n_runs = 1,
                             .n_tasks = 7,
                             .n_arrays = 2};
}

/* ---- words ---- */

TEST(words_come_back_from_a_shell)
{
    static const struct {
        const char *word, *quoted;
    } known[] = {
        {"plain/path-1.x", "plain/path-1.x"},
        {"", "''"},
        {"a b", "'a b'"},
        {"it's", "'it'\\''s'"},
        {"$(x)", "'$(x)'"},
        {"~", "'~'"},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        assert_string_equal(SHELL_WORD(known[i].word), known[i].quoted);
}

TEST(words_that_sbatch_may_read)
{
    assert_true(campaign_sbatch_value("gpu:h200:4") && campaign_sbatch_value("[a|b]&c*2"));
    static const char *const nasty[] = {"", "a b", "a\n", "$x", "`x`", "a#b", "a'b", "a\"b", "a;b"};
    for (size_t i = 0; i < sizeof nasty / sizeof *nasty; i++)
        assert_false(campaign_sbatch_value(nasty[i]));
    assert_true(campaign_sbatch_option("mail-user") && !campaign_sbatch_option("-x") &&
                !campaign_sbatch_option("a=b"));
    assert_true(campaign_sbatch_module("mpi/4.1") && !campaign_sbatch_module("--force") &&
                !campaign_sbatch_module("a b"));
    assert_true(campaign_sbatch_line("export A=\"$B\"") && !campaign_sbatch_line("a\nb"));
    assert_true(campaign_sbatch_path("/a b") && !campaign_sbatch_path("/a%j") &&
                !campaign_sbatch_path("/a\\b"));
}

/* ---- indices and the ledger ---- */

TEST_IN_FOLDER(indices_of_what_is_wanted)
{
    struct campaign c = campaign_of();
    const bool some[7] = {true, true, false, true, false, false, true}, none[7] = {false};
    char *all = slurm_submit_indices(&c, 0, NULL), *first = slurm_submit_indices(&c, 0, some),
         *second = slurm_submit_indices(&c, 1, some);
    assert_string_equal(all, "1-4%2");
    assert_string_equal(first, "1-2,4%2");
    assert_string_equal(second, "3");
    assert_null(slurm_submit_indices(&c, 1, none));
    free(all);
    free(first);
    free(second);
}

TEST_IN_FOLDER(the_ledger_knows_the_last_job_of_a_task)
{
    struct campaign c = campaign_of();
    struct jobs j;
    assert_int_equal(slurm_jobs_read(&j, &c), GS_OK); /* none yet */
    assert_int_equal(j.n, 0);
    assert_int_equal(slurm_jobs_add(&c, 10, 0, "1-4%2"), GS_OK);
    assert_int_equal(slurm_jobs_add(&c, 11, 1, "1-3"), GS_OK);
    assert_int_equal(slurm_jobs_add(&c, 4294967308, 0, "2,4%2"), GS_OK); /* above 2^32 */
    assert_int_equal(slurm_jobs_read(&j, &c), GS_OK);
    static const long last[] = {10, 4294967308, 10, 4294967308, 11, 11, 11};
    for (size_t i = 0; i < 7; i++)
        assert_int_equal(slurm_jobs_last(&j, &c, i), last[i]);
    assert_true(slurm_jobs_knows(&j, 11) && !slurm_jobs_knows(&j, 13) && !j.cancelled);
    slurm_jobs_free(&j);
}

static int open_files(void)
{
    int n = 0;
    DIR *d = opendir("/proc/self/fd");
    assert_non_null(d);
    while (readdir(d))
        n++;
    closedir(d);
    return n;
}

/* Room for the first pipe, and not for the second. */
TEST_IN_FOLDER(a_client_that_cannot_start_leaves_no_file)
{
    struct reply r;
    struct rlimit before;
    int count = open_files(), last = dup(STDIN_FILENO);
    close(last);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    struct rlimit tight = {.rlim_cur = (rlim_t)last + 1, .rlim_max = before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &tight), 0);
    int code = campaign_client_run(&r, (const char *const[]){"true", NULL}, "nothing was done");
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_int_equal(code, GS_FAILED);
    folder_says("true cannot be started: Too many open files");
    assert_int_equal(open_files(), count);
    campaign_reply_free(&r);
}

TEST_IN_FOLDER(a_torn_line_harms_no_other)
{
    struct campaign c = campaign_of();
    struct jobs j;
    folder_put(CAMPAIGN_LEDGER, "{\"type\":\"job\",\"job\":9,\"arr");
    assert_int_equal(slurm_jobs_add(&c, 10, 0, "1-4"), GS_OK);
    assert_int_equal(slurm_jobs_cancelled(&c), GS_OK);
    assert_int_equal(slurm_jobs_read(&j, &c), GS_OK);
    assert_int_equal(j.n, 1);
    assert_true(j.cancelled);
    slurm_jobs_free(&j);
    assert_int_equal(slurm_jobs_add(&c, 11, 9, "1"), GS_OK); /* an array that there is not */
    assert_int_equal(slurm_jobs_read(&j, &c), GS_OK);
    assert_int_equal(j.n, 1);
    slurm_jobs_free(&j);
}

/* A crash of the machine may leave NULs. */
TEST_IN_FOLDER(nuls_hide_no_job)
{
    struct campaign c = campaign_of();
    struct jobs j;
    FILE *out = fopen(folder_path(CAMPAIGN_LEDGER), "w");
    assert_non_null(out);
    assert_int_equal(fwrite("\n\0\0\0", 1, 4, out), 4);
    assert_int_equal(fclose(out), 0);
    assert_int_equal(slurm_jobs_add(&c, 10, 0, "1-4"), GS_OK);
    assert_int_equal(slurm_jobs_read(&j, &c), GS_OK);
    assert_int_equal(j.n, 1);
    slurm_jobs_free(&j);
}

TEST_IN_FOLDER(the_ledger_is_no_link)
{
    struct campaign c = campaign_of();
    folder_put("elsewhere", "mine\n");
    assert_int_equal(symlink(folder_path("elsewhere"), folder_path(CAMPAIGN_LEDGER)), 0);
    assert_int_equal(slurm_jobs_add(&c, 10, 0, "1"), GS_FAILED);
    AUTO_TEXT struct text t = {0};
    assert_true(text_read_file(folder_path("elsewhere"), &t));
    assert_string_equal(t.s, "mine\n");
}

/* ---- reasons ---- */

TEST(why_a_job_waits)
{
    static const struct {
        const char *reason, *why;
        bool held;
    } known[] = {
        {"JobHeldUser", "held", true},
        {"launch failed requeued held", "could not be started on its node, and is held", true},
        {"BeginTime", "queued again after a preemption or the loss of its node", false},
        {"QOSMaxJobsPerUserLimit", "a limit of its qos is reached", false},
        {"Priority", "in the queue (Priority)", false},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        struct job job = {.state = "PENDING"};
        struct reason r;
        snprintf(job.reason, sizeof job.reason, "%s", known[i].reason);
        assert_int_equal(cluster_reason_waits(&r, &job), known[i].held);
        assert_string_equal(r.why, known[i].why);
    }
}

TEST_IN_FOLDER(why_a_job_ended)
{
    static const struct {
        const char *state, *log, *why;
    } known[] = {
        {"TIMEOUT", "", "time limit"},
        {"OUT_OF_MEMORY", "", "out of memory"},
        {"CANCELLED", "slurmstepd: error: Step 1.0 exceeded memory limit\n*** CANCELLED AT x ***",
         "cancelled"},
        {"CANCELLED", "*** CANCELLED AT x ***\nslurmstepd: error: Detected 1 oom-kill event(s)",
         "out of memory"},
        {"CANCELLED", "*** CANCELLED AT x ***\nslurmstepd: error: Step 1.0 exceeded memory limit",
         "out of memory"},
        {"PREEMPTED", "", "preempted"},
        {"BOOT_FAIL", "", "its node did not start"},
        {NULL, "*** JOB 3 ON n1 CANCELLED AT 2026 DUE TO PREEMPTION ***", "preempted"},
        {NULL, "*** JOB 3 ON n1 CANCELLED AT 2026 DUE TO TIME LIMIT ***", "time limit"},
        {NULL, "*** JOB 3 ON n1 CANCELLED AT 2026 DUE TO JOB REQUEUE ***",
         "queued again, then lost"},
        {NULL,
         "gradsync: User defined signal 1: finishing the current block; press Ctrl-C again to stop "
         "now",
         "stopped before its time limit"},
        {NULL, "*** JOB 3 ON n1 CANCELLED AT 2026 DUE TO NODE FAILURE, SEE SLURMCTLD LOG ***",
         "its node failed"},
        {NULL, "", "ended; Slurm no longer knows how"},
        {"FAILED", "hello\ngradsync: no mpirun in PATH\n", "no mpirun in PATH"},
        {"FAILED", "gradsync: a \033[2Jlog of \302\233others", "a  [2Jlog of ?others"},
        {"NEW_STATE_OF_TOMORROW", "", "ended without a result"},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        struct reason r = {0};
        folder_put("log", known[i].log);
        cluster_reason_ended(&r, known[i].state, folder_path("log"));
        assert_string_equal(r.why, known[i].why);
        assert_true(*r.remedy);
    }
    struct reason r = {0};
    folder_put("log", "gradsync: srun ended with code 1 before the ranks finished: no pmix\n");
    cluster_reason_ended(&r, "FAILED", folder_path("log"));
    assert_non_null(strstr(r.remedy, "launcher = mpirun")); /* resume alone would fail again */
    cluster_reason_ended(&r, "FAILED", folder_path("no log"));
    assert_string_equal(r.why, "could not write its log");
}

/* ---- campaign.json ---- */

TEST_IN_FOLDER(what_was_written_is_read)
{
    struct campaign c = campaign_of(), got;
    assert_int_equal(campaign_write(&c), GS_OK);
    assert_int_equal(campaign_read(&got, folder.dir), GS_OK);
    assert_string_equal(got.id, "gs-test");
    assert_int_equal(got.n_tasks, 7);
    assert_int_equal(got.tasks[6].first, 7);
    assert_int_equal(got.tasks[6].array, 1);
    assert_int_equal(got.arrays[0].throttle, 2);
    assert_string_equal(got.runs[0].dir, "runs/p/null/r");
    campaign_free(&got);
}

TEST_IN_FOLDER(a_campaign_of_somebody_else_stays_in_its_folder)
{
    static const struct {
        const char *text, *says;
    } bad[] = {
        {"{", "damaged"},
        {"{}", "no number 'schema'"},
        {"{\"schema\":99,\"id\":\"a\"}", "schema 99"},
        {"{\"schema\":1,\"id\":\"a b\",\"runs\":[],\"arrays\":[],\"tasks\":[]}", "is not a name"},
        {"{\"schema\":1,\"id\":\"a\",\"runs\":[{\"dir\":\"../../"
         "etc\",\"platform\":\"p\",\"section\":"
         "\"s\",\"launches\":1,\"retries\":1}],\"arrays\":[],\"tasks\":[]}",
         "is invalid"},
        {"{\"schema\":1,\"id\":\"a\",\"runs\":[{\"dir\":\"flat\",\"platform\":\"p\",\"section\":"
         "\"s\",\"launches\":1,\"retries\":1}],\"arrays\":[],\"tasks\":[]}",
         "is invalid"},
        {"{\"schema\":1,\"id\":\"a\",\"runs\":[{\"dir\":\"runs/p;x/w/"
         "r\",\"platform\":\"p\",\"section\":"
         "\"s\",\"launches\":1,\"retries\":1}],\"arrays\":[],\"tasks\":[]}",
         "is invalid"},
        {"{\"schema\":1,\"id\":\"a\",\"runs\":[{\"dir\":\"runs/p/w/r/"
         "s\",\"platform\":\"p\",\"section\":"
         "\"s\",\"launches\":1,\"retries\":1}],\"arrays\":[],\"tasks\":[]}",
         "is invalid"},
        {"{\"schema\":1,\"id\":\"a\",\"runs\":[],\"arrays\":[{\"script\":\"/bin/sh\",\"first\":0,"
         "\"tasks\":1,\"throttle\":0}],\"tasks\":[]}",
         "is invalid"},
        {"{\"schema\":1,\"id\":\"a\",\"runs\":[],\"arrays\":[],\"tasks\":[[0,0,1,1]]}",
         "is invalid"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct campaign c;
        folder_put(CAMPAIGN_FILE, bad[i].text);
        assert_int_not_equal(campaign_read(&c, folder.dir), GS_OK);
        folder_says(bad[i].says);
        campaign_free(&c);
    }
}
