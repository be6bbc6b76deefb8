/* SPDX-License-Identifier: Apache-2.0
 *
 * Judges the texts of a JSON document that other people wrote: a recording's line, a plan, a campaign.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* Reads a whole JSON file of a run folder or a campaign and judges its texts. GS_OK, or reported:
 * damaged, or not a regular file. *out is NULL with GS_OK if there is no such file. */
int json_names_load(json_t **out, const char *path);

/* Every text and key must be printable; members that are names or labels (a table in json_names.c)
 * must be such. False: *why says which is not. */
bool json_names_good(json_t *document, char *why, size_t n);

/* True only if the text is good as a member of this name, whatever else the document holds. */
bool json_names_simple(const char *key, const char *s);
