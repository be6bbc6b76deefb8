/* SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"
#include "base/text.h"
#include "folder.h"
#include "record/manifest.h"
#include "record/record.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int set_up(void **state)
{
    folder_set_up(state);
    folder_put(*state, "launch-01.01.log", "first\n");
    folder_put(*state, "config.ini", "[launch]\nranks = 2\n");
    return 0;
}

/* FIPS 180-2, appendix B: "abc"; and the empty message. */
static void hashes_are_sha256(void **state)
{
    struct folder *f = *state;
    char hex[65];
    const char *abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    sha256_hex("abc", 3, hex);
    assert_string_equal(hex, abc);
    sha256_hex("", 0, hex);
    assert_string_equal(hex, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    folder_put(f, "abc", "abc");
    assert_int_equal(sha256_file(folder_path(f, "abc"), hex), GS_OK);
    assert_string_equal(hex, abc);
    assert_int_equal(sha256_file(folder_path(f, "absent"), hex), GS_FAILED);
    assert_non_null(strstr(f->error, "absent: cannot be opened"));
}

static void what_was_written_verifies(void **state)
{
    struct folder *f = *state;
    struct stat st;
    assert_int_equal(manifest_write(f->dir), GS_OK);
    assert_int_equal(manifest_verify(f->dir), GS_OK);
    assert_int_equal(manifest_verify_file(f->dir, "config.ini"), GS_OK);
    assert_int_equal(stat(folder_path(f, "launch-01.01.log"), &st), 0);
    assert_int_equal(st.st_mode & 0222, 0); /* nobody writes there by accident */
    assert_int_equal(stat(folder_path(f, RECORD_MANIFEST), &st), 0);
    assert_int_equal(st.st_mode & 0222, 0);
    assert_int_equal(manifest_write(f->dir), GS_OK); /* again, as after a resume */
    assert_int_equal(manifest_verify(f->dir), GS_OK);
}

static void each_fault_is_named(void **state)
{
    struct folder *f = *state;
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
        {RECORD_MANIFEST, "{\"files\":{},\"files\":{}}", "MANIFEST.json:1: damaged"},
    };
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        folder_put(f, "launch-01.01.log", "first\n");
        folder_put(f, "config.ini", "[launch]\nranks = 2\n");
        unlink(folder_path(f, "launch-02.01.log"));
        unlink(folder_path(f, ".hidden"));
        assert_int_equal(manifest_write(f->dir), GS_OK);
        if (faults[i].bytes)
            folder_put(f, faults[i].file, faults[i].bytes);
        else
            unlink(folder_path(f, faults[i].file));
        assert_int_equal(manifest_verify(f->dir), GS_FAILED);
        if (!strstr(f->error, faults[i].said))
            fail_msg("said '%s', not '%s'", f->error, faults[i].said);
    }
}

/* Alone in its folder: a file that is not listed would be reported after it. */
static void a_manifest_lists_no_path(void **state)
{
    struct folder *f = *state;
    assert_int_equal(unlink(folder_path(f, "launch-01.01.log")), 0);
    assert_int_equal(unlink(folder_path(f, "config.ini")), 0);
    folder_put(f, RECORD_MANIFEST, "{\"files\":{\"../x\":{}}}");
    assert_int_equal(manifest_verify(f->dir), GS_FAILED);
    assert_non_null(strstr(f->error, "lists '../x', no file name"));
}

static void one_file_is_verified_alone(void **state)
{
    struct folder *f = *state;
    assert_int_equal(manifest_write(f->dir), GS_OK);
    folder_put(f, "config.ini", "edited");
    folder_put(f, "launch-09.01.log", "foreign");
    assert_int_equal(manifest_verify_file(f->dir, "launch-01.01.log"), GS_OK);
    assert_int_equal(manifest_verify_file(f->dir, "config.ini"), GS_FAILED);
    assert_int_equal(manifest_verify_file(f->dir, "launch-09.01.log"), GS_FAILED);
    assert_non_null(strstr(f->error, "launch-09.01.log: foreign"));
}

static void a_folder_in_a_run_is_refused(void **state)
{
    struct folder *f = *state;
    assert_int_equal(mkdir(folder_path(f, "folder"), 0777), 0);
    assert_int_equal(manifest_write(f->dir), GS_FAILED);
    assert_non_null(strstr(f->error, "folder: is not a regular file"));
    assert_int_not_equal(access(folder_path(f, RECORD_MANIFEST), F_OK), 0);
}

static void a_damaged_recording_gets_no_manifest(void **state)
{
    struct folder *f = *state;
    folder_put(f, "launch-01.01.jsonl", "{\"type\":\"block\"}\n");
    assert_int_equal(manifest_write(f->dir), GS_FAILED);
    assert_non_null(strstr(f->error, "cannot be completed: a recording is damaged"));
    assert_int_not_equal(access(folder_path(f, RECORD_MANIFEST), F_OK), 0);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, folder_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(hashes_are_sha256),
        TEST(what_was_written_verifies),
        TEST(each_fault_is_named),
        TEST(a_manifest_lists_no_path),
        TEST(one_file_is_verified_alone),
        TEST(a_folder_in_a_run_is_refused),
        TEST(a_damaged_recording_gets_no_manifest),
    };
    return cmocka_run_group_tests_name("manifest", tests, NULL, NULL);
}
