# SPDX-License-Identifier: Apache-2.0
"""Shared by these programs: joins the process group, and times calls on its device."""
import importlib
import inspect
import json
import os
import time

import torch
import torch.distributed as dist


class StoreClient(dist.TCPStore):
    """A store client without libuv. Only store servers need libuv, and ranks are clients."""

    def __init__(self, *args, **options):
        options["use_libuv"] = False
        super().__init__(*args, **options)


# A PyTorch that was built without libuv, such as Debian's, refuses clients that request libuv, and
# some versions have no option to avoid the request.
if "use_libuv" in dist.TCPStore.__init__.__doc__:
    importlib.import_module("torch.distributed.rendezvous").TCPStore = StoreClient


def gpus_for(local_ranks):
    """Whether this node's ranks use GPUs: either each rank has its own GPU, or none has."""
    gpus = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if 0 < gpus < local_ranks:
        raise SystemExit(f"this node has {local_ranks} ranks, but {gpus} GPU(s): set the run's "
                         f"ranks_per_node to {gpus}, or CUDA_VISIBLE_DEVICES to \"\" for CPUs")
    return gpus > 0 and dist.is_nccl_available()


class Group:
    """The process group of the run: NCCL if each rank has a GPU, otherwise gloo."""

    def __init__(self):
        local_rank = int(os.environ["LOCAL_RANK"])
        self.on_gpu = gpus_for(int(os.environ["LOCAL_WORLD_SIZE"]))
        self.device = torch.device("cuda", local_rank) if self.on_gpu else torch.device("cpu")
        options = {}
        if self.on_gpu:
            torch.cuda.set_device(local_rank)
            # With device_id, PyTorch 2.3 and later create the communicator here, not in the first
            # call.
            if "device_id" in inspect.signature(dist.init_process_group).parameters:
                options["device_id"] = self.device
        dist.init_process_group("nccl" if self.on_gpu else "gloo", init_method="env://", **options)
        self.rank = dist.get_rank()
        self.size = dist.get_world_size()

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        # After a failure other ranks may be gone, and the barrier would wait for them.
        if kind is None:
            self.barrier()
            dist.destroy_process_group()

    def barrier(self):
        """Waits for all ranks and for this rank's GPU."""
        if self.on_gpu:
            dist.barrier(device_ids=[self.device.index])
        else:
            dist.barrier()
        self.wait()

    def wait(self):
        if self.on_gpu:
            torch.cuda.synchronize()

    def seconds(self, call, iters, warmup):
        """The mean time of a call over `iters` calls, on the slowest rank."""
        for _ in range(warmup):
            call()
        self.barrier()
        start = time.perf_counter()
        for _ in range(iters):
            call()
        self.wait()
        mean = torch.tensor([(time.perf_counter() - start) / iters], dtype=torch.float64,
                            device=self.device)
        dist.all_reduce(mean, op=dist.ReduceOp.MAX)
        return mean.item()

    def report(self, **figures):
        """Prints a line of JSON on rank 0."""
        if self.rank == 0:
            print(json.dumps(figures), flush=True)
