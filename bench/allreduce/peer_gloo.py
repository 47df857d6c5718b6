"""All-reduce by gloo, as torch.distributed offers it: peer_gloo.py PORT RANK SIZE BYTES:REPEATS[,...]

Measures as the example all_reduce_speed of crates/comm does, and prints the same line.
"""

import os
import sys
import time

import torch
import torch.distributed as dist

WARM_UP = 2


def main():
    port, rank, size, loads = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
    os.environ["GLOO_SOCKET_IFNAME"] = "lo"
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=size)
    times = []
    for load in loads.split(","):
        count, repeats = (int(it) for it in load.split(":"))
        values = (torch.arange(count // 4) % 1000).float()
        expected = values * size
        dist.all_reduce(values)
        assert torch.equal(values, expected), "a wrong sum"
        values.zero_()
        for _ in range(WARM_UP):
            dist.all_reduce(values)
        dist.barrier()
        start = time.perf_counter()
        for _ in range(repeats):
            dist.all_reduce(values)
        dist.barrier()
        times.append((time.perf_counter() - start) * 1e3 / repeats)
    if rank == 0:
        print(" ".join(f"{it:.4f}" for it in times))
    dist.destroy_process_group()


main()
