/* SPDX-License-Identifier: Apache-2.0
 *
 * Bandwidth needed for a compute utilisation, by the model, and as Douillard et al. 2025 (Streaming
 * DiLoCo, Table 4, 1e9 parameters, 0.1 s a step) published it on a grid of factors of 1.21. CSV.
 */
#include "wan/model.h"

#include <stdio.h>

static const double at[] = {0.50, 0.80, 0.90, 0.95, 0.99};

static const struct row {
    const char *name;
    struct wan_schedule schedule;
    double bits, published_gbit[5]; /* 0: not given */
} rows[] = {
    {"every step", {.every = 1, .fragments = 1}, 16, {86.8, 152.6, 184.2, 222.3, 0}},
    {"every 100 steps", {.every = 100, .fragments = 1}, 16, {1.4, 6.2, 13.3, 23.3, 86.8}},
    {"in 8 fragments", {.every = 100, .fragments = 8}, 16, {1.4, 5.2, 9.1, 16, 28.1}},
    {"and overlap", {.every = 100, .fragments = 8, .overlap = 1}, 16, {1.4, 4.3, 6.2, 9.1, 11}},
    {"and 4 bits", {.every = 100, .fragments = 8, .overlap = 1}, 4, {0.4, 0.9, 1.7, 2, 3}},
};

int main(void)
{
    const double step_s = 0.1, parameters = 1e9;
    printf("schedule,kind,utilisation,rate_bps\n");
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        double bytes = parameters * rows[r].bits / 8;
        for (int i = 30; i <= 99; i++)
            printf("%s,model,%.2f,%.6g\n", rows[r].name, i / 100.0,
                   8 * wan_rate_needed(&rows[r].schedule, i / 100.0, step_s, bytes));
        for (int i = 0; i < 5; i++)
            if (rows[r].published_gbit[i] > 0)
                printf("%s,published,%.2f,%.6g\n", rows[r].name, at[i],
                       1e9 * rows[r].published_gbit[i]);
    }
    return 0;
}
