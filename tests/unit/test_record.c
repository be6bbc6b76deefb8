/* SPDX-License-Identifier: Apache-2.0 */
#include "base/files.h"
#include "folder.h"
#include "record/raw.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#define LAUNCH "launch-01.01.jsonl"

#define HEADER "{\"type\":\"header\",\"schema\":1,\"gradsync\":\"0.1.0\"}\n"
#define NOTE "{\"type\":\"note\"}\n"

static void assert_file(const char *path, const char *want)
{
    AUTO_TEXT struct text got = {0};
    assert_true(files_read(path, FILES_GIVEN, SIZE_MAX, &got));
    assert_string_equal(got.s, want);
}

TEST_IN_FOLDER(lines_are_appended_whole)
{
    struct record r;
    assert_int_equal(record_create(&r, folder_path(LAUNCH)), GS_OK);
    assert_int_equal(record_line(&r, json_pack("{s:s, s:i}", "type", "header", "schema", 1)), 0);
    const uint64_t time_ns[] = {0, 17, UINT64_C(18000000000000000000)};
    assert_int_equal(record_block(&r, json_pack("{s:s}", "type", "block"), time_ns, 3), 0);
    assert_int_equal(record_block(&r, json_pack("{s:s}", "type", "block"), NULL, 0), 0);
    assert_int_equal(record_sync(&r), GS_OK);
    assert_int_equal(record_close(&r), GS_OK);
    assert_file(folder_path(LAUNCH),
                "{\"type\":\"header\",\"schema\":1}\n"
                "{\"type\":\"block\",\"time_ns\":[0,17,18000000000000000000]}\n"
                "{\"type\":\"block\",\"time_ns\":[]}\n");
}

TEST_IN_FOLDER(a_recording_is_never_overwritten)
{
    folder_put(LAUNCH, "precious\n");
    struct record r;
    assert_int_equal(record_create(&r, folder_path(LAUNCH)), GS_FAILED);
    folder_says(folder_path(LAUNCH));
    assert_file(folder_path(LAUNCH), "precious\n");
}

TEST_IN_FOLDER(a_torn_tail_is_cut)
{
    AUTO_FREE char *filler = xcalloc(10001, 1);
    memset(filler, 'x', 10000); /* a torn line longer than one read */
    const struct {
        const char *whole, *torn;
    } cases[] = {
        {HEADER, "{\"type\":\"blo"}, {HEADER NOTE, ""}, {"", "{"}, {"", ""}, {HEADER, filler}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        AUTO_FREE char *bytes = xstrfmt("%s%s", cases[i].whole, cases[i].torn);
        folder_put(LAUNCH, bytes);
        struct record r;
        bool ended;
        assert_int_equal(raw_reopen(&r, folder_path(LAUNCH), &ended), GS_OK);
        assert_false(ended);
        assert_file(folder_path(LAUNCH), cases[i].whole);
        assert_int_equal(record_line(&r, json_pack("{s:s}", "type", "end")), GS_OK);
        record_close(&r);
        AUTO_FREE char *want = xstrfmt("%s{\"type\":\"end\"}\n", cases[i].whole);
        assert_file(folder_path(LAUNCH), want);
    }
}

/* A limit on the file's size cuts a write short as a full disk does. */
static void limit_file(rlim_t bytes, struct rlimit *before)
{
    assert_int_equal(getrlimit(RLIMIT_FSIZE, before), 0);
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(
        setrlimit(RLIMIT_FSIZE, &(struct rlimit){.rlim_cur = bytes, .rlim_max = before->rlim_max}),
        0);
}

TEST_IN_FOLDER(what_did_not_fit_is_taken_back)
{
    struct record r;
    assert_int_equal(record_create(&r, folder_path(LAUNCH)), GS_OK);
    assert_int_equal(record_line(&r, json_pack("{s:s}", "type", "header")), GS_OK);
    struct rlimit before;
    limit_file(70, &before);
    uint64_t time_ns[100] = {0};
    int code = record_block(&r, json_pack("{s:s}", "type", "block"), time_ns, 100);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(code, GS_FAILED);
    folder_says(folder_path(LAUNCH));
    folder_says("ulimit -f");
    assert_file(folder_path(LAUNCH), "{\"type\":\"header\"}\n");
    assert_int_equal(record_line(&r, json_pack("{s:s}", "type", "end")), GS_OK);
    record_close(&r);
    assert_file(folder_path(LAUNCH), "{\"type\":\"header\"}\n{\"type\":\"end\"}\n");
}

