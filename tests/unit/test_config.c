/* SPDX-License-Identifier: Apache-2.0 */
#include "captured.h"
#include "config/config.h"
#include "config/params.h"
#include "config/settings.h"
#include "toy.h"

#define N(a) (sizeof(a) / sizeof *(a))

static struct config *load(const char *text, const char *const *overrides, int want)
{
    struct config *c;
    int code = config_from_text(&c, "x.ini", text, strlen(text), overrides);
    if (code != want)
        fail_msg("exit %d, not %d: %s\n%s", code, want, captured, text);
    return c;
}

static const char *value(const struct config *c, const char *section, const char *key)
{
    const struct config_entry *e = config_find(c, section, key);
    return e ? e->value : NULL;
}

TEST_CAPTURED(reads_what_iniparser_reads)
{
    AUTO(config_free_of)
    struct config *c = load("# a comment\n"
                            "[Platform]\r\n"
                            "  Title = two words ; said so\n"
                            "\n"
                            "device=\"a;b # c\"  # quoted\n"
                            "[null]\n"
                            "size = 8, 16\n"
                            "time = '  1us '\n"
                            "config =\n"
                            "[null other-label]\n"
                            "x==y\n",
                            NULL, GS_OK);
    assert_int_equal(c->n, 6);
    assert_string_equal(value(c, "platform", "title"), "two words");
    assert_string_equal(value(c, "platform", "device"), "a;b # c");
    assert_string_equal(value(c, "null", "size"), "8, 16");
    assert_string_equal(value(c, "null", "time"), "  1us ");
    assert_string_equal(value(c, "null", "config"), "");
    assert_string_equal(value(c, "null other-label", "x"), "=y");
    assert_int_equal(config_find(c, "null", "size")->line, 7);
    assert_int_equal(config_find(c, "null", "time")->line, 8);
    assert_int_equal(config_section(c, "null other-label")->line, 10);
    assert_string_equal(config_workload(c, 0), "null");
    assert_string_equal(config_workload(c, 1), "null other-label");
    assert_null(config_workload(c, 2));
}

TEST_CAPTURED(long_lines)
{
    for (size_t n = 1021; n <= 1023; n++) {
        AUTO_TEXT struct text t = {0};
        text_add(&t, "[null]\nnote = ");
        while (t.len < n + 7)
            text_add(&t, "x");
        text_add(&t, "\nsize = 8\n");
        AUTO(config_free_of) struct config *c = load(t.s, NULL, n <= 1022 ? GS_OK : GS_USAGE);
        assert_int_equal(c->n, n <= 1022 ? 2 : 1);
    }
    captured_says("x.ini:2: longer than 1022 bytes");
}

TEST_CAPTURED(nul_bytes)
{
    struct config *c;
    assert_int_equal(config_from_text(&c, "x.ini", "[null]\0size = 8\n", 16, NULL), GS_USAGE);
    assert_string_equal(captured, "x.ini: contains NUL bytes: this is not a config");
    config_free(c);
}

TEST_CAPTURED(overrides)
{
    const char *const good[] = {"null:size=8:16:x2", "Launch:RANKS=4", "null:note=a=b;c",
                                "null a-b:size=9", NULL};
    AUTO(config_free_of) struct config *c = load("[null]\nsize = 1\n[null a-b]\n", good, GS_OK);
    assert_string_equal(value(c, "null", "size"), "8:16:x2");
    assert_string_equal(value(c, "launch", "ranks"), "4");
    assert_string_equal(value(c, "null", "note"), "a=b;c");
    assert_string_equal(value(c, "null a-b", "size"), "9");
    assert_string_equal(config_find(c, "null", "size")->file, "--set");
    assert_string_equal(c->overrides[1], "Launch:RANKS=4");
    config_error(config_find(c, "null", "size"), "is %s", "wrong");
    assert_string_equal(captured, "--set: key 'size': is wrong");
    static const struct {
        const char *set, *want;
    } bad[] = {
        {"size=8", "gradsync: --set 'size=8' is not SECTION:KEY=VALUE"},
        {"null:size", "gradsync: --set 'null:size' is not SECTION:KEY=VALUE"},
        {"nul:size=8", "gradsync: --set: x.ini has no section [nul], did you mean [null]?"},
        {"null:size=8\n9", "gradsync: --set null:size: the value is not UTF-8"},
        {"launch:rank=8", "--set: key 'rank': unknown in [launch], did you mean 'ranks'?"},
    };
    for (size_t i = 0; i < N(bad); i++) {
        const char *const one[] = {bad[i].set, NULL};
        config_free(load("[null]\n", one, GS_USAGE));
        captured_begins(bad[i].want);
    }
}

