/* SPDX-License-Identifier: Apache-2.0
 *
 * Any bytes as a command, a config or a line of a log whose secrets are hidden.
 */
#include "base/secrets.h"
#include "bundle.h"

static void words(char *text)
{
    AUTO_WORDS struct words given = {0}, shown = {0};
    for (char *rest = text, *word; (word = strsep(&rest, "\n"));)
        words_add(&given, word);
    secrets_hidden_words(&shown, given.v);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    AUTO_FREE char *text = xstrfmt("%.*s", (int)n, data ? (const char *)data : "");
    setenv("A_KEY", "value 1", 1);
    free(secrets_hidden(text));
    free(secrets_hidden_config(text));
    free(secrets_hidden_log(text));
    words(text);
    return 0;
}
