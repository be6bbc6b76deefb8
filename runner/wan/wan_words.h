/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads values that consist of KEY=VALUE pairs, by table. Faults name the file, line and key.
 */
#pragma once

#include "config/config.h"
#include "workload.h"

/* Reads "up=1Gbit/s gpus=2" into the members of object. GS_OK or GS_USAGE. */
int wan_words_read(const struct config_entry *e, const struct wl_param *table, void *object);
/* param_parse, which also takes 7B and 1T for a number. */
bool wan_param_parse(const struct wl_param *p, const char *text, void *object, char *why, size_t n);
/* Reads a plain value of one parameter. */
int wan_value_read(const struct config_entry *e, const struct wl_param *p, void *object);
