/* SPDX-License-Identifier: Apache-2.0
 *
 * Text from outside (host names, messages of plugins, environment values) as a JSON string, members
 * of an object that may lack them, and other helpers for jansson.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* As AUTO_FREE (text.h), for a json_t *. */
#define AUTO_JSON __attribute__((cleanup(auto_json)))
void auto_json(json_t **json);

/* One line of the printable characters of s; NULL counts as "". Never returns NULL. */
json_t *json_text(const char *s);
/* The end of the JSON number at s; NULL: there is none, and *integer is unset. */
const char *json_number_end(const char *s, bool *integer);
json_t *json_finite(double v); /* null if it is not finite */

/* Prints it, and a line feed, with these flags of json_dumpf. */
void json_print(const json_t *json, size_t flags);

/* A member: "" or 0 if it is absent or of another type. */
const char *json_text_of(const json_t *object, const char *key);
int64_t json_integer_of(const json_t *object, const char *key);
