/* SPDX-License-Identifier: Apache-2.0 */
#include "base/secret_name.h"

#include <stddef.h>
#include <string.h>

bool secret_name(const char *name)
{
    static const char *const words[] = {"KEY", "TOKEN", "SECRET", "PASS"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcasestr(name, words[i]))
            return true;
    return false;
}
