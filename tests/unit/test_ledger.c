/* SPDX-License-Identifier: Apache-2.0 */
#include "folder.h"
#include "record/ledger.h"
#include "record/record.h"

#define HEADER_OF(launch, attempt)                                                                 \
    "{\"type\":\"header\",\"schema\":1,\"gradsync\":\"0.1.0\",\"run_id\":\"x\","                   \
    "\"launch\":" #launch ",\"attempt\":" #attempt "}\n"
#define HEADER HEADER_OF(1, 1)
#define GROUP(id) "{\"type\":\"group\",\"group\":\"" id "\",\"blocks\":20,\"cells\":[]}\n"
#define FAIL(cell, kind)                                                                           \
    "{\"type\":\"fail\",\"cell\":\"" cell "\",\"copy\":0,\"kind\":\"" kind                         \
    "\",\"why\":\"because\",\"rank\":1,\"host\":\"h\",\"phase\":\"sample\"}\n"
#define END(status) "{\"type\":\"end\",\"at\":1.5,\"status\":\"" status "\"}\n"

static struct ledger *held; /* what was read last */

static int tear_down(void **state)
{
    ledger_free(held);
    held = NULL;
    return folder_tear_down(state);
}

static const struct ledger *read_ledger(void)
{
    ledger_free(held);
    if (ledger_read(&held, folder.dir))
        fail_msg("%s", folder.error);
    return held;
}

/* Two groups: cells a and b, and cell c. */
static struct cell cells[] = {{.id = "a"}, {.id = "b"}, {.id = "c"}};
static struct group groups[] = {{"g1", 0, 2}, {"g2", 2, 1}};

static struct plan plan_of(int64_t retries)
{
    struct plan p = {.cells = cells, .n_cells = 3, .groups = groups, .n_groups = 2};
    p.set.measure.retries = retries;
    return p;
}

TEST_WITH(an_empty_folder_lacks_everything, folder_set_up, tear_down)
{
    struct plan p = plan_of(2);
    bool missing[2];
    const struct ledger *l = read_ledger();
    assert_int_equal(ledger_missing(l, &p, 1, missing), 2);
    assert_true(missing[0] && missing[1]);
    assert_int_equal(ledger_next_attempt(l, 1), 1);
}

TEST_WITH(what_an_attempt_closed_is_not_missing_in_its_launch, folder_set_up, tear_down)
{
    struct plan p = plan_of(2);
    bool missing[2];
    int attempt = 0;
    folder_put("launch-01.01.jsonl", HEADER GROUP("g1"));
    folder_put("launch-01.02.jsonl", HEADER_OF(1, 2) GROUP("g2") END("complete"));
    folder_put("launch-02.01.jsonl", HEADER_OF(2, 1) GROUP("g2") END("interrupted"));
    const struct ledger *l = read_ledger();
    assert_int_equal(ledger_missing(l, &p, 1, missing), 0);
    assert_true(ledger_closed(l, 1, "g2", &attempt));
    assert_int_equal(attempt, 2);
    assert_false(ledger_closed(l, 2, "g1", NULL));
    assert_int_equal(ledger_missing(l, &p, 2, missing), 1);
    assert_true(missing[0] && !missing[1]);
    assert_int_equal(ledger_missing(l, &p, 3, NULL), 2);
    assert_int_equal(ledger_next_attempt(l, 1), 3);
    assert_int_equal(ledger_next_attempt(l, 3), 1);
}

/* As text, 100 comes before 11. */
TEST_WITH(files_of_a_hundred_launches_are_in_their_order, folder_set_up, tear_down)
{
    folder_put("launch-100.01.jsonl", HEADER_OF(100, 1));
    folder_put("launch-11.100.jsonl", HEADER_OF(11, 100));
    folder_put("launch-11.11.jsonl", HEADER_OF(11, 11));
    const struct ledger *l = read_ledger();
    assert_int_equal(l->n_files, 3);
    assert_int_equal(l->files[0].attempt, 11);
    assert_int_equal(l->files[1].attempt, 100);
    assert_int_equal(l->files[2].launch, 100);
}

TEST_WITH(a_death_is_tried_again_and_a_failure_is_not, folder_set_up, tear_down)
{
    static const struct {
        const char *kind;
        bool at_once;
    } kinds[] = {{"skip", true},   {"failed", true}, {"wrong", true},
                 {"crash", false}, {"hang", false},  {"lost", false}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        AUTO_FREE char *text = xstrfmt(HEADER FAIL("a", "%s"), kinds[i].kind);
        folder_put("launch-01.01.jsonl", text);
        const struct ledger *l = read_ledger();
        assert_int_equal(ledger_given_up(l, 1, "a", 1) != NULL, kinds[i].at_once);
        assert_non_null(ledger_given_up(l, 1, "a", 0));
        assert_null(ledger_given_up(l, 1, "b", 0));
        assert_null(ledger_given_up(l, 2, "a", 0));
    }
}

