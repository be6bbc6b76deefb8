/* SPDX-License-Identifier: Apache-2.0
 *
 * A config that measures a step anew with auto and the advised settings alone. The platform, the
 * launcher and the measurement are those of the run that the advice rests on.
 */
#pragma once

#include "advise/evidence.h"
#include "base/text.h"
#include "config/config.h"
#include "record/recorded.h"

struct proof_plan {
    struct text config;     /* an .ini file: a workload section for each step */
    struct words overrides; /* "section:key=value" */
};

/* Plans the steps of `shape` in `run` in which one of the settings wins. GS_OK or reported; the
 * config is empty if there is no such step. `set` are the user's own overrides, which may replace the
 * commands of the recording: those do not run by themselves. */
int proof_plan(struct proof_plan *p, const struct steps_evidence *s, const struct advice_run *run,
               const struct words *settings, const char *const *set);
/* Adds the commands of the recording, "launch:prefix=env A=B", that `set` must have. GS_OK or
 * reported. */
int proof_commands(struct words *commands, const struct advice_run *run);
/* The config of the recording with its overrides. GS_OK or reported. */
int proof_settings(struct config **c, struct recorded **r, const struct advice_run *run);
void proof_plan_free(struct proof_plan *p);
