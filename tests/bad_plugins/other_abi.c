/* SPDX-License-Identifier: Apache-2.0 */
extern const int wl_plugin_v2;
const int wl_plugin_v2 = 2;
