/* SPDX-License-Identifier: Apache-2.0
 *
 * Makes the compiler vectorise the loops of a function, whatever -O says.
 */
#pragma once

#if defined(__GNUC__) && !defined(__clang__) /* clang does at -O2 */
#define VECTORISE __attribute__((optimize("O3")))
#else
#define VECTORISE
#endif

/* On x86-64, compile it again for wider registers. clang needs the attribute on every
 * declaration. */
#if defined(__x86_64__) && !defined(__clang__)
#define VECTORISE_WIDE VECTORISE __attribute__((target_clones("arch=haswell", "default")))
#else
#define VECTORISE_WIDE VECTORISE
#endif
