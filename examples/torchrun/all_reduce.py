# SPDX-License-Identifier: Apache-2.0
# all_reduce.py - one all-reduce over all ranks of a torchrun job, checked on each
import sys

import torch
import torch.distributed as dist

has_gpu = torch.cuda.is_available()
dist.init_process_group("nccl" if has_gpu else "gloo", init_method="env://")
rank, world = dist.get_rank(), dist.get_world_size()
value = torch.tensor([float(rank + 1)])
if has_gpu:
    value = value.to("cuda:{}".format(rank % torch.cuda.device_count()))
dist.all_reduce(value)
wanted = world * (world + 1) // 2
# A single write keeps the line whole, because other ranks write to the same terminal.
sys.stdout.write("rank {} of {}: sum {}\n".format(rank, world, int(value.item())))
sys.stdout.flush()
dist.destroy_process_group()
sys.exit(0 if int(value.item()) == wanted else 1)
