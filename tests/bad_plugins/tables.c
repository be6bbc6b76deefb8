/* SPDX-License-Identifier: Apache-2.0
 *
 * Tables with one fault, which the tests choose: -DWIDTH=uint32_t, -DPARAMS=8, or -DPARAMS_END=0 and the
 * like for a table without its last line.
 */
#include "workload.h"

#ifndef WIDTH
#define WIDTH uint64_t
#endif
#ifndef PARAMS
#define PARAMS params.v
#endif
#ifndef PARAMS_END
#define PARAMS_END 1
#endif
#ifndef METRICS_END
#define METRICS_END 1
#endif
#ifndef CHOICES_END
#define CHOICES_END 1
#endif
#ifndef ADDED_END
#define ADDED_END 1
#endif

struct cell {
    WIDTH size, count;
    int kind;
};

/* Behind each table lies what is neither a string nor an address. */
#define TABLE(type, n)                                                                             \
    static const struct {                                                                          \
        type v[n];                                                                                 \
        unsigned long behind[32];                                                                  \
    }
#define BEHIND                                                                                     \
    {                                                                                              \
        [0 ... 31] = 0x1234567                                                                     \
    }
#define SIZE(member) WL_SIZE, WL_AXIS, WL_FIELD(struct cell, member, WIDTH), "B", "8", 0, 0, NULL

TABLE(char *, 2 + CHOICES_END) kinds = {{"a", "b"}, BEHIND};
TABLE(char *, 1 + ADDED_END) added = {{"kind"}, BEHIND};
TABLE(struct wl_metric, 1 + METRICS_END) metrics = {{{"time", "s", "one", WL_MAX}}, BEHIND};
TABLE(struct wl_param, 3 + PARAMS_END)
params = {{{"size", SIZE(size), "bytes"},
           {"count", SIZE(count), "more bytes"},
           {"kind", WL_CHOICE, WL_CONFIG, WL_FIELD(struct cell, kind, int), NULL, "a", 0, 0,
            (const char *const *)kinds.v, "kind"}},
          BEHIND};

const struct wl_plugin wl_plugin_v1 = {.size = sizeof(struct wl_plugin),
                                       .name = "tables",
                                       .version = "1",
                                       .summary = "a fault in a table",
                                       .params = (const struct wl_param *)PARAMS,
                                       .cell_size = sizeof(struct cell),
                                       .metrics = metrics.v,
                                       .added = (const char *const *)added.v};
