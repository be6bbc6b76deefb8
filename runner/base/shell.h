/* SPDX-License-Identifier: Apache-2.0
 *
 * Commands as people type them: words quoted for a shell.
 */
#pragma once

#include "base/text.h"

/* Quotes words for a shell, so that users can paste printed commands and job scripts keep the values
 * of a config unchanged. */

/* Adds the text as one shell word, quoted only if necessary. */
void shell_quote(struct text *t, const char *s);

/* The same as a string that lives as long as the process. */
const char *shell_word(const char *s);
#define SHELL_WORD(s) shell_word(s)

/* Adds it as a string of Python. */
void python_quote(struct text *t, const char *s);
