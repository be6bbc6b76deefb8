#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""All-reduces of PyTorch alone, back to back: the bandwidth beside which a training step is held.

    torchrun --nproc_per_node 2 torch_allreduce.py --bytes 26214400 [--times 40]

Prints "step time: X ms" for each group of --group operations: the time of one of them, by the clock of
the host of rank 0, which waits for the GPU after each group.
"""
import argparse
import os
import time

import torch
import torch.distributed as dist

p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
p.add_argument("--bytes", type=int, default=25 << 20, help="size of the buffer of one rank")
p.add_argument("--times", type=int, default=40, help="groups to time, after a quarter as many untimed")
p.add_argument("--group", type=int, default=4, help="operations of a group")
o = p.parse_args()

torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
dist.init_process_group("nccl")
x = torch.ones(o.bytes // 4, device="cuda")
for i in range(-o.times // 4, o.times):
    torch.cuda.synchronize()
    dist.barrier()
    torch.cuda.synchronize()
    start = time.perf_counter()
    for _ in range(o.group):
        dist.all_reduce(x)
    torch.cuda.synchronize()
    if i >= 0 and dist.get_rank() == 0:
        print(f"step time: {(time.perf_counter() - start) / o.group * 1e3:.4f} ms", flush=True)
dist.destroy_process_group()
