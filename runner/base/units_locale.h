/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GS_UNITS_LOCALE_H
#define GS_UNITS_LOCALE_H

#include <locale.h>

/* The program never calls setlocale, but a library in a plugin may: numbers stay C's. freelocale.
 */
static inline locale_t units_locale(void)
{
    return newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

#endif
