/* SPDX-License-Identifier: Apache-2.0 */
#include "base/files.h"
#include "folder.h"
#include "record/manifest.h"
#include "record/raw.h"
#include "record/record.h"

#include <sys/stat.h>

static int set_up(void **state)
{
    folder_set_up(state);
    folder_put("launch-01.01.log", "first\n");
    folder_put("config.ini", "[launch]\nranks = 2\n");
    return 0;
}

#define ABC "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"

TEST_WITH(what_was_written_verifies, set_up, folder_tear_down)
{
    struct stat st;
    assert_int_equal(manifest_write(folder.dir), GS_OK);
    assert_int_equal(manifest_verify(folder.dir), GS_OK);
    assert_int_equal(manifest_verify_file(folder.dir, "config.ini"), GS_OK);
    assert_int_equal(stat(folder_path("launch-01.01.log"), &st), 0);
    assert_int_equal(st.st_mode & 0222, 0); /* nobody writes there by accident */
    assert_int_equal(stat(folder_path(RECORD_MANIFEST), &st), 0);
    assert_int_equal(st.st_mode & 0222, 0);
    assert_int_equal(manifest_write(folder.dir), GS_OK); /* again, as after a resume */
    assert_int_equal(manifest_verify(folder.dir), GS_OK);
}

TEST_WITH(each_fault_is_named, set_up, folder_tear_down)
{
    static const struct {
        const char *file, *bytes, *said; /* bytes NULL: removed */
    } faults[] = {
        {"launch-01.01.log", "First\n", "launch-01.01.log: edited"},
        {"launch-01.01.log", "first\nsecond\n", "launch-01.01.log: edited"},
        {"launch-01.01.log", "fir", "launch-01.01.log: truncated: 3 of the 6 bytes"},
        {"config.ini", NULL, "config.ini: missing"},
        {"launch-02.01.log", "other\n", "launch-02.01.log: foreign"},
        {".hidden", "x", ".hidden: foreign"},
        {RECORD_MANIFEST, NULL, "no MANIFEST.json"},
        {RECORD_MANIFEST, "{\"files\":", "MANIFEST.json:1: damaged"},
        {RECORD_MANIFEST, "{\"files\":[]}", "MANIFEST.json: damaged"},
        {RECORD_MANIFEST, "{\"schema\":1,\"files\":{},\"files\":{}}", "MANIFEST.json:1: damaged"},
    };
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        folder_put("launch-01.01.log", "first\n");
        folder_put("config.ini", "[launch]\nranks = 2\n");
        unlink(folder_path("launch-02.01.log"));
        unlink(folder_path(".hidden"));
        assert_int_equal(manifest_write(folder.dir), GS_OK);
        if (faults[i].bytes)
            folder_put(faults[i].file, faults[i].bytes);
        else
            unlink(folder_path(faults[i].file));
        assert_int_equal(manifest_verify(folder.dir), GS_FAILED);
        folder_says(faults[i].said);
    }
}

TEST_WITH(an_entry_without_its_facts_vouches_for_nothing, set_up, folder_tear_down)
{
    static const struct {
        const char *entry, *said;
    } entries[] = {
        {"\"bytes\":3,\"sha256\":\"" ABC "\"", NULL},
        {"\"bytes\":3", "x: edited"},
        {"\"bytes\":3,\"sha256\":7", "x: edited"},
        {"\"sha256\":\"" ABC "\"", "x: edited"},
        {"\"bytes\":2,\"sha256\":\"" ABC "\"", "x: edited"},
        {"\"bytes\":4,\"sha256\":\"" ABC "\"", "x: truncated"},
        {"\"bytes\":3,\"sha256\":\"" ABC "\",\"bytes\":3", "MANIFEST.json:1: damaged"},
        {"\"bytes\":3,\"sha256\":\"" ABC "\"},\"x\":{\"bytes\":3", "MANIFEST.json:1: damaged"},
        {"\"bytes\":3,\"sha256\":\"" ABC "\"},\"a/x\":{\"bytes\":3", "'a/x', not a file name"},
    };
    assert_int_equal(unlink(folder_path("launch-01.01.log")), 0);
    assert_int_equal(unlink(folder_path("config.ini")), 0);
    folder_put("x", "abc");
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
        AUTO_FREE char *text = xstrfmt("{\"schema\":1,\"files\":{\"x\":{%s}}}", entries[i].entry);
        folder_put(RECORD_MANIFEST, text);
        folder.error[0] = '\0';
        assert_int_equal(manifest_verify(folder.dir), entries[i].said ? GS_FAILED : GS_OK);
        if (entries[i].said)
            folder_says(entries[i].said);
    }
}

TEST_WITH(a_folder_in_a_run_is_refused, set_up, folder_tear_down)
{
    assert_int_equal(mkdir(folder_path("folder"), 0777), 0);
    assert_int_equal(manifest_write(folder.dir), GS_FAILED);
    folder_says("folder: is not a regular file");
    assert_int_not_equal(access(folder_path(RECORD_MANIFEST), F_OK), 0);
}

TEST_WITH(a_damaged_recording_gets_no_manifest, set_up, folder_tear_down)
{
    folder_put("launch-01.01.jsonl", "{\"type\":\"block\"}\n");
    assert_int_equal(manifest_write(folder.dir), GS_FAILED);
    folder_says("cannot be completed: a recording is damaged");
    assert_int_not_equal(access(folder_path(RECORD_MANIFEST), F_OK), 0);
}

/* ---- the digest of a recording ---- */

