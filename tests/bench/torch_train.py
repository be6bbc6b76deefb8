#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A small GPT, or ResNet-50, trained with DDP or FSDP2: a job for trials, and the truth that they are held against.

    torchrun --nproc_per_node 2 torch_train.py [--mode ddp|fsdp2] [--seconds 60] [--eval 200]
    torchrun --nproc_per_node 2 torch_train.py --model resnet50 --batch 16  # random images of 224 x 224
    torchrun --nproc_per_node 2 torch_train.py --steps 100             # prints step times and ends
    torchrun --nproc_per_node 2 torch_train.py --compare ctas=8,ring/LL128 --seconds 20
    torchrun --nproc_per_node 2 torch_train.py --compare hook=none,hook=bf16   # what communication costs

The job knows nothing of gradsync. --config gives it a communicator of its own with an NCCL setting,
written as the arms of a trial are; "auto" is one too, so that settings are compared like with like. --compare trains one copy of the model for each setting, each on a communicator
of its own, in turns of some steps in random order, with auto twice; it prints the change of the step
time against auto, with its 95% interval. --graph captures the step of --mode ddp in a CUDA graph.
--sync reads the loss after each step. --eval N makes an evaluation every N steps, with collectives
of its own. --hook, and hook= in --compare, registers a communication hook with DDP: none communicates
nothing, bf16 halves the bytes. --compile compiles the model. --alone trains three steps and goes on
with the all-reduces of a step alone, of the sizes of DDP's buckets: the bandwidth beside which the
step is held.
"""
import argparse
import contextlib
import gc
import math
import os
import random
import statistics
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


class Bottleneck(nn.Module):
    def __init__(self, inputs, width, stride):
        super().__init__()

        def conv(inputs, outputs, size, stride=1):
            c = nn.Conv2d(inputs, outputs, size, stride, padding=size // 2, bias=False)
            return [c, nn.BatchNorm2d(outputs)]

        a, b = conv(inputs, width, 1), conv(width, width, 3, stride)
        self.main = nn.Sequential(*a, nn.ReLU(), *b, nn.ReLU(), *conv(width, 4 * width, 1))
        same = stride == 1 and inputs == 4 * width
        self.past = nn.Identity() if same else nn.Sequential(*conv(inputs, 4 * width, 1, stride))

    def forward(self, x):
        return F.relu(self.main(x) + self.past(x))


def resnet50():
    layers = [nn.Conv2d(3, 64, 7, 2, padding=3, bias=False), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
    inputs = 64
    for stage, blocks in enumerate((3, 4, 6, 3)):
        for i in range(blocks):
            layers.append(Bottleneck(inputs, 64 << stage, 2 if stage and not i else 1))
            inputs = 256 << stage
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(inputs, 1000))


def options():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--model", choices=["gpt", "resnet50"], default="gpt")
    p.add_argument("--mode", choices=["ddp", "fsdp2"], default="ddp")
    p.add_argument("--seconds", type=float, default=60)
    p.add_argument("--layers", type=int, default=12)
    p.add_argument("--width", type=int, default=1024)
    p.add_argument("--vocabulary", type=int, default=32000)
    p.add_argument("--batch", type=int, default=8)
    p.add_argument("--length", type=int, default=1024)
    p.add_argument("--bucket-cap", type=float, default=25, help="MiB of a DDP bucket")
    p.add_argument("--config", help="default: the group of all ranks, as it is")
    p.add_argument("--compare", metavar="CONFIGS")
    p.add_argument("--steps", type=int, default=0, help="steps to time, after --warmup steps")
    p.add_argument("--warmup", type=int, default=30)
    p.add_argument("--eval", type=int, default=0)
    p.add_argument("--sync", action="store_true")
    p.add_argument("--graph", action="store_true")
    p.add_argument("--hook", choices=["none", "bf16"])
    p.add_argument("--compile", action="store_true")
    p.add_argument("--alone", action="store_true")
    p.add_argument("--every", type=int, default=50, help="steps between looks at the clock")
    return p.parse_args()


@contextlib.contextmanager
def environment(**variables):
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    yield
    for name, value in before.items():
        if value is None:
            del os.environ[name]
        else:
            os.environ[name] = value


def make_group(config, device):
    """A communicator of all ranks with the setting; NCCL reads the variables when it creates it."""
    settings, variables = dist.ProcessGroupNCCL.Options(), {}
    for part in config.split("/"):
        if part.startswith("ctas="):
            settings.config.min_ctas = settings.config.max_ctas = int(part[5:])
        elif part.lower() in ("ll", "ll128", "simple"):
            variables["NCCL_PROTO"] = part
        elif part != "auto" and not part.startswith("hook="):
            variables["NCCL_ALGO"] = part.replace("-", "")
    with environment(**variables):
        group = dist.new_group(pg_options=settings)
        dist.all_reduce(torch.zeros(1, device=device), group=group)
        torch.cuda.synchronize()
    return group


def no_communication(_, bucket):
    done = torch.futures.Future()
    done.set_result(bucket.buffer())
    return done


def distribute(model, o, device, group, hook):
    if o.mode == "ddp":
        from torch.distributed.algorithms.ddp_comm_hooks import default_hooks

        model = nn.parallel.DistributedDataParallel(
            model, device_ids=[device.index], process_group=group, bucket_cap_mb=o.bucket_cap
        )
        if hook == "none":
            model.register_comm_hook(None, no_communication)
        elif hook == "bf16":
            model.register_comm_hook(group, default_hooks.bf16_compress_hook)
        return torch.compile(model) if o.compile else model
    from torch.distributed.device_mesh import DeviceMesh
    from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard

    mesh = DeviceMesh.from_group(group, "cuda")
    policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16)
    for block in model.blocks:
        fully_shard(block, mesh=mesh, mp_policy=policy)
    fully_shard(model, mesh=mesh, mp_policy=policy)
    return model


class Training:
    """A model, its optimizer and its communicator; run() is one step."""

    def __init__(self, o, device, stream, config):
        torch.manual_seed(1)
        self.o = o
        self.group = make_group(config, device) if config else None
        hooks = [part[5:] for part in (config or "").split("/") if part.startswith("hook=")]
        self.model = distribute(
            (Model(o) if o.model == "gpt" else resnet50()).to(device), o, device, self.group or dist.group.WORLD, hooks[0] if hooks else o.hook
        )
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-4, capturable=o.graph)
        if o.model == "gpt":
            tokens = torch.randint(o.vocabulary, (o.batch, o.length + 1), device=device)
            self.inputs, self.targets = tokens[:, :-1], tokens[:, 1:].flatten()
        else:
            self.inputs = torch.randn(o.batch, 3, 224, 224, device=device)
            self.targets = torch.randint(1000, (o.batch,), device=device)
        self.graph = None
        if o.graph:
            for _ in range(11):
                self.step()
            self.graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(self.graph, stream=stream):
                self.step()

    def step(self):
        with torch.autocast("cuda", torch.bfloat16, cache_enabled=not self.o.graph):
            loss = F.cross_entropy(self.model(self.inputs).flatten(0, -2), self.targets)
        loss.backward()
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=not self.o.graph)
        return loss

    def run(self):
        if self.graph:
            self.graph.replay()
        else:
            loss = self.step()
            if self.o.sync:
                loss.item()

    def timed(self, steps):
        """Seconds of a step, of the slowest rank."""
        torch.cuda.synchronize()
        start = time.monotonic()
        for _ in range(steps):
            self.run()
        torch.cuda.synchronize()
        took = torch.tensor((time.monotonic() - start) / steps, device="cuda")
        dist.all_reduce(took, dist.ReduceOp.MAX)
        return took.item()


class Alone:
    """The all-reduces of a step of DDP, and nothing else."""

    def __init__(self, o, device, training):
        for _ in range(3):
            training.run()
        torch.cuda.synchronize()
        facts = training.model._get_ddp_logging_data()
        sizes = facts.get("rebuilt_bucket_sizes") or facts["bucket_sizes"]
        self.buffers = [torch.ones(int(s) // 4, device=device) for s in sizes.replace(",", " ").split()]
        say(f"alone: {[b.nbytes for b in self.buffers]} bytes")

    def run(self):
        for work in [dist.all_reduce(b, dist.ReduceOp.AVG, async_op=True) for b in self.buffers]:
            work.wait()


def say(text):
    if dist.get_rank() == 0:
        print(text, flush=True)


# ---- what to do with it


def train(o, t):
    """Until the time is over."""
    ended = torch.zeros(1, device="cuda")
    start = last = time.monotonic()
    steps = 0
    while not ended.item():
        for _ in range(o.every):
            t.run()
            steps += 1
            if o.eval and not o.alone and steps % o.eval == 0:
                with torch.no_grad():
                    for _ in range(5):
                        t.model(t.inputs)
                    dist.all_reduce(ended)
        torch.cuda.synchronize()
        now = time.monotonic()
        if now - last >= 5:
            say(f"{now - start:.1f} s: {steps / (now - start):.3f} steps/s")
            last = now
        ended.fill_(float(now - start >= o.seconds))
        dist.broadcast(ended, 0)


def time_steps(o, t):
    for _ in range(o.warmup):
        t.run()
    for _ in range(max(1, o.steps // 10)):
        say(f"step time: {1e3 * t.timed(10):.4f} ms")


def student(df):
    """The 97.5% quantile of t, by Cornish and Fisher's expansion."""
    z = 1.959964
    return z + (z**3 + z) / (4 * df) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * df**2)


