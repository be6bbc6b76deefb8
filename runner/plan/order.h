/* SPDX-License-Identifier: Apache-2.0
 *
 * The order of measurement. Pure functions: the same seed gives the same order on every rank and
 * machine, and an attempt that resumes a launch continues in its order.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* order[0..n): the order of the groups in this launch. It differs between launches, so that warm-up
 * and drift affect another group each time. */
void order_groups(size_t *order, size_t n, uint64_t seed, int launch);

/* order[0..n): the preparation order of the slots of a group. It differs between launches. An effect
 * of the creation order of communicators is then noise between launches, which the interval covers,
 * and not a difference between configs. */
void order_prepared(size_t *order, size_t n, uint64_t seed, int launch, size_t group);

/* order[0..n): the visit order of one block (from 1) of a group. Odd blocks are random; each even
 * block mirrors the one before, so that a linear drift cancels over the pair (ABBA). */
void order_visits(size_t *order, size_t n, uint64_t seed, int launch, size_t group, int block);

/* The seed for the plugin: the same on every rank, another one in each launch. */
uint64_t order_launch_seed(uint64_t seed, int launch);
