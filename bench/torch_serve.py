#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""PyTorch's own TCPStore server, for measurements: prints its port and serves until it is
killed."""
import datetime
import socket
import sys
import time

try:
    from torch.distributed import TCPStore
except ImportError:
    sys.exit("torch_serve: no PyTorch here")

with socket.socket() as probe:
    probe.bind(("127.0.0.1", 0))
    port = probe.getsockname()[1]
store = TCPStore("127.0.0.1", port, is_master=True, wait_for_workers=False,
                 timeout=datetime.timedelta(seconds=60))
print(port, flush=True)
while True:
    time.sleep(3600)
