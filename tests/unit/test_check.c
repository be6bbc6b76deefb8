/* SPDX-License-Identifier: Apache-2.0
 *
 * Each check of a recording, by a recording that fails it alone. All are of the older form, without a
 * running hash, which would find every fault first.
 */
#include "base/files.h"
#include "folder.h"
#include "record/ledger.h"
#include "record/manifest.h"
#include "record/raw.h"
#include "record/record.h"

#include <sys/stat.h>

#define RUN "run" /* the folder, and the id of the run */
#define LAUNCH RUN "/launch-01.01.jsonl"
#define HEADER_OF(more)                                                                            \
    "{\"type\":\"header\",\"schema\":1,\"gradsync\":\"0.1.0\",\"run_id\":\"run\",\"launch\":1,"    \
    "\"attempt\":1" more "}\n"
#define HEADER HEADER_OF("")
#define CELL(cell, group, copy)                                                                    \
    "{\"type\":\"cell\",\"cell\":\"" cell "\",\"group\":\"" group "\",\"copy\":" copy              \
    ",\"size_B\":8}\n"
#define BLOCK_OF(cell, copy, block, iters, times)                                                  \
    "{\"type\":\"block\",\"cell\":\"" cell "\",\"copy\":" copy ",\"block\":" block                 \
    ",\"iters\":" iters ",\"time_ns\":[" times "]}\n"
#define BLOCK(block) BLOCK_OF("c", "0", block, "4", "5,6")
#define GROUP(blocks)                                                                              \
    "{\"type\":\"group\",\"group\":\"g\",\"cells\":[{\"cell\":\"c\",\"copy\":0,\"blocks\":" blocks \
    "}]}\n"
#define FAIL(kind) "{\"type\":\"fail\",\"cell\":\"c\",\"kind\":\"" kind "\",\"why\":\"w\"}\n"
#define END "{\"type\":\"end\",\"status\":\"complete\"}\n"
#define SOUND HEADER CELL("c", "g", "0") BLOCK("1") BLOCK("2") GROUP("2") END

/* SHA-256 of the empty config.ini. */
#define EMPTY "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
#define PLAN_OF(cells) "{\"config_sha256\":\"" EMPTY "\",\"cells\":[" cells "]}"
#define PLANNED(cell, group) "{\"id\":\"" cell "\",\"group\":\"" group "\"}"

static int set_up(void **state)
{
    folder_set_up(state);
    return mkdir(folder_path(RUN), 0777);
}

/* said NULL: it is sound. */
static void checks_as(const char *recording, const char *said)
{
    folder.error[0] = '\0';
    folder_put(LAUNCH, recording);
    int code = ledger_check_run(folder_path(RUN));
    if (code != (said ? GS_FAILED : GS_OK) || (said && !strstr(folder.error, said)))
        fail_msg("exit %d, said '%s', not '%s', of:\n%s", code, folder.error, said ? said : "",
                 recording);
}

