/* SPDX-License-Identifier: Apache-2.0 */
#include "common/step_file.h"

#include <string.h>

/* ---- dtypes ---- */

static const struct {
    const char *name;
    unsigned size_B;
} dtypes[] = {
    [STEP_FP32] = {"fp32", 4},
    [STEP_TF32] = {"tf32", 4},
    [STEP_BF16] = {"bf16", 2},
    [STEP_FP16] = {"fp16", 2},
};
enum { DTYPES = sizeof dtypes / sizeof *dtypes };

unsigned step_dtype_B(enum step_dtype dtype)
{
    return dtypes[dtype].size_B;
}

int step_dtype_of(const char *name)
{
    for (int i = 0; i < DTYPES; i++)
        if (!strcmp(dtypes[i].name, name))
            return i;
    return -1;
}

/* ---- lines ---- */

static void write_number(FILE *out, const char *before, struct step_number n)
{
    fprintf(out, "%s%llu%s", before, (unsigned long long)n.value, n.per_batch ? "*" : "");
}

void step_write_version(FILE *out)
{
    fprintf(out, "gradsync-step %d\n", STEP_VERSION);
}

void step_write_line(FILE *out, const struct step_line *l)
{
    fputs(step_kind_name(l->kind), out);
    if (l->kind == STEP_GEMM) {
        fprintf(out, " %c%c", l->transpose_a ? 't' : 'n', l->transpose_b ? 't' : 'n');
        for (int i = 0; i < 3; i++)
            write_number(out, " ", l->number[i]);
        fprintf(out, " %s", dtypes[l->dtype].name);
        if (l->number[STEP_COUNT].value != 1 || l->number[STEP_COUNT].per_batch)
            write_number(out, " x", l->number[STEP_COUNT]);
    } else if (l->kind == STEP_KERNEL) {
        write_number(out, " ", l->number[0]);
        fprintf(out, " %.9gus", l->time_s * 1e6);
    } else if (l->kind == STEP_WAIT) {
        if (l->number[0].value)
            write_number(out, " ", l->number[0]);
    } else {
        write_number(out, " ", l->number[0]);
        fprintf(out, " %s", dtypes[l->dtype].name);
        if (l->group[0])
            fprintf(out, " %s", l->group);
    }
    fputc('\n', out);
}
