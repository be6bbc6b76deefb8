/* SPDX-License-Identifier: Apache-2.0 */
#include "trial/trial_arms.h"

#include "base/err.h"
#include "nccl_tuner/choice.h"
#include "nccl_tuner/trial_config.h"

#include <string.h>

/* The arm that sets the same as this one, in other words perhaps; NULL: none does. */
static const char *same_arm(const struct words *arms, const struct choice *c)
{
    for (size_t i = 0; i < arms->n; i++) {
        struct choice other;
        if (choice_parse(&other, arms->v[i]) && !memcmp(&other, c, sizeof other))
            return arms->v[i];
    }
    return NULL;
}

static int read_arm(struct words *arms, const char *text)
{
    struct choice c;
    if (!choice_parse(&c, text))
        return fail(
            GS_USAGE,
            "trial: --arms: '%s': must be auto, ctas=1 to 64, an algorithm (ring, tree, "
            "nvls, nvls-tree, collnet-direct, collnet-chain, pat), a protocol (LL, "
            "LL128, Simple), or several joined by '/'; or none, one or half, for the price of "
            "communication",
            text);
    const char *same = same_arm(arms, &c);
    if (same && same != arms->v[0])
        return fail(GS_USAGE, "trial: --arms: '%s': sets the same as '%s'; remove one of them",
                    text, same);
    if (!same)
        words_add(arms, text);
    return GS_OK;
}

bool trial_arms_price(const struct words *arms)
{
    struct choice c;
    return arms->n > 1 && choice_parse(&c, arms->v[1]) && c.part != PART_ALL;
}

/* They are applied by another object than the settings of NCCL. */
static int refuse_mixed(const struct words *arms)
{
    for (size_t i = 1; i < arms->n; i++) {
        struct choice c;
        if (choice_parse(&c, arms->v[i]) && (c.part != PART_ALL) != trial_arms_price(arms))
            return fail(
                GS_USAGE,
                "trial: --arms: '%s' and '%s' cannot be in one trial: none, one and half leave "
                "communication out, the others are settings of NCCL",
                arms->v[1], arms->v[i]);
    }
    return GS_OK;
}

int trial_arms_read(struct words *arms, const char *list)
{
    AUTO_WORDS struct words all = {0};
    int code = GS_OK;
    words_split(&all, list, ',');
    words_add(arms, "auto");
    for (size_t i = 0; i < all.n && !code; i++)
        code = read_arm(arms, all.v[i]);
    if (!code && (arms->n < 2 || arms->n > TRIAL_ARMS))
        code = fail(GS_USAGE, "trial: --arms names %zu beside auto: must be 1 to %d", arms->n - 1,
                    TRIAL_ARMS - 1);
    return code ? code : refuse_mixed(arms);
}
