/* SPDX-License-Identifier: Apache-2.0 */
#include "record/machine.h"

#include "base/err.h"
#include "base/jsontext.h"
#include "base/text.h"
#include "record/raw.h"
#include "record/record.h"

#include <errno.h>
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

/* The GPUs of a launch: the header names them, or a note. Of a user's training they are known once it
 * runs, so its notes may follow the cells. */
static int read_uuids(struct words *uuids, const char *path)
{
    AUTO(raw_close_of) struct raw *raw = NULL;
    struct raw_line l;
    bool train = false;
    size_t h;
    json_t *host;
    int got = 0;
    CHECK(raw_open(&raw, path));
    while ((got = raw_next(raw, 1u << RAW_HEADER | 1u << RAW_NOTE | 1u << RAW_CELL, &l)) == 1 &&
           (l.type != RAW_CELL || train)) {
        if (l.type == RAW_HEADER) {
            train = !strcmp(json_text_of(l.json, "workload"), "train");
            json_array_foreach(json_object_get(l.json, "hosts"), h, host)
            {
                add_uuids(uuids, json_object_get(json_object_get(host, "gpu"), "uuid"));
            }
        } else if (l.type == RAW_NOTE && !strcmp(json_text_of(l.json, "key"), "uuid")) {
            add_uuids(uuids, json_object_get(l.json, "value"));
        }
    }
    words_sort(uuids);
    return got < 0 ? GS_FAILED : GS_OK;
}

static int add_sets(struct words *sets, const char *dir)
{
    AUTO_WORDS struct words paths = {0};
    if (!record_list(dir, &paths))
        return fail_at(GS_USAGE, dir, 0, "is not a run folder: %s", strerror(errno));
    for (size_t i = 0; i < paths.n; i++) {
        AUTO_WORDS struct words uuids = {0};
        AUTO_TEXT struct text set = {0};
        CHECK(read_uuids(&uuids, paths.v[i]));
        for (size_t k = 0; k < uuids.n; k++)
            text_addf(&set, "%s%s", k ? "," : "", uuids.v[k]);
        if (uuids.n)
            words_add_once(sets, set.s);
    }
    return GS_OK;
}

char *machine_gpu_sets(const char *const *dirs, size_t n)
{
    AUTO_WORDS struct words sets = {0};
    size_t pairs = 0;
    for (size_t i = 0; i < n; i++)
        if (add_sets(&sets, dirs[i]))
            return NULL;
    for (size_t i = 0; i < sets.n; i++) {
        const char *comma = strchr(sets.v[i], ',');
        pairs += comma && !strchr(comma + 1, ',');
    }
    return sets.n < 2 ? NULL
                      : xstrfmt("%zu %s of GPUs", sets.n, pairs == sets.n ? "pairs" : "sets");
}
