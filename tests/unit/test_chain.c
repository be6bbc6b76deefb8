/* SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"
#include "base/text.h"
#include "cluster/collect.h"
#include "folder.h"
#include "record/manifest.h"
#include "record/raw.h"
#include "record/record.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define RUN "run" /* the folder, and the id of the run */
#define NAME "launch-01.01.jsonl"
#define LAUNCH RUN "/" NAME

static json_t *header(void)
{
    return json_pack("{s:s, s:i, s:s, s:s, s:i, s:i}", "type", "header", "schema", 1, "gradsync",
                     "0", "run_id", RUN, "launch", 1, "attempt", 1);
}

/* A header, a cell and five blocks; no end line. */
static void record(const struct folder *f)
{
    struct record r;
    assert_int_equal(mkdir(folder_path(f, RUN), 0777), 0);
    assert_int_equal(record_create(&r, folder_path(f, LAUNCH)), GS_OK);
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

/* BLAKE2b over the line without the member, after the hash of the line before. */
TEST_IN_FOLDER(the_hashes_are_of_the_format)
{
    char line[128] = "{\"type\":\"note\"                           ,\"key\":1}";
    struct chain first = {0};
    size_t n = strlen(line), place = chain_place(line, n);
    assert_int_equal(place, strlen("{\"type\":\"note\""));
    struct chain after = chain_write(&first, line, n, place);
    assert_string_equal(line, "{\"type\":\"note\",\"chain\":\"6f9cf4b4961f505c\",\"key\":1}");
    chain_write(&after, line, n, place);
    assert_string_equal(line, "{\"type\":\"note\",\"chain\":\"dc9fab2d7a17e41e\",\"key\":1}");
    assert_int_equal(chain_place("{\"at\":1}", 8), 0);
}

/* The lines that a reader gets before it refuses one; -1: it refuses none. */
static int read_until_refused(const struct folder *f)
{
    struct raw *r;
    struct raw_line l;
    int got, lines = 0;
    if (raw_open(&r, folder_path(f, LAUNCH)))
        return 0;
    while ((got = raw_next(r, 1u << RAW_END, &l)) == 1)
        ;
    lines = (int)raw_tell(r).number - 1;
    raw_close(r);
    return got < 0 ? lines : -1;
}

/* Any byte of any line, changed to any of a few others. */
TEST_IN_FOLDER(a_changed_byte_is_refused_in_its_line)
{
    struct folder *f = *state;
    struct text whole = {0};
    int changed = 0, line = 0;
    record(f);
    assert_true(text_read_file(folder_path(f, LAUNCH), &whole));
    for (size_t i = 0; i < whole.len; i++) {
        char was = whole.s[i];
        if (was == '\n') {
            line++;
            continue;
        }
        for (const char *other = "07 ,f"; *other; other++, changed += was != *other) {
            whole.s[i] = *other;
            folder_put(f, LAUNCH, whole.s);
            int found = read_until_refused(f);
            /* a header whose "chain" has another name: an older one, before lines of now */
            if (was != *other && found != line && !(line == 0 && found == 1))
                fail_msg("byte %zu, '%c' to '%c': found after %d lines, not %d", i, was, *other,
                         found, line);
        }
        whole.s[i] = was;
    }
    print_message("%d changed bytes, each refused in its line\n", changed);
    text_free(&whole);
}

/* Its hash would be right after no line at all. */
TEST_IN_FOLDER(a_line_with_a_hash_is_not_of_an_older_recording)
{
    struct folder *f = *state;
    assert_int_equal(mkdir(folder_path(f, RUN), 0777), 0);
    folder_put(f, LAUNCH,
               "{\"type\":\"header\",\"schema\":1,\"gradsync\":\"0.1.0\"}\n"
               "{\"type\":\"note\",\"chain\":\"6f9cf4b4961f505c\",\"key\":1}\n");
    assert_int_equal(read_until_refused(f), 1);
}

TEST_IN_FOLDER(an_end_line_goes_on_with_the_hash)
{
    struct folder *f = *state;
    const struct record_death death = {"c", "crash", "killed", "h", "sample", 0, 1};
    record(f);
    assert_int_equal(record_end_write(folder_path(f, LAUNCH), "crash", &death), GS_OK);
    assert_int_equal(read_until_refused(f), -1);
    assert_int_equal(manifest_write(folder_path(f, RUN)), GS_OK);
}

TEST_IN_FOLDER(nothing_is_added_to_an_edited_recording)
{
    struct folder *f = *state;
    struct text whole = {0}, after = {0};
    record(f);
    assert_true(text_read_file(folder_path(f, LAUNCH), &whole));
    strstr(whole.s, "1003")[0] = '9';
    folder_put(f, LAUNCH, whole.s);
    assert_int_equal(record_end_write(folder_path(f, LAUNCH), "crash", NULL), GS_FAILED);
    assert_non_null(strstr(f->error, LAUNCH ":5: damaged: this line was changed"));
    assert_true(text_read_file(folder_path(f, LAUNCH), &after));
    assert_string_equal(after.s, whole.s);
    text_free(&whole);
    text_free(&after);
}

/* As `collect` does it. */
TEST_IN_FOLDER(an_edited_recording_is_not_collected)
{
    struct folder *f = *state;
    struct text whole = {0};
    uint64_t bytes = 0;
    record(f);
    assert_int_equal(mkdir(folder_path(f, "sound"), 0777), 0);
    assert_int_equal(copy_run_folder(folder_path(f, RUN), folder_path(f, "sound"), true, &bytes),
                     GS_OK);
    assert_int_equal(access(folder_path(f, "sound/" RECORD_MANIFEST), F_OK), 0);
    assert_true(text_read_file(folder_path(f, LAUNCH), &whole));
    strstr(whole.s, "1003")[0] = '9';
    folder_put(f, LAUNCH, whole.s);
    assert_int_equal(mkdir(folder_path(f, "edited"), 0777), 0);
    assert_int_equal(copy_run_folder(folder_path(f, RUN), folder_path(f, "edited"), true, &bytes),
                     GS_FAILED);
    assert_non_null(strstr(f->error, "a recording is damaged"));
    assert_int_not_equal(access(folder_path(f, "edited/" RECORD_MANIFEST), F_OK), 0);
    text_free(&whole);
}
