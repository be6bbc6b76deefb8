/* SPDX-License-Identifier: Apache-2.0
 *
 * A fresh folder with a blank in its name for a test that writes files, and the captured error
 * text.
 */
#pragma once

#include "unit.h"

#define TEST_IN_FOLDER(name) TEST_WITH(name, folder_set_up, folder_tear_down)

/* Of the test that runs. What is in the folder goes with it. */
extern struct folder {
    char dir[64], error[1024];
} folder;

int folder_set_up(void **state);
int folder_tear_down(void **state);

/* DIR/name, in one of a few static buffers, used in turn. */
const char *folder_path(const char *name);
/* Writes the file anew, never through a hard link. */
void folder_put(const char *name, const char *text);
/* The captured error has this text. */
void folder_says(const char *text);
