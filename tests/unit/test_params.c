/* SPDX-License-Identifier: Apache-2.0 */
#include "config/params.h"
#include "toy.h"
#include "unit.h"

#include <math.h>
#include <string.h>

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

TEST(refusals)
{
    static const struct {
        const char *name, *text, *why;
    } cases[] = {
        {"algorithm", "rign",
         "'rign' is not a choice (auto, ring, tree, off, did you mean 'ring'?)"},
        {"algorithm", "Ring",
         "'Ring' is not a choice (auto, ring, tree, off, did you mean 'ring'?)"},
        {"count", "1001", "'1001' is not in range (-100..1000)"},
        {"count", "two", "'two' is not an integer, e.g. 3 or 4k (-100..1000)"},
        {"size", "2TiB", "'2TiB' is not in range (0..1TiB)"},
        {"size", "8 cm", "'8 cm' is not a size, e.g. 8, 64KiB or 1GB (0..1TiB)"},
        {"size", "8M", "'8M' is not a size, e.g. 8, 64KiB or 1GB (0..1TiB, did you mean '8MiB'?)"},
        {"size", "1.5 KB",
         "'1.5 KB' is not a size, e.g. 8, 64KiB or 1GB (0..1TiB, did you mean '1.5kB'?)"},
        {"count", "2K", "'2K' is not an integer, e.g. 3 or 4k (-100..1000, did you mean '2k'?)"},
        {"wait", "1MS", "'1MS' is not a time, e.g. 3us, 30min or 1h (0..10s, did you mean '1ms'?)"},
        {"wait", "11s", "'11s' is not in range (0..10s)"},
        {"share", "101%", "'101%' is not in range (0..1)"},
        {"flag", "true", "'true' is not yes or no"},
    };
    struct toy_cell c = {0}, before = c;
    char why[256];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_false(param_parse(toy(cases[i].name), cases[i].text, &c, why, sizeof why));
        assert_string_equal(why, cases[i].why);
    }
    assert_memory_equal(&c, &before, sizeof c); /* a refused value changes nothing */
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

TEST(a_bad_default_is_named)
{
    static const struct wl_param table[] = {
        {"n", WL_INT, WL_AXIS, 0, NULL, "0", 1, 5, NULL, "out of its own range"}, {0}};
    int64_t n;
    char why[256];
    assert_false(params_default(table, &n, why, sizeof why));
    assert_string_equal(why, "default of 'n': '0' is not in range (1..5)");
}

TEST(open_ranges)
{
    const struct wl_param least = {"n", WL_INT, WL_AXIS, 0, NULL, "1", 1, INFINITY, NULL, ""};
    const struct wl_param most = {"n", WL_INT, WL_AXIS, 0, NULL, "1", -INFINITY, 5, NULL, ""};
    const struct wl_param large = {"n", WL_REAL, WL_AXIS, 0, NULL, "1", 0, 1e15, NULL, ""};
    const struct wl_param longest = {"n", WL_TIME, WL_AXIS, 0, NULL, "1s", 0, 1e6, NULL, ""};
    int64_t n;
    char buf[64];
    assert_string_equal(param_allowed(&large, buf, sizeof buf), "0..1e15");
    assert_string_equal(param_allowed(&longest, buf, sizeof buf), "0..11.6 days");
    assert_string_equal(param_allowed(&least, buf, sizeof buf), "1 or more");
    assert_string_equal(param_allowed(&most, buf, sizeof buf), "at most 5");
    assert_true(param_parse(&least, "1000000", &n, buf, sizeof buf));
    assert_false(param_parse(&least, "0", &n, buf, sizeof buf));
}

TEST(nearest)
{
    struct plugin *p = toy_plugin();
    assert_string_equal(params_nearest(p->wl.params, "siez"), "size");
    assert_null(params_nearest(p->wl.params, "velocity"));
    plugin_unload(p);
}
