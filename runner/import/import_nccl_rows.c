/* SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"
#include "import/import_collective.h"
#include "import/import_nccl.h"

#include <stdio.h>
#include <string.h>

/* Sizes grow; after the last of them they may start again, and with another type or operation. */
static bool in_order(const struct nccl *r, const struct row *row)
{
    char type[IMP_WORD], op[IMP_WORD];
    if (r->size_B < 0 || row->size_B > r->size_B ||
        strcmp(word_copy(type, sizeof type, &row->type), r->type) ||
        strcmp(word_copy(op, sizeof op, &row->op), r->op) || row->root != r->root)
        return true;
    int64_t next = r->step_factor > 1 ? r->size_B * r->step_factor : r->size_B + r->step_B;
    return row->size_B < r->size_B ? next + 16 * (r->step_factor + 1) > r->max_B
                                   : nccl_test(r)->n_cells <= 2; /* -b = -e, cycle after cycle */
}

/* Of one side; GS_OK or refused. */
static int take_side(struct nccl *r, const struct row *row, int in_place, struct imp_cell *like)
{
    struct claim c = {.size_B = row->size_B};
    const struct word *time = &row->side[in_place].time, *algbw = &row->side[in_place].algbw,
                      *busbw = &row->side[in_place].busbw, *wrong = &row->side[in_place].wrong;
    struct imp_test *t = nccl_test(r);
    struct number errors;
    uint64_t ns;
    if (word_is(time, "N/A")) /* there is no such variant of the operation */
        return GS_OK;
    if (!number_read(&c.time_us, time->s, time->s + time->n) ||
        !number_read(&c.algbw, algbw->s, algbw->s + algbw->n) ||
        !number_read(&c.busbw, busbw->s, busbw->s + busbw->n))
        return import_refuse(r->in, "'%.*s' where a number should be", (int)time->n, time->s);
    if (c.time_us.negative)
        return import_refuse(r->in, "a negative time, %.*s us", (int)time->n, time->s);
    int code = collective_check(r->in, &c, t->factor, r->ranks);
    if (code)
        return code;
    r->bus = r->bus || c.busbw.value > 0;
    r->moved = r->moved || c.algbw.value >= 1;
    like->in_place = in_place;
    struct imp_cell *cell = import_cell(r->imp, r->in, t, like);
    if (!cell)
        return GS_FAILED;
    if (word_is(wrong, "N/A"))
        t->unverified = true;
    else if (!number_read(&errors, wrong->s, wrong->s + wrong->n))
        return import_refuse(r->in, "'%.*s' wrong values is no number", (int)wrong->n, wrong->s);
    else if (!r->table.errors && (!errors.finite || errors.digits))
        import_fault(cell, "wrong", "line %zu: %.*s wrong values", r->in->number, (int)wrong->n,
                     wrong->s);
    if (!number_scaled(&c.time_us, 3, &ns)) {
        import_fault(cell, "failed", "line %zu: its time is %.*s", r->in->number, (int)time->n,
                     time->s);
        return GS_OK;
    }
    return import_sample(r->imp, r->in, cell, ns);
}

static int take_row(struct nccl *r, const struct row *row)
{
    struct imp_cell like = {.size_B = row->size_B, .root = row->root, .iters = (uint64_t)r->iters};
    char type[IMP_WORD];
    int64_t bytes;
    if (!in_order(r, row))
        return import_refuse(r->in, "%lld bytes after %lld: " MIXED, (long long)row->size_B,
                             (long long)r->size_B);
    snprintf(like.dtype, sizeof like.dtype, "%s",
             collective_dtype(word_copy(type, sizeof type, &row->type), &bytes));
    word_copy(like.op, sizeof like.op, &row->op);
    if (nccl_test(r)->factor == IMP_ALLREDUCE && bytes &&
        (row->count > INT64_MAX / 8 || row->count * bytes != row->size_B))
        return import_refuse(r->in, "%lld elements of %s are not %lld bytes", (long long)row->count,
                             type, (long long)row->size_B);
    r->size_B = row->size_B;
    r->root = row->root;
    strcpy(r->type, type);
    strcpy(r->op, like.op);
    int code = row->side[0].there ? take_side(r, row, 0, &like) : GS_OK;
    if (!code && row->side[1].there)
        code = take_side(r, row, 1, &like);
    return code;
}

int nccl_row(struct nccl *r, const char *line)
{
    struct row row;
    if (!r->open || !r->tabled)
        return import_refuse(r->in, r->imp->n_tests
                                        ? "a row after the end of its test: " MIXED
                                        : "a row before any table: the start of the file is "
                                          "missing");
    enum row_kind kind = table_row(&r->table, line, &row);
    if (kind == ROW_WHOLE && r->in->torn) /* 15.5 may have been 15.53 */
        kind = ROW_SHORT;
    if (kind == ROW_SHORT && !r->short_row) {
        r->short_row = r->in->number;
        return GS_OK;
    }
    if (r->short_row)
        return nccl_end(r, line);
    if (kind == ROW_ODD)
        return import_refuse(r->in, "a row with other columns than its table: " MIXED
                                    ", or it was edited");
    return take_row(r, &row);
}
