#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One config of a training step as it is commonly timed in PyTorch: the peer of iter_proxy.

For each size of gradient and each mode (compute, comm, sequential, overlapped) some iterations,
each between two CUDA events: "MODE BYTES MEDIAN_US". One process a GPU, started by mpirun; NCCL's
own variables (NCCL_ALGO, NCCL_PROTO, NCCL_MIN_CTAS, NCCL_MAX_CTAS) choose the config.
    torch_proxy.py --sizes 262144,1048576 --gemms 1 --gemm 4096 --iterations 100
"""
import argparse
import os
import statistics

import torch
import torch.distributed as dist

WARMUP = 10


def arguments():
    p = argparse.ArgumentParser()
    p.add_argument("--sizes", default="262144,1048576,4194304,16777216,67108864")
    p.add_argument("--gemms", type=int, default=1)
    p.add_argument("--gemm", type=int, default=4096)
    p.add_argument("--iterations", type=int, default=100)
    return p.parse_args()


def join():
    rank = int(os.environ["OMPI_COMM_WORLD_RANK"])
    torch.cuda.set_device(int(os.environ["OMPI_COMM_WORLD_LOCAL_RANK"]))
    os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
    os.environ.setdefault("MASTER_PORT", "29517")
    dist.init_process_group("nccl", rank=rank, world_size=int(os.environ["OMPI_COMM_WORLD_SIZE"]))
    return rank


def modes(grad, a, b, c, gemms):
    def compute():
        for _ in range(gemms):
            torch.mm(a, b, out=c)

    def sequential():
        compute()
        dist.all_reduce(grad)

    def overlapped():
        work = dist.all_reduce(grad, async_op=True)
        compute()
        work.wait()

    return {
        "compute": compute,
        "comm": lambda: dist.all_reduce(grad),
        "sequential": sequential,
        "overlapped": overlapped,
    }


def time_us(step, iterations):
    for _ in range(WARMUP):
        step()
    dist.barrier()
    pairs = []
    for _ in range(iterations):
        start, stop = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        step()
        stop.record()
        pairs.append((start, stop))
    torch.cuda.synchronize()
    return statistics.median(start.elapsed_time(stop) * 1e3 for start, stop in pairs)


def main():
    args = arguments()
    torch.backends.cuda.matmul.allow_tf32 = True
    rank = join()
    a, b, c = (torch.randn(args.gemm, args.gemm, device="cuda") for _ in range(3))
    for size in map(int, args.sizes.split(",")):
        grad = torch.zeros(size // 4, device="cuda")
        for name, step in modes(grad, a, b, c, args.gemms).items():
            us = time_us(step, args.iterations)
            if rank == 0:
                print(f"{name} {size} {us:.2f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
