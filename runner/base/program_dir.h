/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Folder of the running program, without a trailing slash. */
const char *program_dir(void);
