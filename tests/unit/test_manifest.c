/* SPDX-License-Identifier: Apache-2.0 */
#include "err.h"
#include "manifest.h"
#include "record.h"
#include "text.h"

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

struct fixture {
    char dir[64], error[1024];
};

static char *in(const struct fixture *f, const char *name)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", f->dir, name);
    return path;
}

static void put(const char *path, const char *bytes)
{
    unlink(path);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(bytes, file);
    assert_int_equal(fclose(file), 0);
}

static int set_up(void **state)
{
    struct fixture *f = xcalloc(1, sizeof *f);
    snprintf(f->dir, sizeof f->dir, "/tmp/gradsync manifest %d XXXXXX", (int)getpid());
    assert_non_null(mkdtemp(f->dir));
    put(in(f, "launch-01.01.jsonl"), "first\n");
    put(in(f, "config.ini"), "[launch]\nranks = 2\n");
    err_capture(f->error, sizeof f->error);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    char *command = xstrfmt("rm -rf '%s'", f->dir);
    assert_int_equal(system(command), 0);
    free(command);
    err_capture(NULL, 0);
    free(f);
    return 0;
}

/* FIPS 180-2, appendix B: "abc"; and the empty message. */
static void hashes_are_sha256(void **state)
{
    struct fixture *f = *state;
    char hex[65];
    const char *abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    sha256_hex("abc", 3, hex);
    assert_string_equal(hex, abc);
    sha256_hex("", 0, hex);
    assert_string_equal(hex, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    put(in(f, "abc"), "abc");
    assert_int_equal(sha256_file(in(f, "abc"), hex), GS_OK);
    assert_string_equal(hex, abc);
    assert_int_equal(sha256_file(in(f, "absent"), hex), GS_FAILED);
    assert_non_null(strstr(f->error, "absent: cannot be opened"));
}

static void what_was_written_verifies(void **state)
{
    struct fixture *f = *state;
    struct stat st;
    assert_int_equal(manifest_write(f->dir), GS_OK);
    assert_int_equal(manifest_verify(f->dir), GS_OK);
    assert_int_equal(manifest_verify_file(f->dir, "config.ini"), GS_OK);
    assert_int_equal(stat(in(f, "launch-01.01.jsonl"), &st), 0);
    assert_int_equal(st.st_mode & 0222, 0); /* nobody writes there by accident */
    assert_int_equal(stat(in(f, RECORD_MANIFEST), &st), 0);
    assert_int_equal(st.st_mode & 0222, 0);
    assert_int_equal(manifest_write(f->dir), GS_OK); /* again, as after a resume */
    assert_int_equal(manifest_verify(f->dir), GS_OK);
}

static void each_fault_is_named(void **state)
{
    struct fixture *f = *state;
    static const struct {
        const char *file, *bytes, *said; /* bytes NULL: removed */
    } faults[] = {
        {"launch-01.01.jsonl", "First\n", "launch-01.01.jsonl: edited"},
        {"launch-01.01.jsonl", "first\nsecond\n", "launch-01.01.jsonl: edited"},
        {"launch-01.01.jsonl", "fir", "launch-01.01.jsonl: truncated: 3 of the 6 bytes"},
        {"config.ini", NULL, "config.ini: missing"},
        {"launch-02.01.jsonl", "other\n", "launch-02.01.jsonl: foreign"},
        {".hidden", "x", ".hidden: foreign"},
        {RECORD_MANIFEST, NULL, "no MANIFEST.json"},
        {RECORD_MANIFEST, "{\"files\":", "MANIFEST.json:1: damaged"},
        {RECORD_MANIFEST, "{\"files\":[]}", "MANIFEST.json: damaged"},
        {RECORD_MANIFEST, "{\"files\":{\"../x\":{}}}", "no file name"},
    };
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        put(in(f, "launch-01.01.jsonl"), "first\n");
        put(in(f, "config.ini"), "[launch]\nranks = 2\n");
        unlink(in(f, "launch-02.01.jsonl"));
        unlink(in(f, ".hidden"));
        assert_int_equal(manifest_write(f->dir), GS_OK);
        if (faults[i].bytes)
            put(in(f, faults[i].file), faults[i].bytes);
        else
            unlink(in(f, faults[i].file));
        assert_int_equal(manifest_verify(f->dir), GS_FAILED);
        if (strstr(faults[i].bytes ? faults[i].bytes : "", "../x"))
            continue; /* what is reported last is that the others are not listed */
        if (!strstr(f->error, faults[i].said))
            fail_msg("said '%s', not '%s'", f->error, faults[i].said);
    }
}

static void one_file_is_verified_alone(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(manifest_write(f->dir), GS_OK);
    put(in(f, "config.ini"), "edited");
    put(in(f, "launch-09.01.jsonl"), "foreign");
    assert_int_equal(manifest_verify_file(f->dir, "launch-01.01.jsonl"), GS_OK);
    assert_int_equal(manifest_verify_file(f->dir, "config.ini"), GS_FAILED);
    assert_int_equal(manifest_verify_file(f->dir, "launch-09.01.jsonl"), GS_FAILED);
    assert_non_null(strstr(f->error, "launch-09.01.jsonl: foreign"));
}

static void a_folder_in_a_run_is_refused(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(mkdir(in(f, "folder"), 0777), 0);
    assert_int_equal(manifest_write(f->dir), GS_FAILED);
    assert_non_null(strstr(f->error, "folder: is no file"));
    assert_int_not_equal(access(in(f, RECORD_MANIFEST), F_OK), 0);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(hashes_are_sha256),
        TEST(what_was_written_verifies),
        TEST(each_fault_is_named),
        TEST(one_file_is_verified_alone),
        TEST(a_folder_in_a_run_is_refused),
    };
    return cmocka_run_group_tests_name("manifest", tests, NULL, NULL);
}
