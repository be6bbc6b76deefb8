/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

extern const char looks_like_a_plugin[];
const char looks_like_a_plugin[] = "wl_plugin_v";
__attribute__((constructor)) static void crash(void)
{
    abort();
}
