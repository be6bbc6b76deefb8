/* SPDX-License-Identifier: Apache-2.0
 *
 * iteration_times_*.txt: milliseconds of a training step, one a line and nothing else.
 */
#include "base/err.h"
#include "import/import.h"
#include "import/import_lines.h"

#include <string.h>

static bool claims(const char *line)
{
    struct word w[2];
    struct number x;
    return words_of(line, w, 2) == 1 && number_read(&x, w[0].s, w[0].s + w[0].n);
}

static int take(struct import *imp, struct lines *in, struct imp_test *t, const char *line)
{
    struct word w[2];
    struct number x;
    uint64_t ns;
    size_t n = words_of(line, w, 2);
    if (n == 0)
        return GS_OK;
    if (in->torn) { /* 9.7 may have been 9.795 */
        strcpy(t->missing, "its last line is torn");
        return GS_OK;
    }
    if (n != 1 || in->cut || !number_read(&x, w[0].s, w[0].s + w[0].n))
        return import_refuse(in, "not a time in milliseconds alone on its line");
    if (!number_scaled(&x, 6, &ns) || x.negative || !ns)
        return import_refuse(in, "%.*s ms is no time", (int)(w[0].n < 40 ? w[0].n : 40), w[0].s);
    struct imp_cell *c = t->cells; /* the only one */
    if (!c)
        c = import_cell(imp, in, t, &(struct imp_cell){.in_place = -1, .root = -1, .iters = 1});
    return c ? import_sample(imp, in, c, ns) : GS_FAILED;
}

static int read_times(struct import *imp, struct lines *in)
{
    char *line;
    size_t n;
    int got, code = GS_OK;
    struct imp_test *t = import_add_test(imp, in, "iter_proxy");
    t->line = 1;
    t->metric = "";
    t->unverified = true;
    while (!code && (got = lines_next(in, &line, &n)) != 0)
        code = got < 0 ? GS_FAILED : take(imp, in, t, line);
    return code;
}

const struct import_format import_iteration = {"iteration", claims, read_times};
