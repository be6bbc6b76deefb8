/* SPDX-License-Identifier: Apache-2.0
 *
 * Its parameters lie nowhere.
 */
#include "workload.h"

const struct wl_plugin wl_plugin_v1 = {.size = sizeof(struct wl_plugin),
                                       .name = "wild_tables",
                                       .version = "1",
                                       .summary = "parameters that lie nowhere",
                                       .params = (const struct wl_param *)8,
                                       .cell_size = 8};
