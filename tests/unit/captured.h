/* SPDX-License-Identifier: Apache-2.0
 *
 * Fixtures of a test that looks at what it made fail: the errors go to `captured`, not to stderr.
 */
#pragma once

#include "unit.h"

#define TEST_CAPTURED(name) TEST_WITH(name, captured_begin, captured_end)

extern char captured[4096];

int captured_begin(void **state);
int captured_end(void **state);

/* It begins with this text; it has it somewhere. */
void captured_begins(const char *text);
void captured_says(const char *text);
