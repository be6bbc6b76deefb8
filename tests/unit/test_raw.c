/* SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"
#include "base/text.h"
#include "record/raw.h"
#include "record/record.h"
#include "unit.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HEADER "{\"type\":\"header\",\"schema\":1,\"gradsync\":\"0.1.0\",\"run_id\":\"r\"}\n"
#define BLOCK(times) "{\"type\":\"block\",\"cell\":\"c\",\"iters\":4,\"time_ns\":[" times "]}\n"

struct fixture {
    char path[64], error[1024];
};

static int set_up(void **state)
{
    struct fixture *f = xcalloc(1, sizeof *f);
    snprintf(f->path, sizeof f->path, "/tmp/gradsync raw %d XXXXXX", (int)getpid());
    int fd = mkstemp(f->path);
    assert_true(fd >= 0);
    close(fd);
    err_capture(f->error, sizeof f->error);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    unlink(f->path);
    err_capture(NULL, 0);
    free(f);
    return 0;
}

static void write_bytes(const struct fixture *f, const char *s, size_t n)
{
    FILE *file = fopen(f->path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(s, 1, n, file), n);
    fclose(file);
}

static struct raw *open_text(struct fixture *f, const char *s)
{
    struct raw *r = NULL;
    write_bytes(f, s, strlen(s));
    assert_int_equal(raw_open(&r, f->path), GS_OK);
    return r;
}

TEST_WITH(lines_come_in_order_and_only_those_wanted, set_up, tear_down)
{
    struct raw *r =
        open_text(*state, HEADER "{\"type\":\"note\",\"key\":\"k\"}\n" BLOCK(
                              "1,22,333") "{\"type\":\"end\",\"status\":\"complete\"}\n");
    struct raw_line l;
    const char *s;
    int64_t i;
    assert_int_equal(raw_next(r, 1u << RAW_HEADER | 1u << RAW_BLOCK | 1u << RAW_END, &l), 1);
    assert_int_equal(l.type, RAW_HEADER);
    assert_int_equal(l.number, 1);
    assert_true(raw_string(r, &l, "run_id", &s));
    assert_string_equal(s, "r");
    assert_int_equal(raw_next(r, 1u << RAW_BLOCK | 1u << RAW_END, &l), 1);
    assert_int_equal(l.type, RAW_BLOCK);
    assert_int_equal(l.number, 3);
    assert_true(raw_integer(r, &l, "iters", &i));
    assert_int_equal(i, 4);
    assert_null(json_object_get(l.json, "time_ns"));
    assert_int_equal(l.n, 3);
    assert_int_equal(l.time_ns[0] + l.time_ns[1] + l.time_ns[2], 356);
    assert_int_equal(raw_next(r, 1u << RAW_BLOCK | 1u << RAW_END, &l), 1);
    assert_int_equal(l.type, RAW_END);
    assert_int_equal(raw_next(r, ~0u, &l), 0);
    assert_false(raw_torn(r));
    raw_close(r);
}

TEST_WITH(samples_are_read_exactly, set_up, tear_down)
{
    struct fixture *f = *state;
    struct raw_line l;
    struct raw *r = open_text(f, HEADER BLOCK("") BLOCK("0")
                                     BLOCK("9999999999999999999") "{ \"type\" : \"block\" , "
                                                                  "\"time_ns\" : [ 1 , 2 ] }\n");
    const unsigned want = 1u << RAW_BLOCK;
    assert_int_equal(raw_next(r, want, &l), 1);
    assert_int_equal(l.n, 0);
    assert_int_equal(raw_next(r, want, &l), 1);
    assert_int_equal(l.n, 1);
    assert_true(l.time_ns[0] == 0);
    assert_int_equal(raw_next(r, want, &l), 1);
    assert_true(l.time_ns[0] == 9999999999999999999u);
    assert_int_equal(raw_next(r, want, &l), 1);
    assert_int_equal(l.n, 2);
    assert_true(l.time_ns[1] == 2);
    raw_close(r);
}

/* The samples are the last member, whatever names and values come before them. */
TEST_WITH(a_metric_may_have_the_name_of_the_samples, set_up, tear_down)
{
    struct raw_line l;
    struct raw *r = open_text(
        *state, HEADER "{\"type\":\"block\",\"cell\":\"time_ns\",\"metrics\":{\"time_ns\":2.5,"
                       "\"more\":[1]},\"time_ns\":[3,4]}\n");
    assert_int_equal(raw_next(r, 1u << RAW_BLOCK, &l), 1);
    assert_int_equal(l.n, 2);
    assert_true(l.time_ns[1] == 4);
    assert_true(json_real_value(json_object_get(json_object_get(l.json, "metrics"), "time_ns")) ==
                2.5);
    raw_close(r);
}

