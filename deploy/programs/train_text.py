# SPDX-License-Identifier: Apache-2.0
"""Trains a small transformer on the characters of a text with DistributedDataParallel, and
reports samples per second.

Use the figure to compare NCCL settings or nodes. The model is too small for other uses."""
import argparse
import pathlib
import time

import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from group import Group


class Model(nn.Module):
    def __init__(self, characters, width, layers, context):
        super().__init__()
        self.token = nn.Embedding(characters, width)
        self.place = nn.Parameter(torch.zeros(context, width))
        layer = nn.TransformerEncoderLayer(width, nhead=4, dim_feedforward=4 * width,
                                           dropout=0.0, batch_first=True)
        self.layers = nn.TransformerEncoder(layer, layers)
        self.head = nn.Linear(width, characters)
        # The mask hides later characters.
        mask = torch.full((context, context), float("-inf")).triu(1)
        self.register_buffer("mask", mask, persistent=False)

    def forward(self, text):
        return self.head(self.layers(self.token(text) + self.place, mask=self.mask))


class Text:
    """The characters of a file as numbers, and random pieces of it."""

    def __init__(self, path, context, seed):
        text = path.read_text(encoding="utf-8")
        self.characters = sorted(set(text))
        index = {c: i for i, c in enumerate(self.characters)}
        self.data = torch.tensor([index[c] for c in text])
        self.context = context
        self.random = torch.Generator().manual_seed(seed)

    def batch(self, n, device):
        starts = torch.randint(len(self.data) - self.context - 1, (n,), generator=self.random)
        pieces = torch.stack([self.data[s:s + self.context + 1] for s in starts.tolist()])
        pieces = pieces.to(device)
        return pieces[:, :-1], pieces[:, 1:]


def train(group, args):
    torch.manual_seed(1)
    path = pathlib.Path(__file__).with_name("README.md")
    text = Text(path, args.context, seed=group.rank)
    model = Model(len(text.characters), args.width, args.layers, args.context).to(group.device)
    # The mask is the same on all ranks. Broadcasting it would add to the measured time.
    model = DistributedDataParallel(model, device_ids=[group.device] if group.on_gpu else None,
                                    broadcast_buffers=False)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)

    def advance():
        given, wanted = text.batch(args.batch, group.device)
        loss = nn.functional.cross_entropy(model(given).flatten(0, 1), wanted.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss

    # The first steps create connections, kernels and plans.
    for _ in range(args.warmup):
        advance()
    group.barrier()
    start = time.perf_counter()
    for step in range(1, args.steps + 1):
        loss = advance()
        if step % args.report == 0 or step == args.steps:
            done = args.report if step % args.report == 0 else args.steps % args.report
            group.wait()
            now = time.perf_counter()
            if group.rank == 0:
                rate = args.batch * group.size * done / (now - start)
                print(f"step {step} loss {loss.item():.4f} samples/s {rate:.2f}", flush=True)
            start = now


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--warmup", type=int, default=5)
    parser.add_argument("--report", type=int, default=10)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--width", type=int, default=64)
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--context", type=int, default=64)
    args = parser.parse_args()
    if args.width % 4:
        raise SystemExit("--width must be a multiple of 4")
    with Group() as group:
        train(group, args)


if __name__ == "__main__":
    main()
