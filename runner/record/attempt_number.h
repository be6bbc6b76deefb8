/* SPDX-License-Identifier: Apache-2.0
 *
 * Reserves an attempt number that no other gradsync uses. Two processes may measure one launch at
 * the same time, for example after a batch system gave up a node that went on measuring. Each
 * attempt then has its own files, and readers use one of them.
 */
#pragma once

/* Takes *attempt or the next free number, by creating the attempt's log. GS_OK or GS_FAILED,
 * reported. */
int attempt_number_take(const char *dir, int launch, int *attempt);
