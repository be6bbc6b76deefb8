/* SPDX-License-Identifier: Apache-2.0 */
#include "toy.h"

#include "base/text.h"
#include "unit.h"

#include <stdio.h>
#include <string.h>

#define P(member, type, role, ctype) #member, type, role, WL_FIELD(struct toy_cell, member, ctype)

static const char *const dtypes[] = {"float32", "int32", NULL};
static const char *const modes[] = {"overlapped", "compute", NULL};
static const char *const algorithms[] = {"auto", "ring", "tree", "off", NULL};
static const char *const protocols[] = {"auto", "LL", "LL128", "off", NULL};

/* clang-format off */
static const struct wl_param params[] = {
    {P(size, WL_SIZE, WL_AXIS, uint64_t), "B", "1KiB", 0, 1ull << 40, NULL, "payload"},
    {P(count, WL_INT, WL_AXIS, int64_t), NULL, "4", -100, 1000, NULL, "a count"},
    {P(share, WL_REAL, WL_AXIS, double), NULL, "0.5", 0, 1, NULL, "a share"},
    {P(wait, WL_TIME, WL_AXIS, double), "s", "0", 0, 10, NULL, "a wait"},
    {P(flag, WL_BOOL, WL_AXIS, bool), NULL, "no", 0, 0, NULL, "a flag"},
    {P(dtype, WL_CHOICE, WL_AXIS, int), NULL, "float32", 0, 0, dtypes, "a type"},
    {P(mode, WL_CHOICE, WL_MODE, int), NULL, "overlapped", 0, 0, modes, "a mode"},
    {P(algorithm, WL_CHOICE, WL_CONFIG, int), NULL, "auto", 0, 0, algorithms, "a tuning"},
    {P(protocol, WL_CHOICE, WL_CONFIG, int), NULL, "auto", 0, 0, protocols, "another"},
    {P(ctas, WL_INT, WL_CONFIG, int64_t), NULL, "0", 0, 32, NULL, "a number"},
    {"note", WL_TEXT, WL_AXIS, WL_TEXT_FIELD(struct toy_cell, note), NULL, "", 0, 0, NULL, "words"},
    {0}};
/* clang-format on */

static const struct wl_metric metrics[] = {{"time", "s", "one iteration", WL_MAX}, {0}};

static enum wl_status describe(const void *cell, const struct wl_job *job, struct wl_shape *shape,
                               char *why, size_t n)
{
    const struct toy_cell *c = cell;
    if (job->ranks < 2) {
        snprintf(why, n, "a collective needs 2 ranks or more, not %d", job->ranks);
        return WL_FAIL;
    }
    if (c->size % 4) {
        snprintf(why, n, "size %llu is not a multiple of 4", (unsigned long long)c->size);
        return WL_FAIL;
    }
    if (c->algorithm == 2 && c->dtype == 1) {
        snprintf(why, n, "no tree of integers here");
        return WL_SKIP;
    }
    shape->size_B = c->size;
    shape->busbw_factor = 1;
    shape->host_B = 2 * c->size;
    shape->iteration_s = 1e-6;
    shape->config_free = c->mode == 1;
    return WL_OK;
}

struct plugin *toy_plugin(void)
{
    struct plugin *p = xcalloc(1, sizeof *p);
    p->path = xstrdup("toy.so");
    p->wl = (struct wl_plugin){.size = sizeof p->wl,
                               .name = "toy",
                               .version = "1.0",
                               .summary = "a toy",
                               .params = params,
                               .cell_size = sizeof(struct toy_cell),
                               .metrics = metrics,
                               .describe = describe};
    return p;
}

struct config *toy_config(const char *text)
{
    struct config *c;
    assert_int_equal(config_from_text(&c, "toy.ini", text, strlen(text), NULL), 0);
    return c;
}
