/* SPDX-License-Identifier: Apache-2.0 */
#include "base/files.h"
#include "captured.h"
#include "plan/plan.h"
#include "record/manifest.h"
#include "toy.h"

#define N(a) (sizeof(a) / sizeof *(a))

static struct plan *build(const char *text)
{
    struct plan *p;
    if (plan_build(&p, toy_config(text), "toy", toy_plugin(), NULL))
        fail_msg("%s\n%s", captured, text);
    return p;
}

/* The id's definition, spelled out: recordings are matched by it for years. */
TEST_CAPTURED(ids_are_hashes_of_canonical_text)
{
    AUTO(plan_free_of) struct plan *p = build("[toy]\nsize = 1024\n");
    const char *text = "platform=toy\nworkload=toy\nranks=2\nnodes=1\n"
                       "algorithm=auto\ncount=4\nctas=0\ndtype=float32\nflag=no\nmode=overlapped\n"
                       "note=\nprotocol=auto\nshare=0.5\nsize=1KiB\nwait=0\n";
    char hex[65];
    sha256_hex(text, strlen(text), hex);
    hex[16] = '\0';
    assert_int_equal(p->n_cells, 1);
    assert_string_equal(p->cells[0].id, hex);
    assert_string_equal(p->cells[0].params,
                        "size=1KiB count=4 share=0.5 wait=0 flag=no dtype=float32 mode=overlapped "
                        "algorithm=auto protocol=auto ctas=0 note=\"\"");
    AUTO(plan_free_of) struct plan *same = build("# other text\n[toy]\nsize = 1KiB\ncount = 4\n");
    AUTO(plan_free_of) struct plan *other = build("[launch]\nranks = 4\n[toy]\n");
    assert_string_equal(same->cells[0].id, hex);
    assert_string_equal(same->groups[0].id, p->groups[0].id);
    assert_string_not_equal(other->cells[0].id, hex);
}

/* ---- run folders, with a plugin that can be loaded again ---- */

static struct plan *build_null(const char *text, const char *const *set)
{
    struct config *c;
    struct plan *p;
    if (config_from_text(&c, "/any/where/box.ini", text, strlen(text), set))
        fail_msg("%s", captured);
    if (plan_build(&p, c, "null probe", NULL, NULL))
        fail_msg("%s", captured);
    return p;
}

static void edit(const char *dir, const char *name, const char *from, const char *to)
{
    AUTO_TEXT struct text bytes = {0};
    AUTO_FREE char *path = xstrfmt("%s/%s", dir, name);
    assert_true(files_read(path, FILES_GIVEN, SIZE_MAX, &bytes));
    char *at = strstr(bytes.s, from);
    assert_true(at && strlen(from) == strlen(to));
    memcpy(at, to, strlen(to));
    FILE *f = fopen(path, "w");
    assert_true(f && fputs(bytes.s, f) >= 0 && !fclose(f));
}

static void read_refused(const char *dir, int want, const char *said)
{
    struct plan *p;
    assert_int_equal(plan_read(&p, dir), want);
    assert_null(p);
    captured_says(said);
}

