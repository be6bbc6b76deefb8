/* SPDX-License-Identifier: Apache-2.0
 *
 * A plugin made by hand, for the tests of sweeps and plans: a collective with two choices and a
 * number to tune, and a mode that no tuning touches.
 */
#pragma once

#include "config/config.h"
#include "plugin/plugin.h"

struct toy_cell {
    uint64_t size;
    int64_t count;
    double share, wait;
    bool flag;
    int dtype, mode, algorithm, protocol;
    int64_t ctas;
    char note[WL_TEXT_MAX];
};

struct plugin *toy_plugin(void); /* plugin_unload() frees it */

/* What would be on disk as "toy.ini"; asserts that it loads. */
struct config *toy_config(const char *text);
