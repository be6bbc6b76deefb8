/* SPDX-License-Identifier: Apache-2.0
 *
 * Everything that tables can get wrong, at once.
 */
#include "workload.h"

struct cell {
    uint64_t size;
    double time;
    int kind;
};

static const char *const kinds[] = {"a", "b c", "a", NULL};
static const char *const stray[] = {"x", NULL};

#define SIZE WL_FIELD(struct cell, size, uint64_t)
#define KIND WL_FIELD(struct cell, kind, int)
static const struct wl_param params[] = {
    {"size", WL_SIZE, WL_AXIS, SIZE, "B", "4 apples", 0, 0, NULL, "a default that does not parse"},
    {"Time", WL_TIME, WL_AXIS, WL_FIELD(struct cell, time, double), "s", "1s", 0, 0, NULL, "upper"},
    {"kind", WL_CHOICE, WL_CONFIG, KIND, NULL, "z", 0, 0, kinds, "choices with a blank, and twice"},
    {"kind", WL_INT, WL_AXIS, 1000, NULL, "1", 0, 0, NULL, "declared twice, outside the cell"},
    {"again", WL_SIZE, WL_AXIS, SIZE, "B", "8", 9, 3, NULL, "overlaps, and min above max"},
    {"configs", WL_TIME, WL_AXIS, WL_FIELD(struct cell, time, double), "s", "1s", 0, 0, stray, ""},
    {"odd", (enum wl_type)99, WL_AXIS, 0, NULL, "1", 0, 0, NULL, "two\nlines"},
    {0}};

static const struct wl_metric metrics[] = {
    {"bandwidth", "B/s", "not the time", WL_MAX}, {"bandwidth", NULL, "", (enum wl_across)9}, {0}};

const struct wl_plugin wl_plugin_v1 = {
    .size = sizeof(struct wl_plugin),
    .name = "Bad Tables",
    .version = "",
    .summary = "two\nlines",
    .params = params,
    .cell_size = sizeof(struct cell),
    .metrics = metrics,
};
