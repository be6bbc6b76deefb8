/* SPDX-License-Identifier: Apache-2.0
 *
 * Text from outside (host names, plugins' words, environment values) as a JSON string.
 */
#ifndef GS_JSONTEXT_H
#define GS_JSONTEXT_H

#include <jansson.h>

/* Never NULL: bytes that are not UTF-8 become '?', control characters become blanks, so that the
 * text stays on one line and no longer than twice its bytes. NULL is taken as "". */
json_t *json_text(const char *s);

#endif
