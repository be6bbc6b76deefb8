/* SPDX-License-Identifier: Apache-2.0
 *
 * The lines of a multi-node all-reduce, with the published numbers of 2 x 8 H100.
 */
#include "reduce/nccl_table.h"
#include "unit.h"

#include <stdlib.h>

TEST(the_known_lines)
{
    struct multinode m = {
        .size_B = 4e9, .algbw = 239.742e9, .busbw = 449.515e9, .trials = 50, .ranks = 16};
    char *text = multinode_text(&m);
    assert_string_equal(text, "The median bandwidth of all_reduce with a 4.0GB payload (50 trials, "
                              "16 ranks):\n algbw: 239.742 GBps (1917.9 Gbps)\n"
                              " busbw: 449.515 GBps (3596.1 Gbps)\n");
    free(text);
}

TEST(the_largest_payload_on_several_nodes)
{
    struct rec_cell cells[] = {{.size_B = 8, .params = ""},
                               {.size_B = 1e9, .params = ""},
                               {.size_B = 1e9, .params = ""},
                               {.size_B = 2e9, .params = "collective=allgather"}};
    struct recorded r = {.cells = cells, .n_cells = 4, .nodes = 1, .ranks = 4};
    struct multinode m = {0};
    struct summary numbers = {.algbw = 1e9, .busbw = 1.5e9}, none = {.algbw = 0, .busbw = 0};
    struct series small = {.n_samples = 5}, other = {.cell = 3, .n_samples = 3},
                  s = {.cell = 1, .n_samples = 7};
    multinode_see(&m, &r, &s, &numbers);
    assert_null(multinode_text(&m)); /* one node */
    r.nodes = 2;
    multinode_see(&m, &r, &s, &none);
    assert_null(multinode_text(&m)); /* no collective */
    multinode_see(&m, &r, &other, &numbers);
    assert_null(multinode_text(&m)); /* no all-reduce */
    multinode_see(&m, &r, &small, &numbers);
    assert_null(multinode_text(&m)); /* 8 B are 0.0GB in this text */
    multinode_see(&m, &r, &s, &numbers);
    assert_int_equal(m.trials, 7);
    s = (struct series){.cell = 2, .n_samples = 9};
    multinode_see(&m, &r, &s, &numbers);
    s.cell = 0;
    multinode_see(&m, &r, &s, &numbers);
    assert_int_equal(m.trials, 7); /* the first of the largest */
}
