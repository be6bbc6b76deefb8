/* SPDX-License-Identifier: Apache-2.0
 *
 * Commands as people read and type them: quoted for a shell, and without secrets.
 */
#pragma once

#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>

/* ---- secrets ---- */

/* Recordings, plans and printed commands are shared, so "(hidden)" replaces every secret in them. A
 * secret is recognised by its name: VALUE in NAME=VALUE, --name VALUE or NAME: VALUE, if the name
 * contains KEY, TOKEN, SECRET, PASS, CREDENTIAL or AUTH. Names that end in FILE, PATH or DIR, and
 * values that begin with '$', are no secrets. A password in a URL is one. */

bool secrets_name(const char *name, size_t n);

/* A copy without secrets; the caller frees it. `text` is a command line, the text of a config, or an
 * override SECTION:KEY=VALUE; the keys of configs themselves are no secrets. */
char *secrets_hidden(const char *text);

/* Replaces each "(hidden)" by the environment variable with the secret's name (--api-key: API_KEY;
 * X-Auth: X_AUTH; a URL: GRADSYNC_URL_PASSWORD). *missing is the first variable that is not set, or
 * NULL. The caller frees both. */
char *secrets_restored(const char *text, char **missing);

/* ---- quoting ---- */

/* Quotes words for a shell, so that users can paste printed commands and job scripts keep the values
 * of a config unchanged. */

/* Adds the text as one shell word, quoted only if necessary. */
void shell_quote(struct text *t, const char *s);

/* The same in buf, which it returns; SHELL_WORD is valid until the end of the block. */
const char *shell_word(char *buf, size_t size, const char *s);
#define SHELL_WORD(s) shell_word((char[4096]){0}, 4096, s)
