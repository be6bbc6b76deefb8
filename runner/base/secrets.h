/* SPDX-License-Identifier: Apache-2.0
 *
 * Recordings, plans and printed commands are shared, so they hold no secrets. A value is one by the
 * name in front of it: NAME=VALUE, --name VALUE or NAME: VALUE with KEY, TOKEN, SECRET, PASS, CREDENTIAL or AUTH in
 * the name, but not a name that ends in FILE, PATH or DIR, nor a VALUE that begins with '$'. So is a
 * password in a URL. "(hidden)" takes its place.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

bool secrets_name(const char *name, size_t n);

/* A copy without secrets; the caller frees it. `text` is a command line, the text of a config, or an
 * override SECTION:KEY=VALUE; the keys of configs themselves are no secrets. */
char *secrets_hidden(const char *text);

/* Puts back what was hidden, from the variables of the environment that are called like the names
 * (--api-key: API_KEY; X-Auth: X_AUTH; a URL: GRADSYNC_URL_PASSWORD). *missing is the first variable that is not set,
 * or NULL; the caller frees both. */
char *secrets_restored(const char *text, char **missing);
