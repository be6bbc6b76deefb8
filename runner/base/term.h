/* SPDX-License-Identifier: Apache-2.0
 *
 * Colour, where it is wanted: on a terminal that is not dumb, and without NO_COLOR (no-color.org).
 */
#ifndef GS_TERM_H
#define GS_TERM_H

#include <stdbool.h>
#include <stdio.h>

bool term_colours(FILE *f);
/* The sequences that begin colour i of eight (as the figures': told apart by the colour-blind), or
 * weight, and end it; "" where there is no colour. */
const char *term_colour(FILE *f, size_t i);
const char *term_bold(FILE *f);
const char *term_warn(FILE *f);
const char *term_end(FILE *f);

#endif
