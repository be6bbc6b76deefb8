# SPDX-License-Identifier: Apache-2.0
"""Switches of PyTorch for `gradsync tune`, in ranks alone and without a change of the job.

GRADSYNC_TORCH = NAME=VALUE,...  the switches: bucket_cap_mb, gradient_as_bucket_view, static_graph
                                 (DDP); reshard_after_forward, prefetch (FSDP2); bind
GRADSYNC_TORCH_OUT = FOLDER      each rank writes there what the job has, what a switch changed, the
                                 most GPU memory that it allocated, and whether DDP made many steps
                                 over Gloo
It first runs the sitecustomize that the user has. An error here never fails the job.
"""
import functools
import importlib.abc
import importlib.machinery
import importlib.util
import inspect
import os
import sys
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
RANK_NAMES = ("LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "SLURM_LOCALID", "MPI_LOCALRANKID",
              "PMI_LOCAL_RANK")
UNSEEN_STEPS = 5
DDP = "torch.nn.parallel.distributed"
FSDP = "torch.distributed.fsdp._fully_shard._fully_shard"


def run_users_own():
    rest = [p for p in sys.path if os.path.abspath(p or ".") != HERE]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", rest)
    if spec and spec.loader:
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)


def local_rank():
    for name in RANK_NAMES:
        if os.environ.get(name, "").isdigit():
            return int(os.environ[name])
    return None


