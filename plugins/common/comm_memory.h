/* SPDX-License-Identifier: Apache-2.0
 *
 * Estimates the device memory of one NCCL communicator on one rank; only plans use it.
 *
 * NCCL allocates about 6 MiB for each channel and peer (buffers of LL, LL128 and Simple). It has up
 * to 24 channels over NVLink.
 */
#pragma once

#include <stdint.h>

#define COMM_MEMORY_B (UINT64_C(144) << 20)
