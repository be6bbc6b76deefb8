/* SPDX-License-Identifier: Apache-2.0
 *
 * Step times from a file that the command writes: only from what it adds.
 */
#pragma once

#include "train/train_times.h"

#include <sys/types.h>

struct train_file {
    const char *path;
    ino_t inode;
    off_t size;
};

/* Before the command: what the file holds already. */
void train_file_note(struct train_file *f, const char *path);
/* After it: reads the lines that are new, or the whole file if it was replaced or cut. False and
 * errno: it cannot be read. */
bool train_file_read(const struct train_file *f, struct train_times *times);
