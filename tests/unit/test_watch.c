/* SPDX-License-Identifier: Apache-2.0
 *
 * watch.table: each row reads its example.
 */
#include "unit.h"
#include "wan/watch.h"

TEST(each_row_reads_its_example)
{
    assert_int_equal(watch_lines_try(NULL), 0);
}
