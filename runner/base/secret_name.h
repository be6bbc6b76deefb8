/* SPDX-License-Identifier: Apache-2.0
 *
 * Which environment variables may hold a secret.
 */
#ifndef GS_SECRET_NAME_H
#define GS_SECRET_NAME_H

#include <stdbool.h>

/* True for a name with KEY, TOKEN, SECRET or PASS in it. */
bool secret_name(const char *name);

#endif
