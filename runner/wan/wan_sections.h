/* SPDX-License-Identifier: Apache-2.0
 *
 * The keys of [sites], [links], [link A-B] and [model] for `gradsync help`: the same tables read
 * the config.
 */
#pragma once

#include "workload.h"

/* One table of keys, or of KEY=VALUE pairs inside a value. */
struct wan_words {
    const char *section, *form; /* form: the line that contains these pairs; NULL: they are keys */
    const struct wl_param *table;
    size_t stride; /* bytes from one row of the table to the next; the last has a NULL name */
};
extern const struct wan_words wan_words[]; /* ends with a NULL section */

const struct wl_param *wan_words_next(const struct wan_words *w, const struct wl_param *p);
