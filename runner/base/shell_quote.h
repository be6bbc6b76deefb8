/* SPDX-License-Identifier: Apache-2.0
 *
 * Commands that a shell takes back as they were meant: a printed command can be pasted whatever is
 * in its paths, and a job script holds a config's values as they are.
 */
#ifndef GS_SHELL_QUOTE_H
#define GS_SHELL_QUOTE_H

#include "base/text.h"

/* Adds the text as one shell word, in quotes only if it needs them. */
void shell_quote(struct text *t, const char *s);
char *shell_quoted(const char *s); /* the caller's */

/* The same into buf, which is returned; SHELL_WORD is a value within one block. */
const char *shell_word(char *buf, size_t size, const char *s);
#define SHELL_WORD(s) shell_word((char[4096]){0}, 4096, s)

/* "gradsync VERB CONFIG --workload W --set O…" with the options that were given; `workload` and
 * `overrides` may be NULL. The caller's. */
char *shell_command(const char *verb, const char *config, const char *workload,
                    const char *const *overrides);

#endif
