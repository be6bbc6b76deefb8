/* SPDX-License-Identifier: Apache-2.0 */
#include "base/oom_kills.h"
#include "folder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void the_counter_is_found_by_its_name(void **state)
{
    struct folder *f = *state;
    folder_put(f, "vmstat", "nr_free_pages 7\noom_kill_other 5\noom_kill 3\npgfault 9\n");
    assert_int_equal(oom_kills(folder_path(f, "vmstat")), 3);
    folder_put(f, "vmstat", "nr_free_pages 7\noom_kill\n");
    assert_int_equal(oom_kills(folder_path(f, "vmstat")), -1);
    assert_int_equal(oom_kills(folder_path(f, "absent")), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(
        the_counter_is_found_by_its_name, folder_set_up, folder_tear_down)};
    return cmocka_run_group_tests_name("oom_kills", tests, NULL, NULL);
}
