/* SPDX-License-Identifier: Apache-2.0
 *
 * The namespaces of a lab: processes, mounts and, without privilege, users. The first process of
 * the lab is their init. When it or its parent ends, the kernel kills all other processes of the
 * lab and removes its networks, devices and mounts. Nothing is visible outside.
 */
#pragma once

#include <sys/types.h>

/* Like fork: returns 0 in the child, which is the init; -1 on failure, reported. */
pid_t namespaces_fork(void);

/* Call it once, in the child. Mounts a private /proc, and `hosts` over /etc/hosts. GS_OK or
 * GS_CANNOT, reported. */
int namespaces_mount(const char *hosts);