TEST_WITH(deaths_add_up_over_attempts, folder_set_up, tear_down)
{
    folder_put("launch-01.01.jsonl", HEADER FAIL("a", "crash") END("crash"));
    folder_put("launch-01.02.jsonl", HEADER_OF(1, 2) FAIL("a", "hang") END("hang"));
    assert_null(ledger_given_up(read_ledger(), 1, "a", 2));
    folder_put("launch-01.03.jsonl", HEADER_OF(1, 3) FAIL("a", "lost") END("lost"));
    const struct ledger *l = read_ledger();
    assert_non_null(ledger_given_up(l, 1, "a", 2));
    assert_int_equal(l->n_fails, 3);
    assert_string_equal(l->fails[2].why, "because");
    assert_int_equal(l->fails[2].attempt, 3);
}

TEST_WITH(a_group_whose_cells_are_all_given_up_is_not_missing, folder_set_up, tear_down)
{
    struct plan p = plan_of(0);
    bool missing[2];
    folder_put("launch-01.01.jsonl", HEADER FAIL("a", "wrong") FAIL("c", "crash"));
    assert_int_equal(ledger_missing(read_ledger(), &p, 1, missing), 1);
    assert_true(missing[0] && !missing[1]);
    folder_put("launch-01.02.jsonl", HEADER_OF(1, 2) FAIL("b", "skip"));
    assert_int_equal(ledger_missing(read_ledger(), &p, 1, missing), 0);
}

TEST_WITH(a_death_before_the_first_cell_gives_up_no_cell, folder_set_up, tear_down)
{
    struct plan p = plan_of(0);
    folder_put("launch-01.01.jsonl", HEADER FAIL("", "crash") END("crash"));
    assert_int_equal(ledger_missing(read_ledger(), &p, 1, NULL), 2);
}

/* What a kill leaves: nothing, half a header, half a line. */
TEST_WITH(torn_recordings_are_attempts, folder_set_up, tear_down)
{
    struct plan p = plan_of(2);
    bool missing[2];
    folder_put("launch-01.01.jsonl", "");
    folder_put("launch-01.02.jsonl", "{\"type\":\"hea");
    folder_put("launch-01.03.jsonl",
               HEADER_OF(1, 3) GROUP("g1") "{\"type\":\"group\",\"group\":\"g2\"");
    const struct ledger *l = read_ledger();
    assert_int_equal(l->n_files, 3);
    assert_int_equal(ledger_next_attempt(l, 1), 4);
    assert_int_equal(ledger_missing(l, &p, 1, missing), 1);
    assert_true(missing[1]);
}

/* An empty log is removed after its attempt: the recording alone shows that the number is taken. */
TEST_WITH(an_attempt_number_of_a_log_or_a_recording_is_not_given_again, folder_set_up, tear_down)
{
    int attempt = 1;
    folder_put("launch-01.01.jsonl", HEADER);
    folder_put("launch-01.02.log", "");
    assert_int_equal(record_take_attempt(folder.dir, 1, &attempt), GS_OK);
    assert_int_equal(attempt, 3);
    assert_int_not_equal(access(folder_path("launch-01.01.log"), F_OK), 0);
    assert_int_equal(access(folder_path("launch-01.03.log"), F_OK), 0);
}

TEST_WITH(damage_is_reported_not_read_past, folder_set_up, tear_down)
{
    static const char *const damaged[] = {
        "no recording at all\n",
        HEADER "{\"type\":\"group\",\"cells\":[]}\n",
        HEADER "{\"type\":\"fail\",\"cell\":\"a\",\"kind\":7}\n",
        HEADER "garbage\n" END("complete"),
        "{\"type\":\"header\",\"schema\":99,\"gradsync\":\"9\",\"run_id\":\"x\"}\n",
    };
    for (size_t i = 0; i < sizeof damaged / sizeof *damaged; i++) {
        struct ledger *l;
        folder.error[0] = '\0';
        folder_put("launch-01.01.jsonl", damaged[i]);
        assert_int_equal(ledger_read(&l, folder.dir), GS_FAILED);
        assert_null(l);
        folder_says("launch-01.01.jsonl");
    }
}
