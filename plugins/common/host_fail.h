/* SPDX-License-Identifier: Apache-2.0
 *
 * Reports a fault to the host: `return HOST_FAILED(host, "…")`.
 */
#pragma once

#include "workload.h"

#define HOST_FAIL(host, ...) (host)->fail((host)->ctx, __VA_ARGS__)
#define HOST_FAILED(host, ...) (HOST_FAIL(host, __VA_ARGS__), WL_FAIL)
