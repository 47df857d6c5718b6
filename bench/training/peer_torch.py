"""PyTorch: eager, channels-last, and compiled by torch.compile; each with its fused Adam too."""

import torch
from torch import nn

from measured import BATCH, CLASSES, STEPS, THREADS, VARIANT, WORKLOAD, batches, pictures, serve

torch.set_num_threads(THREADS)
torch.set_num_interop_threads(1)
torch.manual_seed(1)


class BiLstm(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(28, 128, batch_first=True, bidirectional=True)
        self.head = nn.Linear(256, 10)

    def forward(self, x):
        _, (outputs, _) = self.lstm(x)
        return self.head(torch.cat([outputs[0], outputs[1]], 1))


def network():
    if WORKLOAD == "mlp":
        return nn.Sequential(nn.Flatten(), nn.Linear(784, 128), nn.ReLU(), nn.Linear(128, 10))
    if WORKLOAD == "bilstm":
        return BiLstm()
    if WORKLOAD == "mobilenet":
        from torchvision.models import mobilenet_v2

        return mobilenet_v2(num_classes=CLASSES[WORKLOAD])
    return nn.Sequential(
        nn.Conv2d(3, 32, 3), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(32, 64, 3), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(64, 64, 3), nn.ReLU(),
        nn.Flatten(), nn.Linear(9216, 64), nn.ReLU(), nn.Linear(64, 5),
    )  # fmt: skip


def main():
    x, y = pictures()
    x, y = torch.from_numpy(x), torch.from_numpy(y)
    model = network()
    if x.dim() == 4:
        # A view: bytes lie channels-last as they were read.
        x = x.permute(0, 3, 1, 2)
        if "channels-last" in VARIANT:
            model = model.to(memory_format=torch.channels_last)
        else:
            x = x.contiguous()
    run = torch.compile(model) if "compiled" in VARIANT else model
    loss_of = nn.CrossEntropyLoss()
    adam = torch.optim.Adam(model.parameters(), lr=1e-3, fused="fused" in VARIANT or None)
    model.train()
    all_batches = batches(len(x))

    def train(steps):
        total = torch.zeros(())
        for _ in range(steps):
            chosen = torch.from_numpy(next(all_batches))
            loss = loss_of(run(x[chosen]), y[chosen])
            adam.zero_grad()
            loss.backward()
            adam.step()
            total += loss.detach()
        return steps * BATCH, total.item() / steps

    serve(train)


main()
