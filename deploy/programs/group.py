"""What these programs share: joining the process group, and timing on its device."""
import json
import os
import time

import torch
import torch.distributed as dist


class Group:
    """The process group of the run: NCCL where this rank has a GPU, else gloo."""

    def __init__(self):
        local_rank = int(os.environ["LOCAL_RANK"])
        self.on_gpu = torch.cuda.is_available() and torch.cuda.device_count() > local_rank
        if self.on_gpu:
            torch.cuda.set_device(local_rank)
        self.device = torch.device("cuda", local_rank) if self.on_gpu else torch.device("cpu")
        dist.init_process_group("nccl" if self.on_gpu else "gloo", init_method="env://")
        self.rank = dist.get_rank()
        self.size = dist.get_world_size()

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        # After a failure others may be gone, and tidying up would wait for them.
        if kind is None:
            dist.barrier()
            dist.destroy_process_group()

    def wait(self):
        if self.on_gpu:
            torch.cuda.synchronize()

    def seconds(self, call, iters, warmup):
        """Of one call, the mean over `iters` of them, on the slowest rank."""
        for _ in range(warmup):
            call()
        self.wait()
        dist.barrier()
        start = time.perf_counter()
        for _ in range(iters):
            call()
        self.wait()
        mean = torch.tensor([(time.perf_counter() - start) / iters], dtype=torch.float64,
                            device=self.device)
        dist.all_reduce(mean, op=dist.ReduceOp.MAX)
        return mean.item()

    def report(self, **figures):
        """A line of JSON, from rank 0."""
        if self.rank == 0:
            print(json.dumps(figures), flush=True)