def compare(o, device, stream):
    configs = ["auto"] + [c for c in o.compare.split(",") if c != "auto"]
    all_of = {c: Training(o, device, stream, c) for c in configs}
    for t in all_of.values():
        t.timed(o.warmup)
    share = torch.tensor(all_of["auto"].timed(10), device="cuda")
    dist.broadcast(share, 0)
    visits = len(configs) + 1
    blocks = max(4, int(o.seconds // (0.7 * visits)))
    steps = max(4, int(o.seconds / (blocks * visits) / share.item()))
    order, logs = random.Random(1), {c: [] for c in configs + ["auto again"]}
    for _ in range(blocks):
        seconds = {}
        for name in order.sample(list(logs), len(logs)):
            t = all_of[name.split()[0]]
            t.run()
            seconds[name] = t.timed(steps)
        for name in logs:
            logs[name].append((math.log(seconds[name] / seconds["auto"]), seconds[name]))
    for name, values in logs.items():
        ratios = [r for r, _ in values]
        mean = statistics.fmean(ratios)
        half = student(blocks - 1) * statistics.stdev(ratios) / math.sqrt(blocks)
        ms = 1e3 * statistics.median(s for _, s in values)
        say(
            f"compare {name.replace(' ', '-')} {ms:.4f} ms {100 * math.expm1(mean):+.3f}% "
            f"[{100 * math.expm1(mean - half):+.3f}, {100 * math.expm1(mean + half):+.3f}] {blocks} blocks"
        )


def main():
    o = options()
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", device_id=None if o.compare else device)
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        if o.compare:
            compare(o, device, stream)
        else:
            t = Training(o, device, stream, o.config)
            if o.alone:
                t = Alone(o, device, t)
            (time_steps if o.steps else train)(o, t)
            del t
    # NCCL waits for ever to destroy a communicator that a live CUDA graph has in it.
    torch.cuda.synchronize()
    gc.collect()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
