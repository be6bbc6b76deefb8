/* SPDX-License-Identifier: Apache-2.0 */
#include "record/machine.h"

#include "base/err.h"
#include "base/jsontext.h"
#include "base/text.h"
#include "record/raw.h"

#include <string.h>

bool machine_ignores(const char *name)
{
    static const char *const prefixes[] = {
        "NCCL_DEBUG", "NCCL_VERSION", "NCCL_HOME",    "NCCL_ROOT",      "NCCL_INCLUDE",
        "NCCL_LIB",   "NCCL_TESTS",   "NCCL_COMM_ID", "NCCL_TOPO_DUMP", "NCCL_GRAPH_DUMP_",
    };
    for (size_t i = 0; i < COUNT(prefixes); i++)
        if (!strncmp(name, prefixes[i], strlen(prefixes[i])))
            return true;
    return false;
}

/* ---- sets of GPUs ---- */

static void add_uuids(struct words *uuids, const json_t *list)
{
    AUTO_WORDS struct words w = {0};
    const char *text = json_string_value(list);
    if (text && *text)
        words_split(&w, text, ',');
    for (size_t i = 0; i < w.n; i++)
        words_add_once(uuids, w.v[i]);
}

struct gpus {
    struct words sets;  /* of the launches before */
    struct words uuids; /* of the launch that is read */
    bool cells, train;
};

static void end_launch(struct gpus *g)
{
    AUTO_TEXT struct text set = {0};
    words_sort(&g->uuids);
    for (size_t k = 0; k < g->uuids.n; k++)
        text_addf(&set, "%s%s", k ? "," : "", g->uuids.v[k]);
    if (set.s)
        words_add_once(&g->sets, set.s);
    words_free(&g->uuids);
}

/* The GPUs of a launch: the header names them, or a note. Of a user's training they are known once it
 * runs, so its notes may follow the cells. */
static bool take_line(void *ctx, const struct raw_line *l)
{
    struct gpus *g = ctx;
    size_t h;
    json_t *host;
    if (l->type == RAW_HEADER) {
        end_launch(g);
        g->cells = false;
        g->train = !strcmp(json_text_of(l->json, "workload"), "train");
        json_array_foreach(json_object_get(l->json, "hosts"), h, host)
        {
            add_uuids(&g->uuids, json_object_get(json_object_get(host, "gpu"), "uuid"));
        }
    } else if (l->type == RAW_NOTE && (!g->cells || g->train) &&
               !strcmp(json_text_of(l->json, "key"), "uuid"))
        add_uuids(&g->uuids, json_object_get(l->json, "value"));
    g->cells = g->cells || l->type == RAW_CELL;
    return true;
}

char *machine_gpu_sets(const char *const *dirs, size_t n)
{
    const unsigned types = 1u << RAW_HEADER | 1u << RAW_NOTE | 1u << RAW_CELL;
    struct gpus g = {0};
    size_t pairs = 0;
    int code = GS_OK;
    for (size_t i = 0; i < n && !code; i++)
        code = raw_each(dirs[i], types, take_line, &g);
    end_launch(&g);
    for (size_t i = 0; i < g.sets.n; i++) {
        const char *comma = strchr(g.sets.v[i], ',');
        pairs += comma && !strchr(comma + 1, ',');
    }
    char *found = code || g.sets.n < 2
                      ? NULL
                      : xstrfmt("%zu %s of GPUs", g.sets.n, pairs == g.sets.n ? "pairs" : "sets");
    words_free(&g.sets);
    return found;
}
