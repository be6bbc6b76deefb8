/* SPDX-License-Identifier: Apache-2.0
 *
 * What [limits] of a platform's config says is possible. SI units; NaN where it gives none. The
 * config may be NULL: then nothing is known.
 */
#ifndef GS_VERDICT_BOUNDS_H
#define GS_VERDICT_BOUNDS_H

#include "config/config.h"

double bounds_of(const struct config *c, const char *key);
/* Where the limit is from. */
const char *bounds_source(const struct config *c, const char *key);

/* busbw, else link. */
double bounds_busbw(const struct config *c);
/* flops.PRECISION; without it flops, for fp32 and tf32. *from: the source. */
double bounds_flops(const struct config *c, const char *precision, const char **from);

#endif
