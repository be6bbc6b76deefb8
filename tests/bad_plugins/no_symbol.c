/* SPDX-License-Identifier: Apache-2.0 */
extern const char not_a_plugin[];
const char not_a_plugin[] = "wl_plugin_v1 is only spoken of";
