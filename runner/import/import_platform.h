/* SPDX-License-Identifier: Apache-2.0
 *
 * The platform of an import, if the user names its config: the config's name, [limits] and
 * [reference] apply to the import, and the run folder gets a copy of the config.
 */
#pragma once

#include "config/settings.h"
#include "import/import.h"

struct import_platform {
    struct config *config;
    struct settings set;
};

/* Is the text the path of a config, not the name of a platform? */
bool import_platform_is(const char *text);
/* GS_OK or reported. */
int import_platform_read(struct import_platform **out, const char *path);
void import_platform_free(struct import_platform *p);

/* GS_OK; or GS_USAGE, reported: the test has another number of ranks or nodes, or another device,
 * so the limits do not apply to it. */
int import_platform_fits(const struct import_platform *p, const struct import *imp,
                         const struct imp_test *t, int64_t ranks, int64_t nodes);
/* Writes DIR/config.ini. GS_OK or reported. */
int import_platform_write(const struct import_platform *p, const char *dir);
