/* SPDX-License-Identifier: Apache-2.0
 *
 * Device memory of one NCCL communicator on one rank, for plans alone. NCCL allocates about 6 MiB a
 * channel and peer (buffers of LL, LL128 and Simple), and has up to 24 channels over NVLink.
 */
#ifndef COMM_MEMORY_H
#define COMM_MEMORY_H

#include <stdint.h>

#define COMM_MEMORY_B (UINT64_C(144) << 20)

#endif
