/* SPDX-License-Identifier: Apache-2.0
 *
 * Labels of Prometheus' text format. Values come from recordings of other people: each is quoted here.
 */
#pragma once

#include "base/text.h"

/* Adds name="value", after a comma unless it is the first behind '{'. */
void prometheus_label(struct text *t, const char *name, const char *value);
