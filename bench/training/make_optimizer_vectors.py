"""Writes crates/networks/tests/data/optimizers.json: steps of PyTorch's optimisers on fixed
gradients. Run with a Python that has torch: python bench/training/make_optimizer_vectors.py"""

import json
import pathlib

import torch

torch.manual_seed(20)
START = torch.randn(7)
GRADIENTS = torch.randn(12, 7) * 2
RATE = 0.05

MAKERS = {
    "sgd": lambda p: torch.optim.SGD(p, RATE),
    "sgd, decay 0.1": lambda p: torch.optim.SGD(p, RATE, weight_decay=0.1),
    "momentum 0.9": lambda p: torch.optim.SGD(p, RATE, momentum=0.9),
    "momentum 0.9, decay 0.1": lambda p: torch.optim.SGD(p, RATE, momentum=0.9, weight_decay=0.1),
    "nesterov 0.9": lambda p: torch.optim.SGD(p, RATE, momentum=0.9, nesterov=True),
    "nesterov 0.9, decay 0.1": lambda p: torch.optim.SGD(
        p, RATE, momentum=0.9, nesterov=True, weight_decay=0.1
    ),
    "adam": lambda p: torch.optim.Adam(p, RATE),
    "adam, decay 0.1": lambda p: torch.optim.Adam(p, RATE, weight_decay=0.1),
    "adamw, decay 0.1": lambda p: torch.optim.AdamW(p, RATE, weight_decay=0.1),
    "adagrad": lambda p: torch.optim.Adagrad(p, RATE),
    "adagrad, decay 0.1": lambda p: torch.optim.Adagrad(p, RATE, weight_decay=0.1),
}


def run(make, clip):
    parameter = torch.nn.Parameter(START.clone())
    optimizer = make([parameter])
    rows = []
    for gradient in GRADIENTS:
        parameter.grad = gradient.clone()
        if clip is not None:
            torch.nn.utils.clip_grad_norm_([parameter], clip)
        optimizer.step()
        rows.append(parameter.detach().tolist())
    return rows


runs = {name: run(make, None) for name, make in MAKERS.items()}
runs["sgd, clip 3"] = run(MAKERS["sgd"], 3.0)
out = pathlib.Path(__file__).parents[2] / "crates/networks/tests/data/optimizers.json"
content = {
    "torch": torch.__version__,
    "rate": RATE,
    "start": START.tolist(),
    "gradients": GRADIENTS.tolist(),
    "runs": runs,
}
out.write_text(json.dumps(content, indent=None, separators=(",", ":")) + "\n")
