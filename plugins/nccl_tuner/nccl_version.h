/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The version of the NCCL in this process, as ncclGetVersion() gives it (22809 is 2.28.9); 0: it is
 * linked into the program in a way that hides it. */
int nccl_version(void);
