/* SPDX-License-Identifier: Apache-2.0
 *
 * The platform that an import is of, when it is said by a config: its name, its [limits] and its
 * [reference] then apply to what was imported, and the config is kept in the run's folder.
 */
#ifndef GS_IMPORT_PLATFORM_H
#define GS_IMPORT_PLATFORM_H

#include "config/settings.h"
#include "import/import.h"

struct import_platform {
    struct config *config;
    struct settings set;
};

/* Does the text name a config's file, and no platform? */
bool import_platform_is(const char *text);
/* GS_OK or reported. */
int import_platform_read(struct import_platform **out, const char *path);
void import_platform_free(struct import_platform *p);

/* GS_OK; GS_USAGE, reported: the test is of another number of ranks or nodes, or of another device,
 * so that the limits are not its. */
int import_platform_fits(const struct import_platform *p, const struct import *imp,
                         const struct imp_test *t, int64_t ranks, int64_t nodes);
/* DIR/config.ini, as the file was. GS_OK or reported. */
int import_platform_write(const struct import_platform *p, const char *dir);

#endif
