/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes the numbers for TeX. \val{NAME} prints gs@v@NAME, and \rows{NAME} prints gs@rows@NAME, the
 * body of a table. Conditionals compare gs@p@NAME, the value as it is in the table.
 */
#pragma once

#include "publish/numbers.h"

/* Writes DIR/macros.tex, and DIR/trace.tsv with name, printed value, TABLE:LINE,… and runs. GS_OK or
 * reported; writes nothing when a number is missing. */
int tex_write(struct numbers *b, const char *dir);