class Rank:
    """What this rank reports, and the switches that it applies."""

    def __init__(self, rank):
        words = os.environ.get("GRADSYNC_TORCH", "").split(",")
        self.switches = dict(w.split("=", 1) for w in words if "=" in w)
        self.rank, self.lines, self.said, self.sharded = rank, ["rank"], set(), []
        self.memory, self.lock = 0, threading.Lock()
        folder = os.environ.get("GRADSYNC_TORCH_OUT", "")
        host = os.uname().nodename
        self.path = os.path.join(folder, "torch.%s.%d" % (host, os.getpid())) if folder else None

    def write(self):
        if not self.path:
            return
        with self.lock:
            try:
                with open(self.path + ".new", "w") as f:
                    f.write("".join(line + "\n" for line in self.lines))
                    f.write("memory %d\n" % self.memory)
                os.replace(self.path + ".new", self.path)
            except OSError:
                pass

    def has(self, what):
        if what not in self.lines:
            self.lines.append(what)
            self.write()

    def changed(self, text):
        if text in self.said:
            return
        self.said.add(text)
        self.has("changed " + text)
        if self.rank == 0:
            print("gradsync: " + text, file=sys.stderr, flush=True)

    def watch_memory(self):
        while True:
            threading.Event().wait(0.5)
            cuda = getattr(sys.modules.get("torch"), "cuda", None)
            try:
                if cuda and cuda.is_initialized() and cuda.max_memory_allocated() > self.memory:
                    self.memory = cuda.max_memory_allocated()
                    self.write()
            except Exception:
                return

    # ---- DDP

    def wrap_ddp(self, module):
        old = module.DistributedDataParallel.__init__
        signature = inspect.signature(old)

        @functools.wraps(old)
        def init(ddp, *args, **kwargs):
            self.has("ddp")
            bound = signature.bind(ddp, *args, **kwargs)
            for name, kind in (("bucket_cap_mb", float), ("gradient_as_bucket_view", bool_of),
                               ("static_graph", bool_of)):
                if name in self.switches and name in signature.parameters:
                    bound.arguments[name] = kind(self.switches[name])
                    self.changed("DistributedDataParallel: %s=%s" % (name, self.switches[name]))
            old(*bound.args, **bound.kwargs)
            self.watch_backend(ddp)

        module.DistributedDataParallel.__init__ = init

    def watch_backend(self, ddp):
        """Nothing sees the collectives of Gloo, so it is said after some steps."""
        steps = iter(range(UNSEEN_STEPS))
        try:
            if sys.modules["torch.distributed"].get_backend(ddp.process_group) == "gloo":
                ddp.register_forward_pre_hook(
                    lambda *_: None if next(steps, None) is not None else self.has("gloo"))
        except Exception:
            pass

    # ---- FSDP2

    def wrap_fsdp(self, module):
        old = module.fully_shard

        @functools.wraps(old)
        def fully_shard(target, *args, **kwargs):
            self.has("fsdp")
            if "reshard_after_forward" in self.switches:
                kwargs["reshard_after_forward"] = bool_of(self.switches["reshard_after_forward"])
                self.changed("fully_shard: reshard_after_forward=%s" %
                             kwargs["reshard_after_forward"])
            result = old(target, *args, **kwargs)
            if "prefetch" in self.switches and hasattr(target, "set_modules_to_forward_prefetch"):
                self.sharded.append(target)
                target.register_forward_pre_hook(self.prefetch)
            return result

        module.fully_shard = fully_shard

    def prefetch(self, *_):
        """Once, before the first forward; the module that was sharded last is the whole model."""
        layers, self.sharded = self.sharded[:-1], []
        n = int(self.switches["prefetch"])
        for i, layer in enumerate(layers):
            ahead, behind = layers[i + 1:i + 1 + n], layers[max(0, i - n):i][::-1]
            if ahead:
                layer.set_modules_to_forward_prefetch(ahead)
            if behind:
                layer.set_modules_to_backward_prefetch(behind)
        if layers:
            self.changed("fully_shard: prefetch of %d of %d modules" % (n, len(layers)))

    # ---- processors

    def bind(self):
        cpus = sorted(os.sched_getaffinity(0))
        near = sorted(set(cpus) & set(cpus_of_gpu(self.rank)))
        ranks = int(os.environ.get("LOCAL_WORLD_SIZE") or
                    os.environ.get("OMPI_COMM_WORLD_LOCAL_SIZE") or 1)
        mine = near if near and near != cpus else cpus[self.rank * len(cpus) // ranks:
                                                      (self.rank + 1) * len(cpus) // ranks]
        if mine and mine != cpus:
            os.sched_setaffinity(0, mine)
            self.changed("rank %d runs on %d of %d processors" % (self.rank, len(mine), len(cpus)))


def bool_of(text):
    return text not in ("0", "False", "false", "no")


def cpus_of_gpu(rank):
    """The processors of the NUMA node of this rank's GPU; none: unknown."""
    try:
        gpus = sorted(os.listdir("/proc/driver/nvidia/gpus"))
        visible = os.environ.get("CUDA_VISIBLE_DEVICES")
        index = int(visible.split(",")[rank]) if visible else rank
        with open("/sys/bus/pci/devices/%s/local_cpulist" % gpus[index]) as f:
            parts = [p.split("-") for p in f.read().strip().split(",") if p]
        return [c for p in parts for c in range(int(p[0]), int(p[-1]) + 1)]
    except (OSError, ValueError, IndexError):
        return []


class AfterImport(importlib.abc.MetaPathFinder):
    """Calls a function with a module once the module is there."""

    def __init__(self, wanted):
        self.wanted = wanted

    def find_spec(self, name, path, target=None):
        if name not in self.wanted:
            return None
        then = self.wanted.pop(name)
        spec = importlib.util.find_spec(name)
        if spec is None or spec.loader is None:
            return spec
        execute = spec.loader.exec_module

        def exec_module(module):
            execute(module)
            try:
                then(module)
            except Exception as e:
                print("gradsync: %s: no switch is applied: %s" % (name, e), file=sys.stderr)

        spec.loader.exec_module = exec_module
        return spec


try:
    run_users_own()
finally:
    _rank = local_rank()
    if _rank is not None:
        _this = Rank(_rank)
        if "bind" in _this.switches:
            _this.bind()
        sys.meta_path.insert(0, AfterImport({DDP: _this.wrap_ddp, FSDP: _this.wrap_fsdp}))
        threading.Thread(target=_this.watch_memory, daemon=True).start()
