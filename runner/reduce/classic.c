/* SPDX-License-Identifier: Apache-2.0 */
#include "reduce/classic.h"

#include "base/err.h"
#include "base/text.h"
#include "reduce/iteration.h"
#include "reduce/nccl_table.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *file_name(const char *s)
{
    char *name = xstrdup(s);
    for (char *c = name; *c; c++)
        if (!isalnum((unsigned char)*c) && !strchr("._+=-", *c))
            *c = '-';
    return name;
}

void classic_open(struct classic *c, const struct recorded *r, const char *out)
{
    *c = (struct classic){.r = r};
    c->dir = xstrfmt("%s/classic/%s/%s/%s", out, r->platform, r->workload, r->run_id);
    size_t group = r->n_groups;
    for (size_t i = 0; i < r->n_cells; i++)
        if (iteration_is_step(&r->cells[i])) {
            c->several = c->several || (group < r->n_groups && group != r->cells[i].group);
            group = r->cells[i].group;
        }
}

/* ---- iteration times ---- */

static int open_times(struct classic *c, const struct rec_cell *cell, struct csv **file)
{
    size_t index = (size_t)(cell - c->r->cells);
    for (size_t i = 0; i < c->n_times; i++)
        if (c->times[i].cell == index) {
            *file = &c->times[i].file;
            return GS_OK;
        }
    AUTO_FREE char *config = file_name(cell->config);
    char suffix[24] = "";
    if (c->several)
        snprintf(suffix, sizeof suffix, ".%zu", cell->group + 1);
    AUTO_FREE char *path = xstrfmt("%s/iteration_times_%s%s.txt", c->dir, config, suffix);
    ALLOC_MORE(c->times, c->n_times);
    c->times[c->n_times].cell = index;
    *file = &c->times[c->n_times].file;
    int code = csv_open(*file, path);
    c->n_times += !code;
    return code;
}

int classic_block(struct classic *c, const struct rec_cell *cell, const uint64_t *time_ns, size_t n,
                  uint64_t iters)
{
    struct csv *file;
    if (!iteration_is_step(cell))
        return GS_OK;
    int code = open_times(c, cell, &file);
    for (size_t i = 0; i < n && !code; i++) {
        char line[CSV_DECIMAL + 1];
        size_t len = csv_decimal(line, time_ns[i], iters, CSV_MILLISECONDS);
        line[len++] = '\n';
        csv_bytes(file, line, len);
    }
    return code;
}

static int close_times(struct classic *c, bool keep)
{
    int code = GS_OK;
    for (size_t i = 0; i < c->n_times; i++) {
        int one = csv_close(&c->times[i].file, keep && !code);
        code = code ? code : one;
    }
    c->n_times = 0;
    return code;
}

int classic_group(struct classic *c)
{
    return close_times(c, true);
}

/* ---- the table ---- */

int classic_table(struct classic *c, const struct summary *cells)
{
    AUTO_FREE char *text = nccl_table_text(c->r, cells);
    int code = GS_OK;
    if (text) {
        AUTO_FREE char *path = xstrfmt("%s/allreduce.txt", c->dir);
        code = csv_write_file(path, text);
    }
    return code;
}

void classic_close(struct classic *c)
{
    close_times(c, false);
    free(c->times);
    free(c->dir);
    *c = (struct classic){0};
}
