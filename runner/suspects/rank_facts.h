/* SPDX-License-Identifier: Apache-2.0
 *
 * What a rank runs on, from the header of a recording and the readings beside its blocks.
 */
#ifndef GS_RANK_FACTS_H
#define GS_RANK_FACTS_H

#include "suspects/suspects_data.h"

#include <jansson.h>

void rank_facts_read(struct rank_facts *ranks, size_t n, const json_t *hosts);
void rank_facts_health(struct rank_facts *ranks, size_t n, const json_t *health);
void rank_facts_free(struct rank_facts *r);

/* Do two ranks have the same host? */
bool rank_facts_same_host(const struct rank_facts *a, const struct rank_facts *b);
/* What kind of link joins them, so that only links of one kind are compared: "NVLink", "network". The
 * result is static or belongs to a. */
const char *rank_facts_link(const struct rank_facts *a, const struct rank_facts *b);

#endif
