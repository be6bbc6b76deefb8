/* SPDX-License-Identifier: Apache-2.0
 *
 * The rows of queries as CSV files. A file is complete or as it was.
 */
#pragma once

#include "store/store.h"

extern const char samples_columns[];

/* Writes the rows of a query as a table of these columns. GS_OK or reported. */
int store_export(struct store *s, const char *sql, const char *columns, const char *path);

/* Writes all tables of the recordings into the folder: samples.csv, a row for each sample of a block
 * that counts, and store_derived[], ordered by platform, workload, label and run, then by the plan.
 * The same recordings give the same bytes. All of them are written, or none. In classic/ it writes
 * two kinds of files that scripts of the field read, for each run:
 *   allreduce.txt                   tables as nccl-tests prints them, for collectives only; one for
 *                                   each config and each set of parameters other than the size
 *   iteration_times_CONFIG.txt      the times of the overlapped step in ms, one on a line, in the
 *                                   order measured; if several groups have steps,
 *                                   iteration_times_CONFIG.N.txt for group N of the plan
 * CONFIG has '-' in place of characters that suit no file name. GS_OK or reported. */
int store_export_all(struct store *s, const char *dir);
