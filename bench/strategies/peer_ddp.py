"""PyTorch on the network of small.toml: one process, or several with DistributedDataParallel and gloo.

Usage: peer_ddp.py PROCESSES BATCH STEPS VARIANT. BATCH is that of all processes together; each has
one thread. A variant is words: `fused` or `foreach` choose Adam's kind, `channels` lays pictures and
weights out channels-last, `view` lets gradients be views of DDP's buckets. Prints examples per second
after a tenth of the steps, which warm up.
"""

import os
import socket
import sys
import time

import torch
import torch.distributed as dist
from torch import multiprocessing, nn

EXAMPLES = 2000


def network():
    return nn.Sequential(
        nn.Conv2d(1, 32, 3), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(32, 64, 3), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(64, 64, 3), nn.ReLU(),
        nn.Flatten(), nn.Linear(576, 64), nn.ReLU(), nn.Linear(64, 10),
    )  # fmt: skip


def train(rank, processes, batch, steps, words, port):
    torch.set_num_threads(1)
    torch.set_num_interop_threads(1)
    torch.set_flush_denormal(True)
    torch.manual_seed(1)
    model, x = network(), torch.rand(EXAMPLES, 1, 28, 28)
    y = torch.randint(0, 10, (EXAMPLES,))
    if "channels" in words:
        model = model.to(memory_format=torch.channels_last)
        x = x.contiguous(memory_format=torch.channels_last)
    if processes > 1:
        os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
        dist.init_process_group("gloo", rank=rank, world_size=processes)
        model = nn.parallel.DistributedDataParallel(model, gradient_as_bucket_view="view" in words)
    kinds = {kind: True for kind in ["fused", "foreach"] if kind in words}
    adam = torch.optim.Adam(model.parameters(), lr=1e-3, **kinds)
    criterion = nn.CrossEntropyLoss()
    share, warmup, start = batch // processes, max(steps // 10, 1), 0.0
    for step in range(warmup + steps):
        if step == warmup:
            start = time.perf_counter()
        chosen = torch.randint(0, EXAMPLES, (share,))
        loss = criterion(model(x.index_select(0, chosen)), y.index_select(0, chosen))
        adam.zero_grad(set_to_none="view" not in words)
        loss.backward()
        adam.step()
    if rank == 0:
        print(steps * batch / (time.perf_counter() - start))
    if processes > 1:
        dist.destroy_process_group()


def main():
    processes, batch, steps = map(int, sys.argv[1:4])
    words = sys.argv[4].split("-")
    with socket.create_server(("127.0.0.1", 0)) as own:
        port = own.getsockname()[1]
    if processes == 1:
        return train(0, 1, batch, steps, words, port)
    multiprocessing.spawn(train, (processes, batch, steps, words, port), processes)


if __name__ == "__main__":
    main()
