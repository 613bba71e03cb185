# SPDX-License-Identifier: Apache-2.0
"""What the installed PyTorch has to be told to be a client of a store that is not its own:
import it first. Run as a program, it is torchrun."""
import importlib
import sys

import torch.distributed

# Some versions ask for libuv in clients too, and refuse if they were built without it, as
# Debian's are.
if "use_libuv" in torch.distributed.TCPStore.__init__.__doc__:
    class TCPStore(torch.distributed.TCPStore):
        def __init__(self, *args, **options):
            options["use_libuv"] = False
            super().__init__(*args, **options)

    torch.distributed.TCPStore = TCPStore
    importlib.import_module("torch.distributed.rendezvous").TCPStore = TCPStore


def main():
    from torch.distributed import run

    if hasattr(run.get_args_parser().parse_args(["x"]), "local_addr"):
        own = ["--local-addr", "127.0.0.1"]  # else this host's name has to resolve
    else:
        own = ["--redirects", "1", "--tee", "1"]  # 1.13 fails under Python 3.11 without
    run.main(own + sys.argv[1:])


if __name__ == "__main__":
    main()
