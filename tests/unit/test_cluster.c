/* SPDX-License-Identifier: Apache-2.0
 *
 * The parts of a campaign that need no Slurm: words for shells, and the ledger of a run.
 */
#include "base/shell.h"
#include "cluster/campaign.h"
#include "folder.h"
#include "record/runs.h"

#include <sys/resource.h>
#include <sys/stat.h>

#define HEAD "{\"launches\":4,\"throttle\":3,\"retries\":1}\n"

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
    for (size_t i = 0; i < COUNT(known); i++)
        assert_string_equal(SHELL_WORD(known[i].word), known[i].quoted);
    assert_true(slurm_path("/a b") && !slurm_path("/a%j") && !slurm_path("/a\\b"));
}

TEST_IN_FOLDER(no_file_is_left_open_where_none_can_be_opened)
{
    AUTO_TEXT struct text out = {0};
    struct rlimit before;
    int last = dup(STDIN_FILENO);
    close(last);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    struct rlimit tight = {.rlim_cur = (rlim_t)last + 1, .rlim_max = before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &tight), 0);
    int code = slurm_call(&out, "nothing was done", (const char *const[]){"true", NULL});
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_int_equal(code, GS_FAILED);
    folder_says("true cannot be started: Too many open files");
    int again = dup(STDIN_FILENO);
    assert_int_equal(again, last);
    close(again);
}

/* Reads the run p/null/r, whose ledger has these bytes, without its recordings. */
static int read_ledger(struct campaign *c, const char *bytes, size_t n)
{
    mkdir(folder_path("p"), 0777);
    mkdir(folder_path("p/null"), 0777);
    mkdir(folder_path("p/null/r"), 0777);
    folder_put("p/null/r/plan.json", "{\"cells\": []}");
    FILE *out = fopen(folder_path("p/null/r/" RUNS_JOBS), "w");
    assert_non_null(out);
    assert_int_equal(fwrite(bytes, 1, n, out), n);
    assert_int_equal(fclose(out), 0);
    return campaign_read(c, folder.dir, false);
}

TEST_IN_FOLDER(the_ledger_says_which_job_measures_a_launch)
{
    struct campaign c;
    /* A line that a crash cut short, NULs that one of the machine left, and a job of no launch. */
    static const char ledger[] =
        "\n" HEAD "\n{\"job\":9,\"launches\":\"1-4\"}\n\0\0\n{\"job\":8,\"laun"
        "\n{\"job\":12,\"launches\":\"2,4%3\"}\n{\"job\":13,\"launches\":\"\"}\n";
    read_ledger(&c, ledger, sizeof ledger - 1);
    assert_int_equal(c.n, 1);
    assert_int_equal(c.runs[0].n_tasks, 4);
    assert_int_equal(c.runs[0].throttle, 3);
    const long jobs[] = {9, 12, 9, 12};
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(c.runs[0].tasks[i].last_job, jobs[i]);
    campaign_free(&c);
}

TEST_IN_FOLDER(a_damaged_ledger_is_refused)
{
    static const char *const bad[] = {"",
                                      "{",
                                      "[]\n",
                                      "{\"launches\":0}\n",
                                      "{\"launches\":999999999999}\n"};
    for (size_t i = 0; i < COUNT(bad); i++) {
        struct campaign c;
        assert_int_equal(read_ledger(&c, bad[i], strlen(bad[i])), GS_FAILED);
        folder_says("no line says how many launches it has");
        campaign_free(&c);
    }
}
