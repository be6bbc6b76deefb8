/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

__attribute__((constructor)) static void crash(void)
{
    abort();
}
