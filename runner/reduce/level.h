/* SPDX-License-Identifier: Apache-2.0
 *
 * The level of evidence: how much a measured time says about a user's training. A higher level says
 * more and overrides a lower one.
 *
 *   alone      the collective by itself, or compute by itself
 *   synthetic  a step of equal GEMMs and equal buckets (iter_proxy)
 *   step       a recorded training step, replayed (iter_proxy with the parameter `step`)
 *   trial      the user's training job, settings switched between blocks of its steps
 *   training   the user's training command, launched anew for each setting
 */
#pragma once

enum level { LEVEL_ALONE, LEVEL_SYNTHETIC, LEVEL_STEP, LEVEL_TRIAL, LEVEL_TRAINING, LEVELS };
extern const char *const level_names[LEVELS];

/* params: "key=value key=value" of the cell. */
enum level level_of(const char *workload, const char *mode, const char *params);
