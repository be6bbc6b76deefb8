/* SPDX-License-Identifier: Apache-2.0
 *
 * What several runs compared, in the terminal: for each two runs how often they agree, in what
 * their origins are unlike, and every contrast that is different or contrary; and each run that
 * could be held against none.
 */
#ifndef GS_REPEATABILITY_TABLE_H
#define GS_REPEATABILITY_TABLE_H

#include "compare/repeatability.h"

void repeats_print(const struct repeats *r); /* to stdout */

#endif
