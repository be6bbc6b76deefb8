/* SPDX-License-Identifier: Apache-2.0
 *
 * Where curves of time against size change. A curve has one platform, workload, label, config, mode
 * and one set of parameters but size; its replicates are launches. In place and out of place are two
 * curves. Only sizes that all launches have count; a launch that lacks sizes which most others have is
 * left out.
 *
 *  - switch: the recording says that another algorithm or protocol ran at the next size.
 *  - spike: a size lies above the line between its neighbours, by 8% and by four times the median
 *    distance of a size from such a line, and the next size is faster.
 *  - dip: the bandwidth falls by 5% (and one and a half times that distance) below that of a smaller size; or by
 *    3%, if a neighbouring size shows at least half the depth. A larger size regains half of it, at
 *    most 32 times that smaller one.
 *  - fall: the same, and none of these sizes regains half of it.
 *
 * Spikes and dips are those of the median of the launches. They are confirmed if at least two launches,
 * and more than half of them, show them by themselves; those of a single launch are unconfirmed; the
 * others are left out, and so are curves of fewer than six sizes, and curves of which more than a
 * quarter of the steps to the next size is faster by a tenth.
 */
#pragma once

#include "store/store.h"

/* Fills the table `transitions`, which is empty, from the table `launches`. GS_OK or reported. */
int transitions_make(struct store *s);
