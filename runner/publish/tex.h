/* SPDX-License-Identifier: Apache-2.0
 *
 * The numbers as TeX reads them. \val{NAME} prints one, \rows{NAME} the body of a table; NAME is
 * part of the names of control sequences, gs@v@NAME and gs@rows@NAME, and gs@p@NAME is the plain
 * value, which conditionals look at.
 */
#ifndef GS_PAPER_TEX_H
#define GS_PAPER_TEX_H

#include "publish/numbers.h"

/* DIR/macros.tex, and DIR/trace.tsv: NAME, what is printed, TABLE:LINE,… and the runs behind it.
 * GS_OK or reported; nothing is written where a number is wanting. */
int tex_write(struct book *b, const char *dir);

#endif
