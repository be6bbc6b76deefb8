/* SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"
#include "base/jsontext.h"
#include "import/import_nccl.h"

#include <stdio.h>
#include <string.h>

static bool host_known(const json_t *hosts, const char *host)
{
    for (size_t i = 0; i < json_array_size(hosts); i++)
        if (!strcmp(json_string_value(json_object_get(json_array_get(hosts, i), "host")), host))
            return true;
    return false;
}

int nccl_device(struct nccl *r, const char *s)
{
    long long rank, group = 0, pid, device;
    char host[IMP_WORD], bus[32] = "";
    int at = 0;
    bool good = sscanf(s, "%4lld Group %4lld Pid %12lld on %63s device %4lld [%31[^]]]%n", &rank,
                       &group, &pid, host, &device, bus, &at) >= 6 ||
                (group = 0, sscanf(s, "%4lld Pid %12lld on %63s device %4lld [%31[^]]]%n", &rank,
                                   &pid, host, &device, bus, &at) >= 5);
    if (!good || !r->open || r->tabled)
        return GS_OK;
    struct imp_test *t = nccl_test(r);
    size_t i;
    json_t *known;
    json_array_foreach(t->hosts, i, known)
    {
        if (json_integer_value(json_object_get(known, "rank")) == rank &&
            json_integer_value(json_object_get(known, "group")) == group)
            return import_refuse(r->in,
                                 "rank %lld a second time in one list of devices: " MIXED
                                 ", and each process has a communicator of one rank; build "
                                 "nccl-tests with MPI=1",
                                 rank);
    }
    if (!t->hosts)
        t->hosts = json_array();
    if (json_array_size(t->hosts) >= 4096)
        return import_refuse(r->in, "more than 4096 ranks in one list of devices");
    /* NCCL_TESTS_SPLIT makes several groups; each has a communicator. */
    const json_t *first = json_object_get(json_array_get(t->hosts, 0), "group");
    r->ranks += !first || json_integer_value(first) == group;
    t->nodes += !host_known(t->hosts, host);
    const char *name = s + at + strspn(s + at, " ");
    json_t *o = json_pack("{sI sI sI}", "rank", (json_int_t)rank, "group", (json_int_t)group, "pid",
                          (json_int_t)pid);
    json_object_set_new(o, "host", json_text(host));
    json_object_set_new(o, "device", json_text(name));
    json_object_set_new(o, "bus", json_text(bus));
    json_array_append_new(t->hosts, o);
    return GS_OK;
}
