/* SPDX-License-Identifier: Apache-2.0
 *
 * Checks that the parameters of a cell fit each other, with any backend.
 */
#pragma once

#include "iter_proxy/backend.h"

/* WL_OK; or WL_FAIL, and `why` names the parameter. */
enum wl_status proxy_judge(const struct proxy_cell *c, const struct wl_job *job, char *why,
                           size_t n);
