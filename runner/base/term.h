/* SPDX-License-Identifier: Apache-2.0
 *
 * Colours for terminals. None on a dumb terminal or with NO_COLOR set (no-color.org).
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

/* Escape sequences: start bold or warning text, end either. "" if colours are off. */
const char *term_bold(FILE *f);
const char *term_warn(FILE *f);
const char *term_end(FILE *f);
