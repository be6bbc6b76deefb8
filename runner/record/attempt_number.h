/* SPDX-License-Identifier: Apache-2.0
 *
 * The number of an attempt, taken so that no other gradsync has the same: two may be at work on one
 * launch, on machines that know nothing of each other, when a batch system gave up a node that went
 * on measuring. Each attempt then has files of its own, and readers count one of them.
 */
#ifndef GS_ATTEMPT_NUMBER_H
#define GS_ATTEMPT_NUMBER_H

/* Makes the attempt's log, which is the claim, numbered *attempt or the next that is free. GS_OK or
 * GS_FAILED, reported. */
int attempt_number_take(const char *dir, int launch, int *attempt);

#endif
