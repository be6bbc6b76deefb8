/* SPDX-License-Identifier: Apache-2.0
 *
 * Text from outside (host names, messages of plugins, environment values) as a JSON string.
 */
#ifndef GS_JSONTEXT_H
#define GS_JSONTEXT_H

#include <jansson.h>

/* Never returns NULL. Bytes that are not UTF-8 become '?', control characters become blanks: the
 * text stays on one line. NULL counts as "". */
json_t *json_text(const char *s);

#endif
