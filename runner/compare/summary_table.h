/* SPDX-License-Identifier: Apache-2.0
 *
 * Prints the answer of a comparison: for each question (a run and a mode) a sentence, and below it
 * one line for each group, the largest differences first. Modes are different
 * questions and are never counted together.
 */
#pragma once

#include "compare/summary_rows.h"

void summary_print(const struct summary_request *q);
