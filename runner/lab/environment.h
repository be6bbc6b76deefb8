/* SPDX-License-Identifier: Apache-2.0
 *
 * What a command in a lab finds in its environment, so that mpirun reaches every site and messages
 * take the lines that have a rate. What the user has set stays, but for the way into a site.
 */
#ifndef GS_LAB_ENVIRONMENT_H
#define GS_LAB_ENVIRONMENT_H

/* `folder`: for what MPI leaves behind, and a way to this program without spaces. */
void environment_set(const char *facts_path, const char *folder);

#endif