TEST_CAPTURED(limits)
{
    AUTO(config_free_of)
    struct config *c = load("[limits]\nbusbw = 450 GB/s\nbusbw.source = a book\nsource = x\n"
                            "l2 = 50MiB\nlatency = 3us\nflops = 67e12\n",
                            NULL, GS_OK);
    struct settings s;
    assert_int_equal(settings_read(c, &s), GS_OK);
    assert_true(settings_limit(c, "busbw") == 450e9);
    assert_true(settings_limit(c, "l2") == 52428800);
    assert_true(settings_limit(c, "latency") == 3e-6);
    assert_true(settings_limit(c, "flops") == 67e12);
    assert_true(isnan(settings_limit(c, "memory")));
}

TEST_CAPTURED(files)
{
    struct config *c;
    char path[] = "/tmp/gradsync-test-XXXXXX";
    assert_int_equal(config_load(&c, "/proc/nowhere/a.ini", NULL), GS_USAGE);
    assert_string_equal(captured, "/proc/nowhere/a.ini: cannot be read: No such file or directory");
    assert_null(c);
    assert_int_equal(config_load(&c, "/", NULL), GS_USAGE);
    assert_string_equal(captured,
                        "/: is a folder, not a config; to complete a run: gradsync resume RUN");
    assert_int_equal(config_load(&c, "/dev/zero", NULL), GS_USAGE);
    assert_string_equal(captured, "/dev/zero: more than 256 KiB: this is not a config");
    int fd = mkstemp(path);
    assert_true(fd >= 0 && write(fd, "[null]\nsize = 8\n", 16) == 16);
    assert_int_equal(config_load(&c, path, NULL), GS_OK);
    config_free(config_share(c));
    assert_string_equal(value(c, "null", "size"), "8");
    config_free(c);
    close(fd);
    unlink(path);
}

/* ---- params ---- */

static const struct wl_param *toy(const char *name)
{
    static struct plugin *p;
    if (!p)
        p = toy_plugin();
    return params_find(p->wl.params, name);
}

TEST(defaults_and_back)
{
    struct plugin *p = toy_plugin();
    struct toy_cell c = {0}, d = {0};
    char why[256], buf[128];
    assert_true(params_default(p->wl.params, &c, why, sizeof why));
    assert_int_equal(c.size, 1024);
    assert_true(c.share == 0.5);
    assert_int_equal(c.dtype, 0);
    for (const struct wl_param *q = p->wl.params; q->name; q++)
        assert_true(param_parse(q, param_format(q, &c, buf, sizeof buf), &d, why, sizeof why));
    assert_memory_equal(&c, &d, sizeof c);
    assert_int_equal(params_count(p->wl.params), 11);
    plugin_unload(p);
}

TEST(texts)
{
    char why[256], longest[WL_TEXT_MAX + 1];
    struct toy_cell c;
    memset(&c, 'x', sizeof c);
    assert_true(param_parse(toy("note"), "short", &c, why, sizeof why));
    assert_string_equal(c.note, "short");
    for (size_t i = 5; i < WL_TEXT_MAX; i++)
        assert_int_equal(c.note[i], 0); /* cells are compared as bytes */
    memset(longest, 'y', WL_TEXT_MAX);
    longest[WL_TEXT_MAX] = '\0';
    assert_false(param_parse(toy("note"), longest, &c, why, sizeof why));
    assert_string_equal(why, "the text has 64 bytes (at most 63)");
    longest[WL_TEXT_MAX - 1] = '\0';
    assert_true(param_parse(toy("note"), longest, &c, why, sizeof why));
    assert_string_equal(c.note, longest);
}
