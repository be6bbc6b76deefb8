/* SPDX-License-Identifier: Apache-2.0
 *
 * cmocka with what it needs, the headers that most tests use, and tests that enter themselves:
 * TEST(name) { … } is all that a test is. They run in the order of the file, by the main() of unit.c.
 */
#pragma once

#include "base/err.h" /* before cmocka.h, which has a macro of the name fail */
#include "base/text.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* fail() is a function of base/err.h. */
#undef fail
#undef fail_msg
#define fail_msg(...)                                                                              \
    do {                                                                                           \
        print_error(__VA_ARGS__);                                                                  \
        print_error("\n");                                                                         \
        _fail(__FILE__, __LINE__);                                                                 \
    } while (0)

#define TEST(name) TEST_WITH(name, NULL, NULL)
#define TEST_WITH(name, set_up, tear_down)                                                         \
    static void name(void **state);                                                                \
    __attribute__((constructor)) static void enter_##name(void)                                    \
    {                                                                                              \
        unit_enter(__LINE__, (struct CMUnitTest){#name, name, set_up, tear_down, NULL});           \
    }                                                                                              \
    static void name(__attribute__((unused)) void **state)

void unit_enter(int line, struct CMUnitTest test);

#define near(got, want, tolerance) unit_near(__FILE__, __LINE__, got, want, tolerance)
void unit_near(const char *file, int line, double got, double want, double tolerance);
