/* SPDX-License-Identifier: Apache-2.0
 *
 * The collectives of a run in the tables and words of nccl-tests.
 */
#pragma once

#include "reduce/gather.h"
#include "reduce/summary.h"

/* The collectives of a run as nccl-tests prints them: a table for each config and each set of
 * parameters other than the size, with median times. Out of place and in place stand beside each
 * other; N/A where one was not measured.
 */

/* The text, from the summaries of all cells; the caller frees it. NULL: no collective. */
char *nccl_table_text(const struct recorded *r, const struct summary *cells);
