/* SPDX-License-Identifier: Apache-2.0 */
#include "base/family.h"
#include "folder.h"
#include "unit.h"

TEST_IN_FOLDER(the_counter_is_found_by_its_name)
{
    struct folder *f = *state;
    folder_put(f, "vmstat", "nr_free_pages 7\noom_kill_other 5\noom_kill 3\npgfault 9\n");
    assert_int_equal(oom_kills(folder_path(f, "vmstat")), 3);
    folder_put(f, "vmstat", "nr_free_pages 7\noom_kill\n");
    assert_int_equal(oom_kills(folder_path(f, "vmstat")), -1);
    assert_int_equal(oom_kills(folder_path(f, "absent")), -1);
}