TEST_WITH(each_fault_is_found, set_up, folder_tear_down)
{
    static const struct {
        const char *recording, *said;
    } cases[] = {
        {SOUND, NULL},
        {HEADER CELL("c", "g", "0") CELL("c", "g", "1") BLOCK("1") BLOCK_OF("c", "1", "1", "4", "5")
             GROUP("1"),
         NULL},
        {HEADER CELL("c", "g", "0") BLOCK("1") BLOCK("1"), ":4: block 1 of cell c comes after"},
        {HEADER CELL("c", "g", "0") BLOCK("2") BLOCK("1"), ":4: block 1 of cell c comes after"},
        {HEADER CELL("c", "g", "0") BLOCK("1") GROUP("1") BLOCK("2"),
         ":5: a block of cell c comes"},
        {HEADER CELL("c", "g", "0") BLOCK("1") GROUP("2"),
         ":4: cell c has 1 blocks, but its group"},
        {HEADER CELL("c", "g", "0") BLOCK("1") BLOCK("2") GROUP("1"),
         ":5: cell c has 2 blocks, but"},
        {HEADER CELL("c", "g", "0") GROUP("0") GROUP("0"), ":4: group g is closed twice"},
        {HEADER CELL("c", "g", "0") CELL("c", "g", "0"), ":3: cell c, copy 0 is declared twice"},
        {HEADER BLOCK("1"), ":2: a block of cell c, copy 0 comes before its cell line"},
        {HEADER CELL("c", "g", "1") BLOCK("1"), ":3: a block of cell c, copy 0 comes before"},
        {HEADER CELL("c", "g", "0") CELL("d", "h", "0") BLOCK("1"),
         ":4: a block of cell c is among"},
        {HEADER CELL("c", "g", "2"), ":2: copy 2: must be 0 or 1"},
        {HEADER CELL("c", "g", "0") BLOCK("2147483648"), ":3: copy 0, block 2147483648"},
        {HEADER CELL("c", "g", "0") BLOCK_OF("c", "0", "1", "0", "5"), ":3: iters=0: must be"},
        {HEADER CELL("c", "g", "0") BLOCK_OF("c", "0", "1", "2147483648", "5"),
         ":3: copy 0, block 1, iters=2147483648: out of range"},
        {HEADER CELL("c", "g", "0") BLOCK_OF("c", "0", "1", "4", ""),
         ":3: a block without samples"},
        {HEADER CELL("c", "g", "0") BLOCK_OF("c", "0", "1", "4", "5,0"), ":3: sample 2 is 0 ns"},
        {HEADER FAIL("wrong") FAIL("lost"), NULL},
        {HEADER FAIL("tired"), ":2: unknown kind 'tired'"},
        {SOUND END, ":7: a line comes after the end line"},
        {SOUND BLOCK("3"), ":7: a block of cell c comes after its group was closed"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        checks_as(cases[i].recording, cases[i].said);
}

TEST_WITH(a_recording_is_of_its_folder, set_up, folder_tear_down)
{
    struct ledger *l;
    folder_put(LAUNCH, SOUND);
    assert_int_equal(rename(folder_path(RUN), folder_path("other")), 0);
    assert_int_equal(ledger_check_run(folder_path("other")), GS_FAILED);
    folder_says("recorded by run 'run', in the folder 'other'");
    assert_int_equal(ledger_read(&l, folder_path("other")),
                     GS_OK); /* to be read, not vouched for */
    assert_string_equal(l->run_id, RUN);
    ledger_free(l);
    folder_put("other/launch-02.01.jsonl",
               "{\"type\":\"header\",\"schema\":1,\"gradsync\":\"0.1.0\",\"run_id\":\"second\","
               "\"launch\":2,\"attempt\":1}\n");
    assert_int_equal(ledger_read(&l, folder_path("other")), GS_FAILED);
    folder_says("recorded by run 'second', in the folder 'run'");
}

TEST_WITH(a_header_is_of_its_file, set_up, folder_tear_down)
{
    folder_put(RUN "/launch-01.02.jsonl", HEADER);
    assert_int_equal(ledger_check_run(folder_path(RUN)), GS_FAILED);
    folder_says("01.02.jsonl:1: foreign: its header names launch 1, attempt 1");
}

TEST_WITH(of_many_faults_the_first_are_reported, set_up, folder_tear_down)
{
    AUTO_TEXT struct text t = {0};
    text_add(&t, HEADER);
    for (int i = 0; i < LEDGER_FAULTS_MAX - 1; i++)
        text_add(&t, FAIL("tired"));
    folder_put(LAUNCH, t.s);
    assert_int_equal(ledger_check_run(folder_path(RUN)), GS_FAILED);
    assert_null(strstr(folder.error, "was not checked"));
    text_add(&t, FAIL("tired"));
    checks_as(t.s, "more than 19 faults; the rest of the file was not checked");
}

TEST_WITH(a_recording_is_of_its_plan, set_up, folder_tear_down)
{
    char hex[65], *header;
    folder_put(RUN "/config.ini", "");
    folder_put(RUN "/plan.json", PLAN_OF(PLANNED("c", "g")));
    assert_int_equal(sha256_file(folder_path(RUN "/plan.json"), hex), GS_OK);
    checks_as(SOUND, NULL);
    checks_as(HEADER CELL("c", "h", "0"), ":2: foreign: cell c of group h is not in plan.json");
    checks_as(HEADER CELL("d", "g", "0"), ":2: foreign: cell d of group g is not in plan.json");
    checks_as(HEADER_OF(",\"config_sha256\":\"0\""), ":1: foreign: recorded with another config");
    checks_as(HEADER_OF(",\"config_sha256\":\"" EMPTY "\""), NULL);
    checks_as(HEADER_OF(",\"config\":\"\",\"config_sha256\":\"" EMPTY "\""), NULL);
    checks_as(HEADER_OF(",\"config\":\"x\",\"config_sha256\":\"" EMPTY "\""),
              "damaged: its config differs from its config_sha256");
    checks_as(HEADER_OF(",\"plan_sha256\":\"0\""), ":1: foreign: recorded with another plan.json");
    header = xstrfmt(HEADER_OF(",\"plan_sha256\":\"%s\""), hex);
    checks_as(header, NULL);
    free(header);
}

TEST_WITH(a_damaged_plan_is_named, set_up, folder_tear_down)
{
    static const struct {
        const char *plan, *said;
    } cases[] = {
        {PLAN_OF(PLANNED("c", "g") "," PLANNED("d", "g")), NULL},
        {PLAN_OF(PLANNED("c", "g") "," PLANNED("d", "g") "," PLANNED("c", "h")),
         "plan.json: damaged: cell c is listed twice"},
        {PLAN_OF("{\"id\":\"c\"}"), "plan.json: damaged: cell 1 has no id, or no group"},
        {PLAN_OF("{\"group\":\"g\"}"), "plan.json: damaged: cell 1 has no id, or no group"},
        {PLAN_OF(PLANNED("", "g")), "plan.json: damaged: cell 1 has no id, or no group"},
        {"{\"cells\":[],\"cells\":[]}", "plan.json:1: damaged"},
        {"{\"launches\":0}", "plan.json: damaged: launches = 0: must be 1 to"},
        {"{\"launches\":2147483647}", "plan.json: damaged: launches = 2147483647: must be 1 to"},
        {"{\"config_sha256\":\"0\"}", "config.ini: edited: its SHA-256 differs"},
    };
    folder_put(RUN "/config.ini", "");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        folder_put(RUN "/plan.json", cases[i].plan);
        checks_as(HEADER, cases[i].said);
    }
}

TEST_WITH(an_end_is_written_once, set_up, folder_tear_down)
{
    AUTO_TEXT struct text got = {0};
    folder_put(LAUNCH, SOUND);
    assert_int_equal(raw_end_write(folder_path(LAUNCH), "crash", NULL), GS_OK);
    assert_true(files_read(folder_path(LAUNCH), FILES_GIVEN, SIZE_MAX, &got));
    assert_string_equal(got.s, SOUND);
}

TEST_WITH(an_end_is_not_written_through_a_link, set_up, folder_tear_down)
{
    AUTO_TEXT struct text got = {0};
    folder_put("theirs", "not a recording");
    assert_int_equal(symlink("../theirs", folder_path(LAUNCH)), 0);
    assert_int_equal(raw_end_write(folder_path(LAUNCH), "crash", NULL), GS_FAILED);
    assert_true(files_read(folder_path("theirs"), FILES_GIVEN, SIZE_MAX, &got));
    assert_string_equal(got.s, "not a recording");
}
