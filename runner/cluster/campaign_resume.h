/* SPDX-License-Identifier: Apache-2.0
 *
 * Continues a campaign: releases held jobs and submits tasks that no job will measure.
 */
#pragma once

#include <stdbool.h>

/* GS_OK or reported. */
int campaign_resume(const char *dir, bool commands);

/* Measures the launches of one task; called by its job. `task` counts from 1. GS_OK or reported. */
int campaign_resume_task(const char *dir, long task);