/* What record_block writes is what is read, over many buffers' worth. */
TEST_WITH(long_recordings_round_trip, set_up, tear_down)
{
    struct fixture *f = *state;
    enum { BLOCKS = 40, SAMPLES = 20000 };
    struct record out;
    struct raw *r;
    struct raw_line l;
    uint64_t *t = xmalloc(SAMPLES * sizeof *t);
    unlink(f->path);
    assert_int_equal(record_create(&out, f->path), GS_OK);
    assert_int_equal(record_line(&out, json_pack("{s:s,s:i,s:s}", "type", "header", "schema",
                                                 RECORD_SCHEMA, "gradsync", "x")),
                     GS_OK);
    for (int b = 0; b < BLOCKS; b++) {
        for (uint64_t i = 0; i < SAMPLES; i++)
            t[i] = (i + 1) * (i + 7) * (uint64_t)(b + 1);
        json_t *head =
            json_pack("{s:s,s:s,s:i}", "type", "block", "text", "\"time_ns\":[1]}\\", "block", b);
        assert_int_equal(record_block(&out, head, t, SAMPLES), GS_OK);
    }
    assert_int_equal(record_close(&out), GS_OK);
    assert_int_equal(raw_open(&r, f->path), GS_OK);
    for (int b = 0; b < BLOCKS; b++) {
        const char *text;
        assert_int_equal(raw_next(r, 1u << RAW_BLOCK, &l), 1);
        assert_int_equal(l.n, SAMPLES);
        assert_true(raw_string(r, &l, "text", &text));
        assert_string_equal(text, "\"time_ns\":[1]}\\");
        for (uint64_t i = 0; i < SAMPLES; i++)
            assert_true(l.time_ns[i] == (i + 1) * (i + 7) * (uint64_t)(b + 1));
    }
    assert_int_equal(raw_next(r, ~0u, &l), 0);
    raw_close(r);
    free(t);
}

/* A recording cut after any byte reads up to its last whole line. */
TEST_WITH(any_cut_is_a_torn_line, set_up, tear_down)
{
    struct fixture *f = *state;
    const char *whole = HEADER BLOCK("10,20") BLOCK("30") "{\"type\":\"end\",\"status\":\"ok\"}\n";
    for (size_t n = 0; n <= strlen(whole); n++) {
        struct raw *r;
        struct raw_line l;
        size_t lines = 0;
        int got;
        write_bytes(f, whole, n);
        assert_int_equal(raw_open(&r, f->path), GS_OK);
        while ((got = raw_next(r, ~0u, &l)) == 1)
            lines++;
        assert_int_equal(got, 0);
        size_t newlines = 0;
        for (size_t i = 0; i < n; i++)
            newlines += whole[i] == '\n';
        assert_int_equal(lines, newlines);
        assert_int_equal(raw_torn(r), n > 0 && whole[n - 1] != '\n');
        raw_close(r);
    }
}

TEST_WITH(damage_is_named_by_its_line, set_up, tear_down)
{
    struct fixture *f = *state;
    static const char *const lines[] = {
        "nonsense\n",
        "\n",
        "{\"type\":\"blck\"}\n",
        "{\"type\":\"block\",\"cell\":\"c\"}\n",
        "{\"type\":\"block\",\"time_ns\":[1,2]\n",
        "{\"type\":\"block\",\"time_ns\":[1,2}\n",
        "{\"type\":\"block\",\"time_ns\":[1,,2]}\n",
        "{\"type\":\"block\",\"time_ns\":[1,2,]}\n",
        "{\"type\":\"block\",\"time_ns\":[,1]}\n",
        "{\"type\":\"block\",\"time_ns\":[1.5]}\n",
        "{\"type\":\"block\",\"time_ns\":[-1]}\n",
        "{\"type\":\"block\",\"time_ns\":[1 2]}\n",
        "{\"type\":\"block\",\"time_ns\":[01]}\n",
        "{\"type\":\"block\",\"time_ns\":[99999999999999999999]}\n",
        "{\"type\":\"block\",\"time_ns\":[1],\"more\":2}\n",
        "{\"type\":\"block\",\"time_ns\":[1]}}\n",
        "{\"type\":\"block\",\"cell\":,\"time_ns\":[1]}\n",
        "{\"type\":\"note\",\"a\":1,\"a\":2}\n",
        "{\"type\":\"note\"\n",
        HEADER,
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct raw_line l;
        char where[128];
        struct text t = {0};
        text_addf(&t, "%s%s%s", HEADER, lines[i], BLOCK("5"));
        struct raw *r = open_text(f, t.s);
        assert_int_equal(raw_next(r, ~0u, &l), 1);
        if (raw_next(r, ~0u, &l) != -1)
            fail_msg("not found: %s", lines[i]);
        snprintf(where, sizeof where, "%s:2: damaged: ", f->path);
        assert_memory_equal(f->error, where, strlen(where));
        assert_int_equal(raw_next(r, ~0u, &l), 1); /* the next line is still good */
        assert_int_equal(l.n, 1);
        raw_close(r);
        text_free(&t);
    }
}

