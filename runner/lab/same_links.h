/* SPDX-License-Identifier: Apache-2.0
 *
 * Does the config of a run describe the lab that this process runs in? Tables, figures and the model
 * take the links from that config, so another one would mislead.
 */
#pragma once

#include "plan/plan.h"

/* GS_OK, also outside of a lab, for a config without rates of links, and for wan_links, which finds out
 * what the links are. GS_USAGE: the first difference is reported. Rates and RTTs may differ by as
 * much as a lab itself may be off. */
int same_links_check(const struct plan *p);
