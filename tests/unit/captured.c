/* SPDX-License-Identifier: Apache-2.0 */
#include "captured.h"

#include "base/err.h"

#include <stddef.h>
#include <string.h>

char captured[4096];

int captured_begin(void **state)
{
    (void)state;
    err_capture(captured, sizeof captured);
    return 0;
}

int captured_end(void **state)
{
    (void)state;
    err_capture(NULL, 0);
    return 0;
}

void captured_begins(const char *text)
{
    if (strncmp(captured, text, strlen(text)) != 0)
        fail_msg("said '%s', not '%s…'", captured, text);
}

void captured_says(const char *text)
{
    if (!strstr(captured, text))
        fail_msg("said '%s', not '%s'", captured, text);
}
