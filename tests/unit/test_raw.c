/* SPDX-License-Identifier: Apache-2.0 */
#include "folder.h"
#include "record/raw.h"
#include "record/record.h"

#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>

#define HEADER "{\"type\":\"header\",\"schema\":1,\"gradsync\":\"0.1.0\",\"run_id\":\"r\"}\n"
#define BLOCK(times) "{\"type\":\"block\",\"cell\":\"c\",\"iters\":4,\"time_ns\":[" times "]}\n"

static struct raw *r;
static struct raw_line l;

static int tear_down(void **state)
{
    raw_close(r);
    r = NULL;
    return folder_tear_down(state);
}

#define TEST_RAW(name) TEST_WITH(name, folder_set_up, tear_down)
#define FILE_NAME "launch-01.01.jsonl"

static void write_bytes(const char *s, size_t n)
{
    FILE *file = fopen(folder_path(FILE_NAME), "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(s, 1, n, file), n);
    fclose(file);
}

static int try_to_open(const char *s, size_t n)
{
    raw_close(r);
    r = NULL, l = (struct raw_line){0};
    write_bytes(s, n);
    return raw_open(&r, folder_path(FILE_NAME));
}

static void open_text(const char *s)
{
    assert_int_equal(try_to_open(s, strlen(s)), GS_OK);
}

static int next(unsigned wanted)
{
    return raw_next(r, wanted, &l);
}

/* The samples are the last member, whatever names and values come before them. */
TEST_RAW(a_metric_may_have_the_name_of_the_samples)
{
    open_text(HEADER "{\"type\":\"block\",\"cell\":\"time_ns\",\"metrics\":{\"time_ns\":2.5,"
                     "\"more\":[1]},\"time_ns\":[3,4]}\n");
    assert_int_equal(next(1u << RAW_BLOCK), 1);
    assert_int_equal(l.n, 2);
    assert_true(l.time_ns[1] == 4);
    assert_true(json_real_value(json_object_get(json_object_get(l.json, "metrics"), "time_ns")) ==
                2.5);
}

/* What record_block writes is what is read, over many buffers' worth. */
TEST_RAW(long_recordings_round_trip)
{
    enum { BLOCKS = 40, SAMPLES = 20000 };
    struct record out;
    uint64_t *t = xmalloc(SAMPLES * sizeof *t);
    unlink(folder_path(FILE_NAME));
    assert_int_equal(record_create(&out, folder_path(FILE_NAME)), GS_OK);
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
    assert_int_equal(raw_open(&r, folder_path(FILE_NAME)), GS_OK);
    for (int b = 0; b < BLOCKS; b++) {
        const char *text;
        assert_int_equal(next(1u << RAW_BLOCK), 1);
        assert_int_equal(l.n, SAMPLES);
        assert_true(raw_string(r, &l, "text", &text));
        assert_string_equal(text, "\"time_ns\":[1]}\\");
        for (uint64_t i = 0; i < SAMPLES; i++)
            assert_true(l.time_ns[i] == (i + 1) * (i + 7) * (uint64_t)(b + 1));
    }
    assert_int_equal(next(~0u), 0);
    free(t);
}

/* A recording cut after any byte reads up to its last whole line. */
TEST_RAW(any_cut_is_a_torn_line)
{
    const char *whole = HEADER BLOCK("10,20") BLOCK("30") "{\"type\":\"end\",\"status\":\"ok\"}\n";
    for (size_t n = 0; n <= strlen(whole); n++) {
        size_t lines = 0;
        int got;
        assert_int_equal(try_to_open(whole, n), GS_OK);
        while ((got = next(~0u)) == 1)
            lines++;
        assert_int_equal(got, 0);
        size_t newlines = 0;
        for (size_t i = 0; i < n; i++)
            newlines += whole[i] == '\n';
        assert_int_equal(lines, newlines);
        assert_int_equal(raw_torn(r), n > 0 && whole[n - 1] != '\n');
    }
}

TEST_RAW(damage_is_named_by_its_line)
{
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
        char where[128];
        AUTO_TEXT struct text t = {0};
        text_addf(&t, "%s%s%s", HEADER, lines[i], BLOCK("5"));
        open_text(t.s);
        assert_int_equal(next(~0u), 1);
        if (next(~0u) != -1)
            fail_msg("not found: %s", lines[i]);
        snprintf(where, sizeof where, "%s:2: damaged: ", folder_path(FILE_NAME));
        assert_memory_equal(folder.error, where, strlen(where));
        assert_int_equal(next(~0u), 1); /* the next line is still good */
        assert_int_equal(l.n, 1);
    }
}

TEST_RAW(bytes_after_a_nul_are_damage)
{
    static const char text[] = HEADER "{\"type\":\"block\",\"time_ns\":[1]}\0,\"x\":1}\n";
    write_bytes(text, sizeof text - 1);
    assert_int_equal(raw_open(&r, folder_path(FILE_NAME)), GS_OK);
    assert_int_equal(next(1u << RAW_BLOCK), -1);
}

TEST_RAW(a_line_without_end_is_refused)
{
    FILE *file = fopen(folder_path(FILE_NAME), "wb");
    assert_non_null(file);
    fputs(HEADER "{\"type\":\"block\",\"time_ns\":[", file);
    for (int i = 0; i < RAW_LINE_MAX; i++)
        fputs("1,", file);
    fclose(file);
    assert_int_equal(raw_open(&r, folder_path(FILE_NAME)), GS_OK);
    assert_int_equal(next(1u << RAW_BLOCK), -1);
    folder_says(":2: a line is longer than");
}

/* Both ways of reading accept the same lines, and report the others in the same words. */
TEST_RAW(a_line_means_the_same_with_and_without_a_tree)
{
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
        char error[2][sizeof folder.error] = {"", ""};
        AUTO_FREE char *text = xstrfmt(HEADER "{\"type\":\"note\",%s}\n", lines[i].members);
        for (int way = 0; way < 2; way++) {
            open_text(text);
            raw_without_trees(r, way ? ~0u : 0);
            *folder.error = '\0';
            int got = next(1u << RAW_NOTE);
            assert_int_equal(got < 0, *folder.error != '\0');
            if (!l.head != !(way && lines[i].simple))
                fail_msg("%s: head %d", lines[i].members, l.head != NULL);
            strcpy(error[way], folder.error);
        }
        assert_string_equal(error[0], error[1]);
    }
}
