/* SPDX-License-Identifier: Apache-2.0
 *
 * Overrides: `--set SECTION:KEY=VALUE` on the command line, applied to what the file says.
 */
#ifndef GS_CONFIG_SET_H
#define GS_CONFIG_SET_H

#include "config/config.h"

/* Applies them in order and keeps a copy in c->overrides. GS_OK or GS_USAGE, every fault reported:
 * another form, a section that the file does not have. Keys are judged with the file's. */
int config_set_all(struct config *c, const char *const *overrides);

#endif
