/* SPDX-License-Identifier: Apache-2.0
 *
 * The namespaces that all of a lab lives in: processes, mounts and, without privilege, users. Its
 * first process is their init: when that ends or is killed, or the process that made it is, the
 * kernel ends every other one, and networks, devices and mounts go with the last. Nothing has a
 * name outside.
 */
#ifndef GS_LAB_NAMESPACES_H
#define GS_LAB_NAMESPACES_H

#include <sys/types.h>

/* As fork: 0 in the child, which is the init; -1 reported. */
pid_t namespaces_fork(void);

/* In the child, once: /proc of its own, and `hosts` in the place of /etc/hosts. GS_OK or GS_CANNOT,
 * reported. */
int namespaces_mount(const char *hosts);

#endif