TEST_CAPTURED(run_folders)
{
    const char *build_dir = getenv("BUILD");
    AUTO_FREE char *plugins = xstrfmt("%s/tests/plugins", build_dir ? build_dir : "build");
    AUTO_FREE char *null = xstrfmt("%s/null.so", plugins);
    bool there = !access(null, R_OK);
    setenv("GRADSYNC_PLUGIN_PATH", plugins, 1);
    if (!there)
        skip();
    char dir[] = "/tmp/gradsync test XXXXXX";
    assert_non_null(mkdtemp(dir));
    const char *const set[] = {"null probe:size=8:64:x2", NULL};
    struct plan *p = build_null("[null probe]\nconfig = a, b\n", set), *q;
    assert_int_equal(plan_write(p, dir), GS_OK);
    assert_int_equal(plan_write(p, dir), GS_FAILED); /* a run folder is written once */
    if (plan_read(&q, dir))
        fail_msg("%s", captured);
    assert_true(q->seed == p->seed && q->n_cells == 8 && p->n_cells == 8);
    assert_string_equal(q->set.platform.name, "box");
    assert_string_equal(q->label, "probe");
    assert_string_equal(q->cells[7].id, p->cells[7].id);
    assert_string_equal(q->config->overrides[0], set[0]);
    assert_null(q->config->overrides[1]);
    plan_free(q);
    edit(dir, "plan.json", p->cells[3].id, "0123456789abcdef");
    read_refused(dir, GS_CANNOT, "its cells differ from those that its config gives now");
    edit(dir, "config.ini", "a, b", "a, c");
    read_refused(dir, GS_FAILED, "config.ini: edited since the run was planned");
    edit(dir, "plan.json", "\"seed\"", "\"sead\"");
    read_refused(dir, GS_FAILED, "damaged: no number 'seed'");
    edit(dir, "plan.json", "{", "[");
    read_refused(dir, GS_FAILED, "damaged");
    read_refused("/tmp", GS_USAGE, "/tmp: no plan.json: this is no run folder");
    plan_free(p);
    AUTO_FREE char *command = xstrfmt("rm -r '%s'", dir);
    assert_int_equal(system(command), 0);
}

/* ---- order ---- */

enum { N = 7 };

static void assert_permutation(const size_t *order, size_t n)
{
    bool seen[64] = {false};
    for (size_t i = 0; i < n; i++) {
        assert_true(order[i] < n);
        assert_false(seen[order[i]]);
        seen[order[i]] = true;
    }
}

TEST(an_order_visits_everything_once)
{
    size_t order[64];
    for (size_t n = 1; n <= 40; n++)
        for (int k = 1; k <= 8; k++) {
            plan_order_groups(order, n, 99, k);
            assert_permutation(order, n);
            plan_order_visits(order, n, 99, 1, 3, k);
            assert_permutation(order, n);
        }
}

TEST(seed_launch_group_and_block_each_change_it)
{
    size_t a[40], b[40];
    plan_order_groups(a, 40, 4, 1);
    plan_order_groups(b, 40, 4, 2);
    assert_memory_not_equal(a, b, sizeof a);
    plan_order_groups(b, 40, 5, 1);
    assert_memory_not_equal(a, b, sizeof a);
    plan_order_visits(a, 40, 4, 1, 0, 1);
    const struct {
        uint64_t seed;
        int launch;
        size_t group;
        int block;
    } others[] = {{5, 1, 0, 1}, {4, 2, 0, 1}, {4, 1, 1, 1}, {4, 1, 0, 3}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        plan_order_visits(b, 40, others[i].seed, others[i].launch, others[i].group,
                          others[i].block);
        assert_memory_not_equal(a, b, sizeof a);
    }
    assert_true(plan_launch_seed(4, 1) != plan_launch_seed(4, 2));
}

TEST(even_blocks_mirror_the_one_before)
{
    for (int block = 1; block < 20; block += 2)
        for (size_t n = 2; n <= N; n++) {
            size_t a[N], b[N];
            plan_order_visits(a, n, 7, 1, 0, block);
            plan_order_visits(b, n, 7, 1, 0, block + 1);
            for (size_t i = 0; i < n; i++)
                assert_int_equal(a[i], b[n - 1 - i]);
        }
}

/* Over many odd blocks each visit stands at each place about as often: 4000 draws of 4, expected
 * 1000 each, standard deviation 27. */
TEST(no_place_is_preferred)
{
    unsigned counts[4][4] = {{0}};
    for (int block = 1; block < 8000; block += 2) {
        size_t order[4];
        plan_order_visits(order, 4, 1, 1, 0, block);
        for (size_t i = 0; i < 4; i++)
            counts[i][order[i]]++;
    }
    for (size_t i = 0; i < 4; i++)
        for (size_t j = 0; j < 4; j++)
            assert_in_range(counts[i][j], 1000 - 5 * 27, 1000 + 5 * 27);
}
