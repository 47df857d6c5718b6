"""A PyTorch training that reports to Trainwright with nothing but a line of JSON."""
import argparse
import json
import os

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--lr", type=float, required=True)
parser.add_argument("--batch", type=int, required=True)
parser.add_argument("--optimizer", choices=["sgd", "adam"], required=True)
parser.add_argument("--epochs", type=int, default=5)
parser.add_argument("--seed", type=int, default=0)
arguments = parser.parse_args()

torch.manual_seed(arguments.seed)
points = torch.rand(2000, 2) * 2 - 1
labels = (points.pow(2).sum(1) < 0.5).long()
train, test = slice(0, 1600), slice(1600, 2000)

network = nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 2))
make = {"sgd": torch.optim.SGD, "adam": torch.optim.Adam}[arguments.optimizer]
optimizer = make(network.parameters(), lr=arguments.lr)
lossy = nn.CrossEntropyLoss()
stop_file = os.environ.get("TRAINWRIGHT_STOP_FILE", "")

for epoch in range(1, arguments.epochs + 1):
    for rows in torch.randperm(1600).split(arguments.batch):
        optimizer.zero_grad()
        loss = lossy(network(points[train][rows]), labels[train][rows])
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        accuracy = (network(points[test]).argmax(1) == labels[test]).float().mean().item()
    print("::metric", json.dumps({"accuracy": accuracy, "loss": loss.item(), "step": epoch}), flush=True)
    if stop_file and os.path.exists(stop_file):
        break

torch.save(network.state_dict(), os.path.join(os.environ.get("TRAINWRIGHT_DIR", "."), "network.pt"))
