/* SPDX-License-Identifier: Apache-2.0 */
#include "captured.h"

#include "base/err.h"

#include <stddef.h>

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
