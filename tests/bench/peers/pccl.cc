/* SPDX-License-Identifier: Apache-2.0
 *
 * The all-reduce of PCCL. PEER_PARTS: connections between two ranks; the buffer is cut in so many,
 * all in flight at once. The master runs beside rank 0, on PEER_PORT: a port that was used rests for
 * a minute.
 */
#include "peer.h"

#include <pccl.h>

#include <vector>

#define PENDING_NS 500000000 /* until the master has heard of the rank that joins */

struct pccl_peer {
    pcclComm_t *comm;
    int parts;
};

static bool reduce(void *self, float *data, size_t count)
{
    auto *g = static_cast<pccl_peer *>(self);
    size_t parts = static_cast<size_t>(g->parts), each = count / parts;
    std::vector<pcclReduceOpDescriptor_t> all(parts);
    /* Out of place, as its users do: it would copy an aliased input itself. */
    std::vector<float> in(data, data + count);
    for (size_t i = 0; i < parts; i++) {
        all[i].sendbuf = in.data() + i * each;
        all[i].recvbuf = data + i * each;
        all[i].descriptor = {i + 1 < parts ? each : count - i * each,
                             pcclSum,
                             i,
                             {pcclFloat, pcclDistributionNone},
                             {pcclFloat, pcclQuantNone}};
    }
    pcclReduceInfo_t info = {};
    return pcclAllReduceMultipleWithRetry(all.data(), parts, g->comm, &info, g->parts) ==
           pcclSuccess;
}

static void must(pcclResult_t result, const char *what)
{
    if (result != pcclSuccess)
        peer_fail(what);
}

/* One rank after another: who is in calls pcclUpdateTopology as often as all others who are in. */
static void join(struct peer *p, pcclComm_t *comm)
{
    for (int joining = 0; joining < p->ranks; joining++) {
        int world = p->ranks;
        peer_meet(p);
        if (p->rank == joining) {
            must(pcclConnect(comm), "pcclConnect failed");
        } else if (p->rank < joining) {
            peer_sleep_until(peer_now() + PENDING_NS);
            must(pcclUpdateTopology(comm), "pcclUpdateTopology failed");
        }
        peer_meet(p);
        if (p->rank <= joining)
            must(pcclGetAttribute(comm, PCCL_ATTRIBUTE_GLOBAL_WORLD_SIZE, &world), "no world size");
        if (p->rank <= joining && world != joining + 1)
            peer_fail("a rank did not join in time");
    }
}

int main(int argc, char **argv)
{
    struct peer p;
    pccl_peer g = {nullptr, peer_setting("PEER_PARTS", 1)};
    pcclMasterInstance_t *master = nullptr;
    auto port = static_cast<uint16_t>(peer_setting("PEER_PORT", 48148));
    peer_open(&p, argc, argv);
    must(pcclInit(), "pcclInit failed");
    if (p.rank == 0) {
        ccoip_socket_address_t any = {};
        any.port = port;
        must(pcclCreateMaster(any, &master), "pcclCreateMaster failed");
        must(pcclRunMaster(master), "pcclRunMaster failed");
    }
    peer_meet(&p);
    pcclCommCreateParams_t params = {};
    params.master_address.inet.ipv4 = {{10, 77, 0, 1}}; /* the first site of a lab */
    params.master_address.port = port;
    params.p2p_connection_pool_size = static_cast<uint32_t>(g.parts);
    must(pcclCreateCommunicator(&params, &g.comm), "pcclCreateCommunicator failed");
    join(&p, g.comm);
    peer_run(&p, argc, argv, reduce, &g);
    peer_meet(&p);
    _exit(0); /* its threads end with the process */
}
