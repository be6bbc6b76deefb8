/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <math.h>

static struct {
    int line;
    struct CMUnitTest test;
} entered[128];
static size_t n;

void unit_enter(int line, struct CMUnitTest test)
{
    if (n == sizeof entered / sizeof *entered)
        __builtin_trap(); /* too many tests in one file */
    size_t i = n++;
    for (; i && entered[i - 1].line > line; i--)
        entered[i] = entered[i - 1];
    entered[i].line = line, entered[i].test = test;
}

void unit_near(const char *file, int line, double got, double want, double tolerance)
{
    if (fabs(got - want) <= tolerance)
        return;
    print_error("got %.17g, want %.17g within %g\n", got, want, tolerance);
    _fail(file, line);
}

/* A test with a main() of its own has that one. */
__attribute__((weak)) int main(void)
{
    struct CMUnitTest tests[sizeof entered / sizeof *entered];
    for (size_t i = 0; i < n; i++)
        tests[i] = entered[i].test;
    return _cmocka_run_group_tests("tests", tests, n, NULL, NULL);
}
