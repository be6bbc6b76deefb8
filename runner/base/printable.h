/* SPDX-License-Identifier: Apache-2.0
 *
 * Which text may reach a terminal, a table, a script or a page. Recordings and folders come from
 * other people: their names and texts are judged here and nowhere else.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* The length in bytes of a forbidden character at s: a control character (C0, DEL, C1), a line
 * separator, a character that changes the direction of text, or a byte that is not UTF-8 (RFC 3629).
 * 0: the character is allowed, or s ends. */
size_t printable_fault(const char *s);
/* Is the whole text printable? It may also hold the characters in `also`, such as "\n\t". */
bool printable(const char *s, const char *also);
/* Replaces what is not printable: a C0 character by a blank, anything else by '?'. Returns s. */
char *printable_make(char *s, const char *also);

/* A name of a file, folder, platform, workload, run, group or cell: letters, digits, '.', '_' and
 * '-', not first '.' or '-'. It needs no quotes anywhere. */
#define PRINTABLE_NAME_RULE "letters, digits, '.', '_' and '-'; not first '.' or '-'"
bool printable_name(const char *s);
/* A config, mode, unit or value of a parameter: printable, not first '-', and none of "'`\$<>&|;{} */
#define PRINTABLE_LABEL_RULE "printable, not first '-', and none of \"'`\\$<>&|;{}"
bool printable_label(const char *s);
/* The same for words key=value of a plan, whose values may stand in double quotes. */
bool printable_words(const char *s);
