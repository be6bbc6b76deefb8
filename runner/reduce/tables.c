/* SPDX-License-Identifier: Apache-2.0 */
#include "reduce/tables.h"

#include "base/csv_params.h"
#include "base/err.h"
#include "reduce/iteration.h"
#include "reduce/measured.h"
#include "reduce/summary.h"

const char *const table_names[TABLES] = {
    [SAMPLES] = "samples.csv", [SUMMARY] = "summary.csv",   [ITERATION] = "iteration.csv",
    [METRICS] = "metrics.csv", [LAUNCHES] = "launches.csv", [WAN] = "wan.csv",
};

const char samples_columns[] =
    "run_id,launch,block,cell_id,platform,workload,config,mode,copy,ranks,nodes,size_B,sample,"
    "time_s";

const char *const table_columns[TABLES] = {
    [SAMPLES] = samples_columns, [SUMMARY] = summary_columns,   [ITERATION] = iteration_columns,
    [METRICS] = metrics_columns, [LAUNCHES] = launches_columns, [WAN] = wan_columns,
};

int tables_open(struct tables *t, const char *dir)
{
    int code = GS_OK;
    *t = (struct tables){0};
    for (int i = 0; i < TABLES && !code; i++) {
        AUTO_FREE char *path = xstrfmt("%s/%s", dir, table_names[i]);
        code = csv_open(&t->csv[i], path);
        if (!code)
            csv_params_header(&t->csv[i], table_columns[i]);
    }
    if (code)
        tables_close(t, false);
    return code;
}

int tables_close(struct tables *t, bool keep)
{
    int code = GS_OK;
    for (int i = 0; i < TABLES && keep && !code; i++) /* all are whole before one is renamed */
        code = csv_finish(&t->csv[i]);
    for (int i = 0; i < TABLES; i++) {
        int one = csv_close(&t->csv[i], keep && !code);
        code = code ? code : one;
    }
    return code;
}
