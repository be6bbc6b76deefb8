/* SPDX-License-Identifier: Apache-2.0 */
#include "reduce/level.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

const char *const level_names[LEVELS] = {
    [LEVEL_ALONE] = "alone", [LEVEL_SYNTHETIC] = "synthetic", [LEVEL_STEP] = "step",
    [LEVEL_TRIAL] = "trial", [LEVEL_TRAINING] = "training",
};

/* Is there a word "step=VALUE" with a value? */
static bool replays_step(const char *params)
{
    for (const char *p = params; (p = strstr(p, "step=")); p++)
        if ((p == params || p[-1] == ' ') && p[5] && !isspace((unsigned char)p[5]))
            return true;
    return false;
}

enum level level_of(const char *workload, const char *mode, const char *params)
{
    if (!strcmp(workload, "train"))
        return LEVEL_TRAINING;
    if (!strcmp(workload, "trial"))
        return LEVEL_TRIAL;
    bool step = !strcmp(mode, "sequential") || !strcmp(mode, "overlapped");
    if (strcmp(workload, "iter_proxy") != 0 || !step)
        return LEVEL_ALONE;
    return replays_step(params) ? LEVEL_STEP : LEVEL_SYNTHETIC;
}
