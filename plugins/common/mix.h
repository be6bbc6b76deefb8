/* SPDX-License-Identifier: Apache-2.0
 *
 * Hashes a number to 64 bits, the same on every machine: the finaliser of splitmix64 (Steele, Lea
 * and Flood 2014; public domain).
 */
#pragma once

#include <stdint.h>

static inline uint64_t mix(uint64_t x)
{
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}
