/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads another program's output into tests, one for each start of that program, and their cells
 * with their times. A row whose numbers contradict each other refuses the file, with its line. A
 * torn row is left out, and the test says that it is truncated. Files are read into memory; those
 * above IMPORT_FILE_MAX are refused (import_text.h). The JSON of a file takes about eight times
 * its size in memory.
 */
#pragma once

#include "import/import_text.h"

#define IMPORT_TIMES "iteration" /* the format of a list of times */

/* GS_OK; or reported, and *out is NULL: the file cannot be read, has no known format, has no times
 * or contradicts itself. */
int import_read(struct import **out, const char *path, const struct import_known *known);
void import_free(struct import *imp);

/* "milliseconds": the unit of a list of times. */
const char *import_unit_name(const struct import *imp);