#define RUN "run" /* the folder, and the id of the run */
#define NAME "launch-01.01.jsonl"
#define LAUNCH RUN "/" NAME

static json_t *header(void)
{
    return json_pack("{s:s, s:i, s:s, s:s, s:i, s:i}", "type", "header", "schema", 1, "gradsync",
                     "0", "run_id", RUN, "launch", 1, "attempt", 1);
}

/* A header, a cell and five blocks; no end line. */
static void record(void)
{
    struct record r;
    assert_int_equal(mkdir(folder_path(RUN), 0777), 0);
    assert_int_equal(record_create(&r, folder_path(LAUNCH)), GS_OK);
    assert_int_equal(record_line(&r, header()), GS_OK);
    assert_int_equal(record_line(&r, json_pack("{s:s, s:s, s:s, s:i, s:i}", "type", "cell", "cell",
                                               "c", "group", "g", "copy", 0, "size_B", 8)),
                     GS_OK);
    for (int i = 1; i <= 5; i++) {
        const uint64_t time_ns[] = {1000 + (uint64_t)i, 2000};
        assert_int_equal(record_block(&r,
                                      json_pack("{s:s, s:s, s:i, s:i, s:i}", "type", "block",
                                                "cell", "c", "copy", 0, "block", i, "iters", 4),
                                      time_ns, 2),
                         GS_OK);
    }
    assert_int_equal(record_close(&r), GS_OK);
}

/* The lines that a reader gets before it refuses one; -1: it refuses none. */
static int read_until_refused(void)
{
    struct raw *r;
    struct raw_line l;
    int got, lines = 0;
    if (raw_open(&r, folder_path(LAUNCH)))
        return 0;
    while ((got = raw_next(r, ~0u, &l)) == 1)
        lines++;
    raw_close(r);
    return got < 0 ? lines : -1;
}

/* Any byte of any line, changed to any of a few others, is found: in its line if each has a hash, as in the
 * recordings of before, else at the end of the file at the latest. */
static void change_each_byte(struct text *whole, bool chained)
{
    int changed = 0, line = 0, last = 0;
    for (size_t i = 0; i < whole->len; i++)
        last += whole->s[i] == '\n';
    for (size_t i = 0; i < whole->len; i++) {
        char was = whole->s[i];
        if (was == '\n') {
            line++;
            continue;
        }
        for (const char *other = "07 ,f"; *other; other++, changed += was != *other) {
            whole->s[i] = *other;
            folder_put(LAUNCH, whole->s);
            int found = read_until_refused();
            /* a header whose "chain" has another name: an older one, before lines with hashes */
            bool there = found >= line && found < last && (!chained || found == line);
            if (was != *other && !there && !(chained && line == 0 && found == 1))
                fail_msg("byte %zu, '%c' to '%c': found after %d lines, not %d", i, was, *other,
                         found, line);
        }
        whole->s[i] = was;
    }
    print_message("%d changed bytes, each refused\n", changed);
}

TEST_IN_FOLDER(a_changed_byte_is_refused)
{
    const struct raw_death death = {"c", "crash", "killed", "h", "sample", 0, 1};
    AUTO_TEXT struct text whole = {0};
    record();
    assert_int_equal(raw_end_write(folder_path(LAUNCH), "crash", &death), GS_OK);
    assert_int_equal(read_until_refused(), -1);
    assert_true(files_read(folder_path(LAUNCH), FILES_GIVEN, SIZE_MAX, &whole));
    change_each_byte(&whole, false);
    folder_put(LAUNCH, whole.s);
    assert_int_equal(manifest_write(folder_path(RUN)), GS_OK);
}

TEST_IN_FOLDER(a_changed_byte_of_an_older_recording_is_refused_in_its_line)
{
    AUTO_TEXT struct text whole = {0};
    assert_int_equal(mkdir(folder_path(RUN), 0777), 0);
    assert_true(files_read("tests/fuzz/corpus/raw/chained.jsonl", FILES_GIVEN, SIZE_MAX, &whole));
    folder_put(LAUNCH, whole.s);
    assert_int_equal(read_until_refused(), -1);
    change_each_byte(&whole, true);
}

/* Its hash would be right after no line at all. */
TEST_IN_FOLDER(a_line_with_a_hash_is_not_of_a_recording_without)
{
    assert_int_equal(mkdir(folder_path(RUN), 0777), 0);
    folder_put(LAUNCH, "{\"type\":\"header\",\"schema\":1,\"gradsync\":\"0.1.0\"}\n"
                       "{\"type\":\"note\",\"chain\":\"6f9cf4b4961f505c\",\"key\":1}\n");
    assert_int_equal(read_until_refused(), 1);
}

TEST_IN_FOLDER(nothing_is_added_to_an_edited_recording)
{
    struct text whole = {0}, after = {0};
    assert_int_equal(mkdir(folder_path(RUN), 0777), 0);
    assert_true(files_read("tests/fuzz/corpus/raw/chained.jsonl", FILES_GIVEN, SIZE_MAX, &whole));
    *strstr(whole.s, "1000") = '9';
    folder_put(LAUNCH, whole.s);
    assert_int_equal(raw_end_write(folder_path(LAUNCH), "crash", NULL), GS_FAILED);
    folder_says(LAUNCH ":4: damaged: this line was changed");
    assert_true(files_read(folder_path(LAUNCH), FILES_GIVEN, SIZE_MAX, &after));
    assert_string_equal(after.s, whole.s);
    text_free(&whole);
    text_free(&after);
}
