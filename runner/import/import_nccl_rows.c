/* SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"
#include "import/import_collective.h"
#include "import/import_nccl.h"

#include <string.h>

/* Sizes grow. After the last size they may start again, with the same or another type. */
static bool in_order(const struct nccl *r, const struct row *row, const char *type, const char *op)
{
    if (r->size_B < 0 || row->size_B > r->size_B || strcmp(type, r->type) || strcmp(op, r->op) ||
        row->root != r->root)
        return true;
    int64_t next = r->step_factor > 1 ? r->size_B * r->step_factor : r->size_B + r->step_B;
    return row->size_B < r->size_B ? next + 16 * (r->step_factor + 1) > r->max_B
                                   : nccl_test(r)->n_cells <= 2; /* -b = -e, cycle after cycle */
}

/* Takes a row's numbers, out of place or in place. GS_OK or refused. */
static int take_side(struct nccl *r, const struct row *row, int in_place, struct imp_cell *like)
{
    struct collective_row c = {.size_B = row->size_B};
    const struct word *time = &row->side[in_place].time, *wrong = &row->side[in_place].wrong;
    struct imp_test *t = nccl_test(r);
    struct number errors;
    if (!row->side[in_place].there || word_is(time, "N/A")) /* the operation has no such variant */
        return GS_OK;
    if (!word_number(time, &c.time_us) || !word_number(&row->side[in_place].algbw, &c.algbw) ||
        !word_number(&row->side[in_place].busbw, &c.busbw))
        return import_refuse(r->in, "'%.*s' must be a number", (int)time->n, time->s);
    int code = collective_check(r->in, &c, t->factor, r->ranks);
    if (code)
        return code;
    r->bus = r->bus || c.busbw.value > 0;
    r->moved = r->moved || c.algbw.value >= 1;
    like->in_place = in_place;
    struct imp_cell *cell = import_cell(r->in, t, like);
    if (!cell)
        return GS_FAILED;
    if (word_is(wrong, "N/A"))
        t->unverified = true;
    else if (!word_number(wrong, &errors))
        return import_refuse(r->in, "'%.*s' must be a number of wrong values", (int)wrong->n,
                             wrong->s);
    else if (!r->table.errors && (!errors.finite || errors.digits))
        import_fault(cell, "wrong", "line %zu: %.*s wrong values", r->in->number, (int)wrong->n,
                     wrong->s);
    import_sample_us(r->imp, r->in, cell, &c.time_us, time);
    return GS_OK;
}

static int take_row(struct nccl *r, const struct row *row)
{
    struct imp_cell like = {.size_B = row->size_B, .root = row->root, .iters = (uint64_t)r->iters};
    char type[IMP_WORD], op[IMP_WORD];
    word_copy(type, sizeof type, &row->type);
    word_copy(op, sizeof op, &row->op);
    if (!in_order(r, row, type, op))
        return import_refuse(r->in, "%lld bytes after %lld: " MIXED, (long long)row->size_B,
                             (long long)r->size_B);
    int code = collective_set_type(r->in, nccl_test(r), type, op, row->count, &like);
    r->size_B = row->size_B;
    r->root = row->root;
    strcpy(r->type, type);
    strcpy(r->op, op);
    for (int in_place = 0; in_place < 2 && !code; in_place++)
        code = take_side(r, row, in_place, &like);
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
                                    ", or the file was edited");
    return take_row(r, &row);
}
