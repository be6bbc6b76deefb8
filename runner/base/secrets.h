/* SPDX-License-Identifier: Apache-2.0
 *
 * Recordings, plans and printed commands are shared, so "(hidden)" replaces every secret in them. A
 * secret is recognised by its name: VALUE in NAME=VALUE, --name VALUE or NAME: VALUE, if the name
 * contains KEY, TOKEN, SECRET, PASS, CREDENTIAL or AUTH. Names that end in FILE, PATH or DIR, and
 * values that begin with '$', are no secrets. A password in a URL is one.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

bool secrets_name(const char *name, size_t n);

/* A copy without secrets; the caller frees it. `text` is a command line, the text of a config, or an
 * override SECTION:KEY=VALUE; the keys of configs themselves are no secrets. */
char *secrets_hidden(const char *text);

/* Replaces each "(hidden)" by the environment variable with the secret's name (--api-key: API_KEY;
 * X-Auth: X_AUTH; a URL: GRADSYNC_URL_PASSWORD). *missing is the first variable that is not set, or
 * NULL. The caller frees both. */
char *secrets_restored(const char *text, char **missing);
