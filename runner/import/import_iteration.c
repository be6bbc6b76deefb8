/* SPDX-License-Identifier: Apache-2.0
 *
 * iteration_times_*.txt: one time of a training step on each line, in milliseconds unless the user
 * names another unit.
 */
#include "base/err.h"
#include "config/train_settings.h"
#include "import/import.h"

#include <string.h>

/* Is the line one number? */
static bool one_number(const char *line, struct word *w, struct number *x)
{
    return words_of(line, w, 1) == 1 && word_number(w, x);
}

static bool claims(const char *line)
{
    struct word w;
    struct number x;
    return one_number(line, &w, &x);
}

static const struct {
    const char *name;
    int shift; /* decimal, to nanoseconds */
} scales[] = {
    [TRAIN_S] = {"seconds", 9}, [TRAIN_MS] = {"milliseconds", 6}, [TRAIN_US] = {"microseconds", 3}};

static size_t scale_of(const struct import *imp)
{
    size_t i = 0;
    while (strcmp(train_units[i], imp->unit) != 0)
        i++;
    return i;
}

const char *import_unit_name(const struct import *imp)
{
    return scales[scale_of(imp)].name;
}

static int take(struct import *imp, struct import_lines *in, struct imp_test *t, const char *line)
{
    struct word w;
    struct number x;
    uint64_t ns;
    bool number = one_number(line, &w, &x);
    if (!number && !line[strspn(line, " \t")])
        return GS_OK;
    if (in->torn) { /* 9.7 may have been 9.795 */
        strcpy(t->missing, "its last line is torn");
        return GS_OK;
    }
    if (in->cut || !number)
        return import_refuse(in, "the line must be one time in %s", import_unit_name(imp));
    if (!number_scaled(&x, scales[scale_of(imp)].shift, &ns) || x.negative || !ns)
        return import_refuse(in, "%.*s %s is not a time", (int)(w.n < 40 ? w.n : 40), w.s,
                             imp->unit);
    struct imp_cell *c = t->cells; /* the only one */
    if (!c)
        c = import_cell(in, t, &(struct imp_cell){.in_place = -1, .root = -1, .iters = 1});
    import_sample(imp, in, c, ns);
    return GS_OK;
}

static int read_times(struct import *imp, struct import_lines *in)
{
    char *line;
    int code = GS_OK;
    struct imp_test *t = import_add_test(imp, in, "iter_proxy");
    t->line = 1;
    t->metric = "";
    t->unverified = true;
    while (!code && import_lines_next(in, &line))
        code = take(imp, in, t, line);
    return code;
}

const struct import_format import_iteration = {"iteration", claims, read_times};
