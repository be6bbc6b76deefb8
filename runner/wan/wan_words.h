/* SPDX-License-Identifier: Apache-2.0
 *
 * Values made of WORD=VALUE, by table. Faults are reported with the file, line and key.
 */
#ifndef GS_WAN_WORDS_H
#define GS_WAN_WORDS_H

#include "config/config.h"
#include "workload.h"

/* "up=1Gbit/s gpus=2" into the members of object. GS_OK or GS_USAGE. */
int wan_words_read(const struct config_entry *e, const struct wl_param *table, void *object);
/* A value that is one word's. */
int wan_value_read(const struct config_entry *e, const struct wl_param *p, void *object);

#endif