TEST_WITH(bytes_after_a_nul_are_damage, set_up, tear_down)
{
    struct fixture *f = *state;
    static const char text[] = HEADER "{\"type\":\"block\",\"time_ns\":[1]}\0,\"x\":1}\n";
    struct raw *r;
    struct raw_line l;
    write_bytes(f, text, sizeof text - 1);
    assert_int_equal(raw_open(&r, f->path), GS_OK);
    assert_int_equal(raw_next(r, 1u << RAW_BLOCK, &l), -1);
    raw_close(r);
}

TEST_WITH(what_is_no_recording_is_refused, set_up, tear_down)
{
    struct fixture *f = *state;
    static const char *const texts[] = {
        "a,b,c\n1,2,3\n",
        "{\"type\":\"block\",\"time_ns\":[1]}\n",
        "{\"type\":\"header\",\"gradsync\":\"0.1.0\"}\n",
        "{\"type\":\"header\",\"schema\":\"1\",\"gradsync\":\"0.1.0\"}\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct raw *r;
        char where[128];
        write_bytes(f, texts[i], strlen(texts[i]));
        assert_int_equal(raw_open(&r, f->path), GS_FAILED);
        snprintf(where, sizeof where, "%s:1: ", f->path);
        assert_memory_equal(f->error, where, strlen(where));
    }
    struct raw *r;
    assert_int_equal(raw_open(&r, "/nowhere/launch-01.01.jsonl"), GS_FAILED);
    assert_non_null(strstr(f->error, "/nowhere/launch-01.01.jsonl: "));
}

TEST_WITH(a_newer_schema_names_both_versions, set_up, tear_down)
{
    struct fixture *f = *state;
    struct raw *r;
    const char *text = "{\"type\":\"header\",\"schema\":99,\"gradsync\":\"7.8.9\"}\n";
    write_bytes(f, text, strlen(text));
    assert_int_equal(raw_open(&r, f->path), GS_FAILED);
    assert_non_null(strstr(f->error, "gradsync 7.8.9 in schema 99"));
    assert_non_null(strstr(f->error, "up to schema 1"));
    assert_non_null(strstr(f->error, "update gradsync"));
}

TEST_WITH(a_line_without_end_is_refused, set_up, tear_down)
{
    struct fixture *f = *state;
    struct raw *r;
    struct raw_line l;
    FILE *file = fopen(f->path, "wb");
    assert_non_null(file);
    fputs(HEADER "{\"type\":\"block\",\"time_ns\":[", file);
    for (int i = 0; i < RAW_LINE_MAX; i++)
        fputs("1,", file);
    fclose(file);
    assert_int_equal(raw_open(&r, f->path), GS_OK);
    assert_int_equal(raw_next(r, 1u << RAW_BLOCK, &l), -1);
    assert_non_null(strstr(f->error, ":2: a line is longer than"));
    raw_close(r);
}

TEST_WITH(a_place_can_be_returned_to, set_up, tear_down)
{
    struct raw *r = open_text(*state, HEADER BLOCK("1") BLOCK("2") BLOCK("3"));
    struct raw_line l;
    const unsigned want = 1u << RAW_BLOCK;
    assert_int_equal(raw_next(r, want, &l), 1);
    struct raw_place place = raw_tell(r);
    for (int round = 0; round < 2; round++) {
        assert_int_equal(raw_next(r, want, &l), 1);
        assert_int_equal(l.number, 3);
        assert_true(l.time_ns[0] == 2);
        assert_int_equal(raw_next(r, want, &l), 1);
        assert_int_equal(raw_next(r, want, &l), 0);
        assert_int_equal(raw_seek(r, place), GS_OK);
    }
    raw_close(r);
}

