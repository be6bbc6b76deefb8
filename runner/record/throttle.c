/* SPDX-License-Identifier: Apache-2.0 */
#include "record/throttle.h"

#include <string.h>

bool throttle_follows_load(const char *reason)
{
    static const char *const reasons[] = {"power_cap", "hw_slowdown", "sw_thermal", "hw_thermal",
                                          "power_brake"};
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        if (!strcmp(reasons[i], reason))
            return true;
    return false;
}

static bool is_throttled(const json_t *reasons)
{
    bool any = false;
    for (size_t i = 0; i < json_array_size(reasons); i++) {
        const char *reason = json_string_value(json_array_get(reasons, i));
        any = any || (reason && throttle_follows_load(reason));
    }
    return any;
}

void throttle_count(const json_t *health, size_t *readings, size_t *throttled)
{
    static const char *const times[] = {"before", "after"};
    const char *rank;
    json_t *reading;
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        json_object_foreach(json_object_get(health, times[i]), rank, reading)
        {
            const json_t *reasons = json_object_get(json_object_get(reading, "gpu"), "throttle");
            *readings += json_is_array(reasons);
            *throttled += is_throttled(reasons);
        }
}
