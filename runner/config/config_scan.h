/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds the sections and keys of an .ini text, with their lines. iniparser parses the values but
 * keeps no line numbers, and it accepts lines that their writer meant otherwise: a ';' inside a
 * value ends it, and a comment that ends in a backslash swallows the next line. The scan refuses
 * such lines; config.c checks that scan and iniparser agree on all others.
 */
#pragma once

#include "config/config_entries.h"

#define SCAN_LINE_MAX 1022    /* bytes of a line with its continuations: iniparser's buffer */
#define SCAN_ENTRIES_MAX 4096 /* iniparser and config_find search linearly */

/* Fills c->sections and c->entries from c->text, with names in lower case. Returns GS_OK, or
 * GS_USAGE after reporting up to 20 faults. */
int scan_ini(struct config *c);

/* Is the text a possible value: UTF-8 without control characters other than tabs? */
bool scan_is_value(const char *s);

/* Convert a name to lower case in place. False: not a valid name of a section or key. The key of an
 * environment variable in [train] keeps its case. `section` may be NULL. */
bool scan_section_name(char *s);
bool scan_key_name(const char *section, char *s);
