/* SPDX-License-Identifier: Apache-2.0
 *
 * Claims about a training, [model] claim.NAME = VALUE or LOW..HIGH, held against what is possible;
 * claim.NAME.source, or source for all, is where it was published.
 * What is physically out of reach and what the model of this config does not reach are both found;
 * the sentence gives the arithmetic.
 */
#ifndef GS_WAN_AUDIT_H
#define GS_WAN_AUDIT_H

#include "wan/wan_audit_rules.h"

/* The findings of a config's claims in its order, *n of them; wan_findings_free. NULL and reported:
 * a claim that is none. */
struct wan_finding *wan_audit(const struct config *c, const struct wan_map *m,
                              const struct wan_training *t, size_t *n);
void wan_findings_free(struct wan_finding *f, size_t n);

/* [sites], [links] and [model] of a config as `gradsync check` sees them: faults are reported and
 * make GS_USAGE, impossible claims are warned of. Without these sections: nothing. */
int wan_config_check(const struct config *c);

#endif
