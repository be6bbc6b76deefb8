/* SPDX-License-Identifier: Apache-2.0
 *
 * Says that its struct is larger than what it exports.
 */
#include "workload.h"

const struct wl_plugin wl_plugin_v1 = {.size = sizeof(struct wl_plugin) + 4096, .name = "bad_size"};
