/* SPDX-License-Identifier: Apache-2.0
 *
 * Environment variables of the command in a lab. With them mpirun reaches every site, and messages
 * use the emulated links. Variables that the user has set stay, except the remote shell.
 */
#pragma once

/* `folder`: for temporary files of MPI, and a link to this program whose path has no spaces. */
void environment_set(const char *facts_path, const char *folder);
