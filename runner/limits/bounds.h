/* SPDX-License-Identifier: Apache-2.0
 *
 * The limits in [limits] of a platform's config. SI units; NaN: no such limit, or the config is
 * NULL.
 */
#pragma once

#include "config/config.h"

double bounds_of(const struct config *c, const char *key);
/* The source of the limit. */
const char *bounds_source(const struct config *c, const char *key);

/* The limit busbw, else link. */
double bounds_busbw(const struct config *c);
/* The limit flops.PRECISION, else flops (for fp32 and tf32 only). *from: its source. */
double bounds_flops(const struct config *c, const char *precision, const char **from);
/* The GPU of the platform; "": unknown. */
const char *bounds_device(const struct config *c);
