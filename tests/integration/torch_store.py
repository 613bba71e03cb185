#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Real PyTorch clients against our TCPStore: torch_store.py PATH-OF-tcpstore_serve.

Exits 77 (skipped) with the reason where torch is not installed."""
import datetime
import os
import subprocess
import sys
import tempfile
import time

WORLD = 4

HERE = os.path.dirname(os.path.abspath(__file__))

WORKER = """
import torch_client
import torch
import torch.distributed as dist

dist.init_process_group("gloo", init_method="env://")
rank, world = dist.get_rank(), dist.get_world_size()
value = torch.tensor([float(rank + 1)])
dist.all_reduce(value)
assert value.item() == world * (world + 1) / 2, value
pair = dist.new_group([0, 1])
if rank < 2:
    value = torch.tensor([float(rank + 1)])
    dist.all_reduce(value, group=pair)
    assert value.item() == 3, value
gathered = [None] * world
dist.all_gather_object(gathered, {"rank": rank})
assert gathered == [{"rank": i} for i in range(world)], gathered
dist.barrier()
print("worker", rank, "of", world, "is done", flush=True)
dist.destroy_process_group()
"""


def start_store(path):
    process = subprocess.Popen([path], stdout=subprocess.PIPE, text=True)
    return process, int(process.stdout.readline())


def connect(port, timeout_s=100):
    import torch_client
    from torch.distributed import TCPStore
    return TCPStore("127.0.0.1", port, is_master=False,
                    timeout=datetime.timedelta(seconds=timeout_s))


def check_operations(port):
    """Every operation that this torch's TCPStore has."""
    store, other = connect(port), connect(port)
    store.set("key", "value")
    assert other.get("key") == b"value"
    store.set("empty", "")
    store.num_keys()  # the client itself holds back a zero length until it sends more
    took = []
    for _ in range(10):
        began = time.monotonic()
        assert other.get("empty") == b""
        took.append(time.monotonic() - began)
    # On a busy machine some may be late, for another reason.
    assert min(took) < 0.15, "a zero-length reply was held back"
    assert store.add("number", 5) == 5 and other.add("number", -7) == -2
    assert store.compare_set("cas", "", "one") == b"one"
    assert other.compare_set("cas", "two", "three") == b"one"
    assert other.compare_set("cas", "one", "two") == b"two"
    keys = store.num_keys()
    assert store.delete_key("key") and not store.delete_key("key")
    assert store.num_keys() == keys - 1
    big = b"x" * (4 << 20)
    store.set("big", big)
    assert other.get("big") == big
    if hasattr(store, "multi_get"):
        check_newer_operations(store, other)


def check_newer_operations(store, other):
    """Those that came with protocol 2."""
    store.append("parts", "one ")
    other.append("parts", "two")
    assert store.get("parts") == b"one two"
    values = [b"y" * (100000 * i) for i in range(4)]
    store.multi_set([f"many/{i}" for i in range(4)], values)
    assert other.multi_get([f"many/{i}" for i in range(4)]) == values
    assert store.check(["many/0", "many/3"]) and not store.check(["many/0", "many/4"])


def check_wait(port):
    """A wait that times out leaves the connection usable. (Protocol 1 has no way to tell
    the server that the client gave up but its next query; a key that is set before that is
    lost on every server.)"""
    store, other = connect(port), connect(port)
    began = time.monotonic()
    try:
        store.wait(["late"], datetime.timedelta(seconds=1))
        raise AssertionError("the wait ended without its key")
    except RuntimeError:
        assert time.monotonic() - began > 0.9
    store.set_timeout(datetime.timedelta(seconds=100))
    assert store.add("next", 1) == 1
    other.set("late", "now")
    assert other.get("late") == b"now"
    assert store.add("next", 1) == 2
    assert store.get("late") == b"now"


def check_groups(port, directory):
    """env:// with nobody but us listening: what a launcher that is not torchrun does."""
    script = os.path.join(directory, "worker.py")
    with open(script, "w", encoding="ascii") as file:
        file.write(WORKER)
    workers = []
    for rank in range(WORLD):
        env = dict(os.environ, RANK=str(rank), WORLD_SIZE=str(WORLD), LOCAL_RANK=str(rank),
                   LOCAL_WORLD_SIZE=str(WORLD), GROUP_RANK="0", MASTER_ADDR="127.0.0.1",
                   MASTER_PORT=str(port), TORCHELASTIC_USE_AGENT_STORE="True",
                   TORCHELASTIC_RESTART_COUNT="0", TORCHELASTIC_MAX_RESTARTS="0",
                   OMP_NUM_THREADS="1", GLOO_SOCKET_IFNAME="lo",
                   PYTHONPATH=HERE)
        workers.append(subprocess.Popen([sys.executable, script], env=env))
    codes = [worker.wait(timeout=400) for worker in workers]
    assert codes == [0] * WORLD, f"workers ended with {codes}"


def check_torchrun(port, directory):
    """Two launchers that meet through our store; their workers meet by themselves."""
    script = os.path.join(directory, "worker.py")
    env = dict(os.environ, OMP_NUM_THREADS="1", GLOO_SOCKET_IFNAME="lo", PYTHONPATH=HERE)
    launchers = [
        subprocess.Popen(
            [sys.executable, os.path.join(HERE, "torch_client.py"), "--nnodes", "2",
             "--nproc_per_node", str(WORLD // 2), "--rdzv_backend", "c10d",
             "--rdzv_endpoint", f"127.0.0.1:{port}", "--rdzv_conf", "is_host=0",
             "--rdzv_id", "job", "--log_dir", os.path.join(directory, f"log{i}"), script], env=env)
        for i in range(2)]
    codes = [launcher.wait(timeout=400) for launcher in launchers]
    assert codes == [0, 0], f"launchers ended with {codes}"


def main():
    try:
        import torch
    except ImportError as error:
        print(f"skipped: no torch here ({error})")
        return 77
    print("torch", torch.__version__, flush=True)
    checks = [
        ("operations", lambda port, directory: check_operations(port)),
        ("wait", lambda port, directory: check_wait(port)),
        ("groups", check_groups),
        ("torchrun", check_torchrun),
    ]
    with tempfile.TemporaryDirectory() as directory:
        for name, check in checks:
            process, port = start_store(sys.argv[1])
            try:
                began = time.monotonic()
                check(port, directory)
                print(f"{name}: ok, {time.monotonic() - began:.1f} s", flush=True)
            finally:
                process.kill()
                process.wait()
    return 0


if __name__ == "__main__":
    sys.exit(main())
