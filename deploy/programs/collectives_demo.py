# SPDX-License-Identifier: Apache-2.0
"""Four collectives on a small tensor: what each rank holds before and after, checked."""
import torch
import torch.distributed as dist

from group import Group


def fresh(group):
    """Rank r holds r+1 and ten times that."""
    value = float(group.rank + 1)
    return torch.tensor([value, 10 * value], device=group.device)


def broadcast(group):
    data = fresh(group)
    dist.broadcast(data, src=0)
    return data, [1.0, 10.0]


def all_reduce(group):
    data = fresh(group)
    total = group.size * (group.size + 1) / 2
    dist.all_reduce(data)
    return data, [total, 10 * total]


def reduce(group):
    data = fresh(group)
    total = group.size * (group.size + 1) / 2
    dist.reduce(data, dst=0)
    # On ranks other than the root the content is undefined.
    return data, [total, 10 * total] if group.rank == 0 else None


def all_gather(group):
    parts = [torch.empty(2, device=group.device) for _ in range(group.size)]
    dist.all_gather(parts, fresh(group))
    return torch.cat(parts), [v for r in range(group.size) for v in (r + 1.0, 10.0 * (r + 1))]


def main():
    with Group() as group:
        for collective in (broadcast, all_reduce, reduce, all_gather):
            before = fresh(group).tolist()
            after, expected = collective(group)
            print(f"{collective.__name__}: rank {group.rank} of {group.size}: "
                  f"before {before} after {after.tolist()}", flush=True)
            if expected is not None and after.tolist() != expected:
                raise SystemExit(f"{collective.__name__}: expected {expected}")
        group.report(collectives_right=4)


if __name__ == "__main__":
    main()