/* Both ways of reading accept the same lines, and report the others in the same words. */
TEST_WITH(a_line_means_the_same_with_and_without_a_tree, set_up, tear_down)
{
    struct fixture *f = *state;
    static const struct {
        const char *members;
        bool simple;
    } lines[] = {
        {"\"cell\":\"a1\",\"key\":\"k\",\"value\":\"RING/LL128 ctas=24\"", true},
        {"\"value\":\"\",\"n\":-0,\"r\":1.5e-3,\"x\":[1,null,[{}]],\"y\":{\"z\":[],\"w\":{}}",
         true},
        {"\"params\":{\"size\":\"16MiB\",\"mode\":\"\"},\"b\":true,\"c\":false", true},
        {"\"n\":123456789012345678", true},
        {"\"n\":1234567890123456789", false},
        {"\"value\":\"a quote ' and a \\u00e4\"", false},
        {"\"metrics\":{\"alg bw\":1.0}", false},
        {"\"value\":\"-5\"", false},
        {"\"cell\":\"a b\"", false},
        {"\"cell\":{\"x\":\"a b\"}", false},
        {"\"cell\":[\"..\"]", false},
        {"\"mode\":\"$(x)\"", false},
        {"\"value\":\"\x1b[2J\"", false},
        {"\"value\":\"\xff\"", false},
        {"\"a\":1,\"b\":{\"c\":1,\"d\":2,\"c\":3}", false},
        {"\"r\":1e999", false},
        {"\"n\":01", false},
        {"\"n\":1.", false},
        {"\"n\":-", false},
        {"\"n\":1e", false},
        {"\"n\":[1,]", false},
        {"\"n\":nul", false},
        {"\"n\":{\"a\":1,}", false},
        {"\"n\" :1", false},
        {"\"n\":1}", false},
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        char error[2][sizeof f->error] = {"", ""};
        AUTO_FREE char *text = xstrfmt(HEADER "{\"type\":\"note\",%s}\n", lines[i].members);
        for (int way = 0; way < 2; way++) {
            struct raw_line l = {0};
            struct raw *r = open_text(f, text);
            raw_without_trees(r, way ? ~0u : 0);
            *f->error = '\0';
            int got = raw_next(r, 1u << RAW_NOTE, &l);
            assert_int_equal(got < 0, *f->error != '\0');
            if (!l.head != !(way && lines[i].simple))
                fail_msg("%s: head %d", lines[i].members, l.head != NULL);
            strcpy(error[way], f->error);
            raw_close(r);
        }
        assert_string_equal(error[0], error[1]);
    }
}

TEST_WITH(members_are_read_without_a_tree, set_up, tear_down)
{
    struct fixture *f = *state;
    struct raw *r =
        open_text(f, HEADER "{\"type\":\"block\",\"cell\":\"c\",\"copy\":-1,\"skew_ns\":7,"
                            "\"metrics\":{\"copy\":2.5,\"n\":3},\"x\":[\"cell\"],"
                            "\"time_ns\":[3]}\n");
    struct raw_line l;
    const char *s;
    int64_t i;
    raw_without_trees(r, 1u << RAW_BLOCK);
    assert_int_equal(raw_next(r, ~0u, &l), 1);
    assert_non_null(l.json); /* of the header */
    assert_int_equal(raw_next(r, ~0u, &l), 1);
    assert_null(l.json);
    assert_int_equal(l.n, 1);
    assert_true(raw_string(r, &l, "cell", &s) && !strcmp(s, "c"));
    assert_true(raw_integer(r, &l, "copy", &i) && i == -1);
    assert_true(raw_number(&l, NULL, "skew_ns") == 7);
    assert_true(raw_number(&l, "metrics", "copy") == 2.5);
    assert_true(raw_number(&l, "metrics", "n") == 3);
    assert_true(isnan(raw_number(&l, "metrics", "cell")));
    assert_true(isnan(raw_number(&l, "x", "x")));
    assert_string_equal(raw_text(&l, "absent"), "");
    assert_false(raw_integer(r, &l, "metrics", &i));
    assert_non_null(strstr(f->error, ":2: damaged: block has no integer 'metrics'"));
    assert_false(raw_string(r, &l, "copy", &s));
    assert_non_null(strstr(f->error, "no text 'copy'"));
    raw_close(r);
}

TEST_WITH(absent_members_are_named, set_up, tear_down)
{
    struct fixture *f = *state;
    struct raw *r = open_text(f, HEADER "{\"type\":\"note\",\"n\":3,\"s\":\"x\",\"d\":0.5}\n");
    struct raw_line l;
    const char *s;
    int64_t i;
    assert_int_equal(raw_next(r, 1u << RAW_NOTE, &l), 1);
    assert_true(raw_integer(r, &l, "n", &i) && i == 3);
    assert_true(raw_string(r, &l, "s", &s) && !strcmp(s, "x"));
    assert_false(raw_integer(r, &l, "d", &i));
    assert_non_null(strstr(f->error, ":2: damaged: note has no integer 'd'"));
    assert_false(raw_string(r, &l, "n", &s));
    assert_non_null(strstr(f->error, "no text 'n'"));
    assert_false(raw_integer(r, &l, "absent", &i));
    assert_non_null(strstr(f->error, "'absent'"));
    raw_close(r);
}