/* Else a block whose cell line did not fit could follow without it. */
TEST_IN_FOLDER(after_an_error_an_attempt_records_nothing)
{
    const uint64_t time_ns[] = {17};
    struct record_attempt a;
    struct rlimit before;
    record_attempt_begin(&a, true);
    record_attempt_line(&a, json_pack("{s:s}", "type", "note")); /* waits for the file */
    record_attempt_open(
        &a, folder_path(LAUNCH),
        json_pack("{ss si ss}", "type", "header", "schema", 1, "gradsync", "0.1.0"));
    limit_file(150, &before);
    record_attempt_line(&a, json_pack("{ss so}", "type", "cell", "why", json_sprintf("%0100d", 0)));
    assert_int_equal(a.code, GS_FAILED);
    folder_says("cannot write");
    record_attempt_block(&a, json_pack("{s:s}", "type", "block"), time_ns, 1); /* it has room */
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    record_attempt_line(&a, json_pack("{s:s}", "type", "end"));
    record_attempt_close(&a);
    assert_int_equal(a.code, GS_FAILED);
    assert_file(folder_path(LAUNCH), "{\"type\":\"header\",\"schema\":1,\"gradsync\":\"0.1.0\"}\n"
                                     "{\"type\":\"note\"}\n");
}

TEST_IN_FOLDER(a_full_disk_is_said)
{
    struct record r = {.fd = open("/dev/full", O_WRONLY), .path = xstrdup("/dev/full")};
    if (r.fd < 0) {
        record_close(&r);
        skip();
    }
    assert_int_equal(record_line(&r, json_pack("{s:s}", "type", "end")), GS_FAILED);
    folder_says("No space left on device");
    folder_says("gradsync resume");
    record_close(&r);
}

TEST_IN_FOLDER(runs_get_folders_of_their_own)
{
    enum { N = 40 };
    char *dirs[N];
    for (int i = 0; i < N; i++) {
        assert_int_equal(record_make_run(folder.dir, "local", "null", "quick", &dirs[i]), GS_OK);
        for (int j = 0; j < i; j++)
            assert_string_not_equal(dirs[i], dirs[j]);
    }
    const char *id = strrchr(dirs[0], '/') + 1;
    int end = 0;
    unsigned random;
    assert_int_equal(sscanf(id, "%*8[0-9]T%*6[0-9]Z-quick-%4x%n", &random, &end), 1);
    assert_int_equal(id[end], '\0');
    for (int i = 0; i < N; i++) {
        assert_int_equal(access(dirs[i], W_OK), 0);
        free(dirs[i]);
    }
}

TEST_IN_FOLDER(a_name_cannot_leave_the_root)
{
    char *dir;
    assert_int_equal(record_make_run(folder.dir, "../up", "a/b", ".x y", &dir), GS_OK);
    AUTO_FREE char *want = xstrfmt("%s/-.-up/a-b/", folder.dir);
    assert_int_equal(strncmp(dir, want, strlen(want)), 0);
    assert_non_null(strstr(dir, "Z--x-y-"));
    free(dir);
}

/* ---- where and with what it is measured ---- */

TEST(nothing_else_of_the_environment_is)
{
    char *environment[] = {"HOME=/root",
                           "AWS_SECRET_ACCESS_KEY=hunter2",
                           "XNCCL_ALGO=Ring",
                           "nccl_algo=Ring",
                           "PMIX_SECURITY_MODE=munge",
                           "OMPI_COMM_WORLD_RANK=0",
                           "OMPI_UNIVERSE_SIZE=2",
                           "OMPI_MCA_orte_hnp_uri=123.0;tcp://10.0.0.1:4242",
                           "OMPI_MCA_ess_base_jobid=42",
                           "OMPI_MCA_pmix=^s1",
                           "OMPI_MCA_btl_vader_backing_directory=/dev/shm/x",
                           "OMPI_MCA_some_uri=tcp://10.0.0.1",
                           "NCCL",
                           NULL};
    json_t *env = record_env(environment);
    assert_int_equal(json_object_size(env), 0);
    json_decref(env);
}

TEST(a_secret_keeps_its_name_and_loses_its_value)
{
    char *environment[] = {"NCCL_NET_API_KEY=hunter2", "UCX_auth_token=hunter2",
                           "OMPI_MCA_password=hunter2", "NCCL_My_Secret=hunter2", NULL};
    json_t *env = record_env(environment);
    assert_int_equal(json_object_size(env), 4);
    char *text = json_dumps(env, 0);
    assert_null(strstr(text, "hunter2"));
    free(text);
    json_decref(env);
}
