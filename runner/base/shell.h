/* SPDX-License-Identifier: Apache-2.0
 *
 * Commands as people type them: words quoted for a shell.
 */
#pragma once

#include "base/text.h"

#include <stddef.h>

/* Quotes words for a shell, so that users can paste printed commands and job scripts keep the values
 * of a config unchanged. */

/* Adds the text as one shell word, quoted only if necessary. */
void shell_quote(struct text *t, const char *s);

/* The same in buf, which it returns; SHELL_WORD is valid until the end of the block. */
const char *shell_word(char *buf, size_t size, const char *s);
#define SHELL_WORD(s) shell_word((char[4096]){0}, 4096, s)
