/* SPDX-License-Identifier: Apache-2.0
 *
 * Emulates several sites on one machine. Each site has its own network. A relay joins them with
 * the rates, delays, losses and queues of a config. A command runs in the first site.
 *
 *   gradsync lab       makes the namespaces (lab/site.h), waits, forwards signals, cleans up
 *   └ init             makes the sites, probes them (probe.h), writes the description (spec.h)
 *     ├ holder, one per site   sleeps; other processes enter the site through it
 *     ├ relay            relay.h
 *     └ COMMAND          in the first site
 */
#pragma once

#include "lab/spec.h"

/* Returns the exit code of the command, 128 + N when signal N ended it. Returns another exit code,
 * reported, when the lab failed before the command. */
int lab_run(const struct lab_spec *s, char **command);

/* Runs argv in a site of the lab that this process is in. Returns only on failure, reported. */
int lab_enter(const char *site, char **argv);
