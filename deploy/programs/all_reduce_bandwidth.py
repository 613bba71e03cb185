# SPDX-License-Identifier: Apache-2.0
"""All-reduce over a range of sizes: time, algbw and busbw as nccl-tests defines them."""
import argparse

import torch
import torch.distributed as dist

from group import Group


def sizes(least, most, factor):
    while least <= most:
        yield least
        least *= factor


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--min-bytes", type=int, default=1024)
    parser.add_argument("--max-bytes", type=int, default=64 << 20)
    parser.add_argument("--factor", type=int, default=4)
    parser.add_argument("--iters", type=int, default=20)
    parser.add_argument("--warmup", type=int, default=5)
    args = parser.parse_args()
    with Group() as group:
        for size in sizes(max(args.min_bytes, 4), args.max_bytes, args.factor):
            # Zeros stay zeros, however often they are added up.
            data = torch.zeros(size // 4, dtype=torch.float32, device=group.device)
            seconds = group.seconds(lambda: dist.all_reduce(data), args.iters, args.warmup)
            algbw = data.numel() * 4 / seconds / 1e9
            group.report(size=data.numel() * 4, time_us=seconds * 1e6, algbw_gbs=algbw,
                         busbw_gbs=algbw * 2 * (group.size - 1) / group.size)


if __name__ == "__main__":
    main()
