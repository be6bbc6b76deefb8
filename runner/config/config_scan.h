/* SPDX-License-Identifier: Apache-2.0
 *
 * The lines of an .ini text: which section, key and value stands on which. iniparser does the
 * parsing but keeps no line numbers, and takes some lines in ways their writer did not mean (a ';'
 * inside a value ends it, a comment that ends in a backslash swallows the next line). The scan
 * refuses those; config.c checks that the two agree on all the others.
 */
#ifndef GS_CONFIG_SCAN_H
#define GS_CONFIG_SCAN_H

#include "config/config.h"

#define SCAN_LINE_MAX 1022    /* bytes of a line, continuations included: iniparser's buffer */
#define SCAN_ENTRIES_MAX 4096 /* looking a key up is linear, there and here */

/* Fills c->sections and c->entries from c->text (c->path for messages), names in lower case.
 * GS_OK, or GS_USAGE when some line was refused; each was reported, up to a score of them. */
int scan_ini(struct config *c);

/* A text that may be a value: UTF-8 without control characters other than tabs. */
bool scan_is_value(const char *s, size_t n);

/* Lower-case names, in place. False: no name of a section or key. */
bool scan_section_name(char *s);
bool scan_key_name(char *s);

void scan_add_section(struct config *c, const char *name, int line);
void scan_add_entry(struct config *c, const char *section, const char *key, const char *value,
                    const char *file, int line);

#endif
