/* SPDX-License-Identifier: Apache-2.0
 *
 * Several sites on one machine: a network for each, a relay that joins them with the rates, delays,
 * losses and queues of a config, and a command that runs in the first.
 *
 *   gradsync lab       makes the rooms (lab/namespaces.h), waits, passes signals on, cleans up
 *   └ init             makes the sites, measures them (probe.h), writes the facts (facts.h)
 *     ├ a holder a site  sleeps: through it others enter
 *     ├ relay            relay.h
 *     └ COMMAND          in the first site
 */
#ifndef GS_LAB_LAB_H
#define GS_LAB_LAB_H

#include "lab/init.h"

/* The command's exit code (128 + N when signal N ended it), or that of a failure before it,
 * reported. */
int lab_run(const struct lab_spec *s, const struct lab_options *o, char **command);

/* Runs argv in a site of the lab that this process is in; returns on failure alone, reported. */
int lab_enter(const char *site, char **argv);

#endif
