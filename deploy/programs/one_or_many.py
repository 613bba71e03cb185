# SPDX-License-Identifier: Apache-2.0
"""Compares one all-reduce of a large tensor with many all-reduces of its pieces.

The difference is the cost per call. Training loses it by reducing gradients one parameter at a
time."""
import argparse

import torch
import torch.distributed as dist

from group import Group


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bytes", type=int, default=4 << 20)
    parser.add_argument("--pieces", type=int, default=1000)
    parser.add_argument("--iters", type=int, default=5)
    args = parser.parse_args()
    with Group() as group:
        whole = torch.zeros(max(args.bytes // 4, args.pieces), device=group.device)
        pieces = torch.tensor_split(whole, args.pieces)

        def many():
            for piece in pieces:
                dist.all_reduce(piece)

        one_s = group.seconds(lambda: dist.all_reduce(whole), args.iters, 1)
        many_s = group.seconds(many, args.iters, 1)
        group.report(one_us=one_s * 1e6, many_us=many_s * 1e6, slower=many_s / one_s)


if __name__ == "__main__":
    main()
