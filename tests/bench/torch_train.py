#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A small GPT trained with DDP or FSDP2, unaware of gradsync: a job to try the tuner plugin on.

    torchrun --nproc-per-node 2 torch_train.py [--mode ddp|fsdp2] [--seconds 60] [--eval 200]

Prints the steps per second of each five seconds on rank 0. --sync reads the loss after each step,
so that the host never runs ahead. --eval N makes an evaluation every N steps, with collectives of
its own. --graph captures the step of --mode ddp in a CUDA graph: nothing can be switched then.
"""
import argparse
import os
import time

import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(b, t, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4)
        a = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.proj(a.transpose(1, 2).reshape(b, t, c))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class Model(nn.Module):
    def __init__(self, o):
        super().__init__()
        self.embed = nn.Embedding(o.vocabulary, o.width)
        self.blocks = nn.ModuleList(Block(o.width, o.width // 64) for _ in range(o.layers))
        self.head = nn.Linear(o.width, o.vocabulary, bias=False)

    def forward(self, tokens):
        x = self.embed(tokens)
        for block in self.blocks:
            x = block(x)
        return self.head(x)


def options():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--mode", choices=["ddp", "fsdp2"], default="ddp")
    p.add_argument("--seconds", type=float, default=60)
    p.add_argument("--layers", type=int, default=12)
    p.add_argument("--width", type=int, default=1024)
    p.add_argument("--vocabulary", type=int, default=32000)
    p.add_argument("--batch", type=int, default=8)
    p.add_argument("--length", type=int, default=1024)
    p.add_argument("--eval", type=int, default=0)
    p.add_argument("--sync", action="store_true")
    p.add_argument("--graph", action="store_true")
    return p.parse_args()


def distribute(model, o, device):
    if o.mode == "ddp":
        return nn.parallel.DistributedDataParallel(model, device_ids=[device.index])
    from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard

    policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16)
    for block in model.blocks:
        fully_shard(block, mp_policy=policy)
    fully_shard(model, mp_policy=policy)
    return model


def main():
    o = options()
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", device_id=device)
    torch.manual_seed(1)
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        model = distribute(Model(o).to(device), o, device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, capturable=o.graph)
    tokens = torch.randint(o.vocabulary, (o.batch, o.length + 1), device=device)

    def step():
        with torch.autocast("cuda", torch.bfloat16, cache_enabled=not o.graph):
            logits = model(tokens[:, :-1])
            loss = F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=not o.graph)
        return loss

    run = step
    with torch.cuda.stream(stream):
        if o.graph:
            for _ in range(11):
                step()
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph, stream=stream):
                step()
            run = graph.replay
        steps = 0
        torch.cuda.synchronize()
        start = last = time.monotonic()
        ended = torch.zeros(1, device=device)
        while True:
            loss = run()
            steps += 1
            if o.sync and loss is not None:
                loss.item()
            if o.eval and steps % o.eval == 0:
                with torch.no_grad():
                    for _ in range(5):
                        model(tokens[:, :-1])
                    dist.all_reduce(ended)
            if steps % 50 == 0:
                torch.cuda.synchronize()
                now = time.monotonic()
                if dist.get_rank() == 0 and now - last >= 5:
                    print(f"{now - start:.1f} s: {steps / (now - start):.3f} steps/s", flush=True)
                    last = now
                ended.fill_(float(now - start >= o.seconds))
                dist.broadcast(ended, 0)
                if ended.item():
                    break
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
