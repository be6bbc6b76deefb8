/* SPDX-License-Identifier: Apache-2.0
 *
 * Parameters in tables. In memory they are one text, "size=8 gemms=4", in the column CSV_PARAMS. In a
 * file each has a column, param_size and param_gemms, after all other columns. csv_read.h reads them
 * as the text again.
 */
#pragma once

#include "base/csv.h"
#include "base/csv_read.h"

/* Like csv_header, for a table that may have the column CSV_PARAMS. csv_finish replaces it by a column
 * for each parameter with a value; without any, by param_NAME, which is empty. */
void csv_params_header(struct csv *c, const char *columns);
