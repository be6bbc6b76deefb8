/* SPDX-License-Identifier: Apache-2.0 */
#include "limits/bounds.h"

#include "base/text.h"
#include "config/settings.h"

#include <math.h>
#include <strings.h>

double bounds_of(const struct config *c, const char *key)
{
    return c ? settings_limit(c, key) : (double)NAN;
}

const char *bounds_source(const struct config *c, const char *key)
{
    return c ? config_source(c, "limits", key) : "";
}

double bounds_flops(const struct config *c, const char *precision, const char **from)
{
    AUTO_FREE char *key = xstrfmt("flops.%s", precision);
    double limit = bounds_of(c, key);
    *from = bounds_source(c, key);
    if (isnan(limit) && (!strcasecmp(precision, "fp32") || !strcasecmp(precision, "tf32"))) {
        limit = bounds_of(c, "flops");
        *from = bounds_source(c, "flops");
    }
    return limit;
}

double bounds_busbw(const struct config *c)
{
    double limit = bounds_of(c, "busbw");
    return isnan(limit) ? bounds_of(c, "link") : limit;
}

const char *bounds_device(const struct config *c)
{
    const struct config_entry *e = c ? config_find(c, "platform", "device") : NULL;
    return e ? e->value : "";
}
