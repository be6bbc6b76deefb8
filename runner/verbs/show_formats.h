/* SPDX-License-Identifier: Apache-2.0
 *
 * A run as text for other programs (docs/formats.md).
 */
#pragma once

/* Writes the run as `format`, json, nccl-tests, nccl-tests-json or prometheus, to the file `out`, or to
 * stdout if it is NULL. GS_OK or reported. */
int show_format(const char *dir, const char *format, const char *out);
