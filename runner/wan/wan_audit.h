/* SPDX-License-Identifier: Apache-2.0
 *
 * Compares claims about a training with what is possible. A claim is [model] claim.NAME = VALUE or
 * LOW..HIGH; claim.NAME.source, or source for all, names its publication. Finds claims that are
 * physically impossible, and claims that the model of this config does not reach. Each finding
 * gives the arithmetic.
 */
#pragma once

#include "wan/wan_audit_rules.h"

/* Returns one finding per claim, in the order of the config, *n of them. The caller frees them with
 * wan_findings_free. NULL, reported: a claim has a fault. */
struct wan_finding *wan_audit(const struct config *c, const struct wan_map *m,
                              const struct wan_training *t, size_t *n);
void wan_findings_free(struct wan_finding *f, size_t n);

/* Checks [sites], [links] and [model] for `gradsync check`. Reports faults (GS_USAGE) and warns of
 * impossible claims. Without these sections it does nothing. */
int wan_config_check(const struct config *c);
