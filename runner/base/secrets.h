/* SPDX-License-Identifier: Apache-2.0
 *
 * Recordings, plans, logs and printed commands are shared, so "(hidden)" replaces every secret in them.
 * One table says which names are those of secrets, and one function finds their values: NAME=VALUE,
 * NAME: VALUE (also in JSON), --NAME VALUE, a password in a URL, and values that look like a token.
 */
#pragma once

#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>

/* True: a value of this name is a secret, unless it is a reference ($NAME), a number that counts
 * (tokens=512), or a word such as "none". */
bool secrets_name(const char *name, size_t n);

/* Each returns a copy without secrets, which the caller frees. */

/* A command line or other text. */
char *secrets_hidden(const char *text);
/* The text of a config, or an override SECTION:KEY=VALUE. The keys of configs themselves are no secrets. */
char *secrets_hidden_config(const char *text);
/* A line that a job printed: also the values themselves, wherever they are, of secrets in the environment,
 * and of those that were hidden in commands and configs before. */
char *secrets_hidden_log(const char *line);
/* The words of a command, NULL at the end; one word is a command line for a shell. */
void secrets_hidden_words(struct words *shown, char *const *words);

/* True: a secret in this text was replaced by (hidden), so it is not what the user typed. */
bool secrets_are_hidden(const char *text);
