# SPDX-License-Identifier: Apache-2.0
"""Two ways to find whether any rank has raised a flag: all_gather_object, which pickles objects
and exchanges lengths and bytes, and an all-reduce of one element."""
import argparse

import torch
import torch.distributed as dist

from group import Group


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--iters", type=int, default=50)
    args = parser.parse_args()
    with Group() as group:
        raised = group.rank == group.size - 1
        flags = [None] * group.size
        flag = torch.zeros(1, device=group.device)

        def by_object():
            dist.all_gather_object(flags, raised)
            return any(flags)

        def by_tensor():
            flag.fill_(1.0 if raised else 0.0)
            dist.all_reduce(flag, op=dist.ReduceOp.MAX)
            return flag.item() > 0.0

        if not by_object() or not by_tensor():
            raise SystemExit("the flag of the last rank did not arrive")
        object_s = group.seconds(by_object, args.iters, 3)
        tensor_s = group.seconds(by_tensor, args.iters, 3)
        group.report(object_us=object_s * 1e6, tensor_us=tensor_s * 1e6,
                     slower=object_s / tensor_s)


if __name__ == "__main__":
    main()
