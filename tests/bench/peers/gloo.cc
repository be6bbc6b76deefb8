/* SPDX-License-Identifier: Apache-2.0
 *
 * The all-reduce of Gloo over TCP. PEER_ALGORITHM: 1 ring, 2 bcube. PEER_PARTS: the buffer is cut in
 * so many, each with connections and a thread of its own. PEER_SEGMENT: KiB, at most 1024.
 */
#include "peer.h"

#include <gloo/allreduce.h>
#include <gloo/math.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/rendezvous/prefix_store.h>
#include <gloo/transport/tcp/device.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

struct gloo_peer {
    std::vector<std::shared_ptr<gloo::rendezvous::Context>> contexts;
    int algorithm;
    size_t segment;
};

static void reduce_part(gloo_peer *g, size_t part, float *data, size_t count)
{
    gloo::AllreduceOptions o(g->contexts[part]);
    o.setAlgorithm(static_cast<gloo::AllreduceOptions::Algorithm>(g->algorithm));
    o.setMaxSegmentSize(g->segment);
    o.setOutput(data, count);
    o.setReduceFunction(
        [](void *to, const void *a, const void *b, size_t n) { gloo::sum<float>(to, a, b, n); });
    gloo::allreduce(o);
}

static bool reduce(void *self, float *data, size_t count)
{
    auto *g = static_cast<gloo_peer *>(self);
    size_t parts = g->contexts.size(), each = count / parts;
    std::vector<std::thread> others;
    for (size_t i = 1; i < parts; i++)
        others.emplace_back(reduce_part, g, i, data + i * each,
                            i + 1 < parts ? each : count - i * each);
    reduce_part(g, 0, data, parts > 1 ? each : count);
    for (auto &t : others)
        t.join();
    return true;
}

int main(int argc, char **argv)
{
    struct peer p;
    gloo_peer g;
    peer_open(&p, argc, argv);
    g.algorithm = peer_setting("PEER_ALGORITHM", 1);
    g.segment = static_cast<size_t>(peer_setting("PEER_SEGMENT", 1024)) << 10;
    gloo::transport::tcp::attr attr;
    attr.iface = "wan0";
    for (int i = 0; i < peer_setting("PEER_PARTS", 1); i++) {
        auto device = gloo::transport::tcp::CreateDevice(attr);
        auto store = std::make_shared<gloo::rendezvous::FileStore>(std::string(p.folder));
        auto prefixed = std::make_shared<gloo::rendezvous::PrefixStore>(std::to_string(i), store);
        auto context = std::make_shared<gloo::rendezvous::Context>(p.rank, p.ranks);
        context->setTimeout(std::chrono::seconds(60));
        context->connectFullMesh(prefixed, device);
        g.contexts.push_back(context);
    }
    peer_run(&p, argc, argv, reduce, &g);
    return 0;
}
