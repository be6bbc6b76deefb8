/* SPDX-License-Identifier: Apache-2.0
 *
 * A fresh folder with a blank in its name for a test that writes files, and the captured error
 * text.
 */
#pragma once

#include "unit.h"

#define TEST_IN_FOLDER(name) TEST_WITH(name, folder_set_up, folder_tear_down)

struct folder {
    char dir[64], error[1024];
};

/* cmocka fixtures: the state is a struct folder; what is in the folder goes with it. */
int folder_set_up(void **state);
int folder_tear_down(void **state);

/* DIR/name, in one of a few static buffers, used in turn. */
const char *folder_path(const struct folder *f, const char *name);
/* Writes the file anew, never through a hard link. */
void folder_put(const struct folder *f, const char *name, const char *text);
