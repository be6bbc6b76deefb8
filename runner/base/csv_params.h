/* SPDX-License-Identifier: Apache-2.0
 *
 * Parameters in tables. In memory they are one text, "size=8 gemms=4"; in a file each has a column,
 * param_size and param_gemms, behind all other columns. csv.h writes these columns, csv_read.h reads
 * them as the text again.
 */
#pragma once

#include "base/csv.h"

#define CSV_PARAMS "params" /* the column, in memory */
#define CSV_PARAM "param_"  /* the beginning of the name of each column in a file */
#define CSV_PARAM_ANY "NAME"

/* Replaces the column CSV_PARAMS of c's file, which is written out, by a column for each parameter
 * with a value; without any, by param_NAME, which is empty. GS_OK or a code, reported. */
int csv_spread_params(struct csv *c);
