/* SPDX-License-Identifier: Apache-2.0
 *
 * Prints where the members of workload.h are: the header that is included decides, and two of one
 * ABI say the same of every member that both have.
 */
#include "workload.h"

#include <stdio.h>

#define AT(type, member)                                                                           \
    printf("%s.%s %zu %zu\n", #type, #member, offsetof(struct type, member),                       \
           sizeof(((struct type *)0)->member))
#define VALUE(name) printf("%s %d\n", #name, name)

static void structs(void)
{
    AT(wl_param, name), AT(wl_param, type), AT(wl_param, role), AT(wl_param, offset);
    AT(wl_param, unit), AT(wl_param, def), AT(wl_param, min), AT(wl_param, max);
    AT(wl_param, choices), AT(wl_param, help);
    AT(wl_metric, name), AT(wl_metric, unit), AT(wl_metric, help), AT(wl_metric, across);
    AT(wl_job, size), AT(wl_job, ranks), AT(wl_job, nodes), AT(wl_job, local_ranks);
    AT(wl_shape, size), AT(wl_shape, size_B), AT(wl_shape, busbw_factor), AT(wl_shape, host_B);
    AT(wl_shape, device_B), AT(wl_shape, iteration_s), AT(wl_shape, iters_min);
    AT(wl_shape, iters_max), AT(wl_shape, span);
    AT(wl_host, size), AT(wl_host, rank), AT(wl_host, ranks), AT(wl_host, local_rank);
    AT(wl_host, local_ranks), AT(wl_host, node), AT(wl_host, nodes), AT(wl_host, seed);
    AT(wl_host, ctx), AT(wl_host, barrier), AT(wl_host, bcast), AT(wl_host, fail);
    AT(wl_sample, size), AT(wl_sample, values), AT(wl_sample, start_ns), AT(wl_sample, end_ns);
    AT(wl_plugin, size), AT(wl_plugin, name), AT(wl_plugin, version), AT(wl_plugin, summary);
    AT(wl_plugin, params), AT(wl_plugin, cell_size), AT(wl_plugin, metrics);
    AT(wl_plugin, describe), AT(wl_plugin, open), AT(wl_plugin, close), AT(wl_plugin, prepare);
    AT(wl_plugin, release), AT(wl_plugin, sample), AT(wl_plugin, verify);
    /* Tables are arrays: their elements may not grow within an ABI. */
    printf("sizes %zu %zu\n", sizeof(struct wl_param), sizeof(struct wl_metric));
}

int main(void)
{
    structs();
    VALUE(WL_OK), VALUE(WL_SKIP), VALUE(WL_RETRY), VALUE(WL_FAIL);
    VALUE(WL_INT), VALUE(WL_SIZE), VALUE(WL_REAL), VALUE(WL_TIME), VALUE(WL_RATE), VALUE(WL_BOOL);
    VALUE(WL_CHOICE), VALUE(WL_TEXT), VALUE(WL_AXIS), VALUE(WL_CONFIG), VALUE(WL_MODE);
    VALUE(WL_MAX), VALUE(WL_SUM), VALUE(WL_MEAN), VALUE(WL_TEXT_MAX), VALUE(WL_METRICS_MAX);
    return puts(WL_SYMBOL) < 0;
}
