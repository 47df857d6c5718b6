"""Exported networks run by onnxruntime and PyTorch, and torchvision's weights run by Trainwright.

Needs torch, torchvision, safetensors, onnx, onnxruntime and Pillow. The pictures are made here.
Usage: check_exports.py PROGRAM RESULT
"""

import csv
import json
import os
import platform
import subprocess
import sys
import tempfile

import numpy
import onnx
import onnxruntime
import torch
import torchvision
from PIL import Image
from safetensors.torch import load_file, save_file
from torch import nn

SIDE, CLASSES, EACH = 64, 5, 24
program, result = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
checks = {}


def check(name, gap, limit):
    checks[name] = {"holds": bool(gap <= limit), "gap": float(gap), "limit": limit}
    print("ok      " if gap <= limit else "FAILED  ", name, gap, flush=True)


def run(*words):
    return subprocess.run([program, *words], check=True, capture_output=True, text=True).stdout


def pictures():
    """Noisy pictures whose colour depends on the class, as PNG files and as numbers."""
    random, found = numpy.random.default_rng(3), {}
    for number in range(CLASSES * EACH):
        label = number % CLASSES
        colour = numpy.array([40 * label, 200 - 40 * label, 90 + 20 * label])
        pixels = numpy.clip(random.normal(colour, 60, (SIDE, SIDE, 3)), 0, 255).astype("uint8")
        name = f"class-{label}/{number:03}.png"
        os.makedirs(f"photos/class-{label}", exist_ok=True)
        Image.fromarray(pixels).save(f"photos/{name}")
        found[name] = pixels
    return found


def predicted(kept):
    """What Trainwright takes each picture for, and how surely."""
    run("predict", kept, "--data", "photos", "-o", "each.csv")
    with open("each.csv") as table:
        rows = list(csv.DictReader(table))
    return [row["name"] for row in rows], [int(row["predicted"]) for row in rows], [
        float(row["probability"]) for row in rows
    ]


def gap(kept, photos, probabilities):
    """Largest difference between our probability of a picture's class and theirs."""
    names, classes, ours = predicted(kept)
    theirs = probabilities(numpy.stack([photos[name] for name in names]))
    return max(abs(row[label] - own) for row, label, own in zip(theirs, classes, ours))


def scaled(batch):
    return batch.transpose(0, 3, 1, 2).astype("float32") / 255


def softmax(logits):
    return torch.softmax(logits, 1).detach().numpy()


def cnn():
    """The flower network in PyTorch's words."""
    return nn.Sequential(
        nn.Conv2d(3, 32, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(32, 64, 3), nn.ReLU(),
        nn.MaxPool2d(2), nn.Conv2d(64, 64, 3), nn.ReLU(), nn.Flatten(), nn.LazyLinear(64),
        nn.ReLU(), nn.Linear(64, CLASSES),
    )


def mobilenet(width=1.0):
    return torchvision.models.mobilenet_v2(num_classes=CLASSES, width_mult=width)


def in_order(model, tensors):
    """The tensors under the names that a plain list of layers gives them."""
    model(torch.zeros(1, 3, SIDE, SIDE))
    names = [name for name in model.state_dict() if "num_batches" not in name]
    return dict(zip(names, tensors.values(), strict=True))


def train(name, network, *words):
    """A short training; its files are called after it."""
    run("train", "--network", network, "--data", "shards", "--epochs", "2", "--batch", "16",
        "--checkpoint", f"{name}-kept", "--export", f"{name}.onnx",
        "--export", f"{name}.safetensors", *words)


def main():
    photos = pictures()
    run("data", "prepare", "photos", "--out", "shards", "--size", str(SIDE), "--shards", "1",
        "--split", "0.8,0,0.2", "--pixels")
    networks = {
        "mlp": (f"mlp:{SIDE * SIDE * 3}-16-{CLASSES}", None),
        "cnn": ("cnn:flowers", cnn()),
        "mobilenet": ("mobilenet-v2:0.5", mobilenet(0.5)),
    }
    for name, (network, model) in networks.items():
        train(name, network)
        onnx.checker.check_model(f"{name}.onnx", full_check=True)
        session = onnxruntime.InferenceSession(f"{name}.onnx")
        flat = (lambda batch: batch.reshape(len(batch), -1).astype("float32") / 255)
        feed = flat if name == "mlp" else scaled
        found = gap(f"{name}-kept", photos,
                    lambda batch: session.run(["probabilities"], {"input": feed(batch)})[0])
        check(f"onnxruntime runs our {name}", found, 1e-4)
        if model is None:
            continue
        tensors = load_file(f"{name}.safetensors")
        if name == "cnn":
            tensors = in_order(model, tensors)
        missing, unexpected = model.load_state_dict(tensors, strict=False)
        assert not unexpected and all("num_batches" in key for key in missing), (missing, unexpected)
        model.eval()
        found = gap(f"{name}-kept", photos, lambda batch: softmax(model(torch.tensor(scaled(batch)))))
        check(f"PyTorch runs our {name}", found, 1e-4)

    # The other way: torchvision's network of 1000 classes, a new head, everything else frozen.
    torch.manual_seed(5)
    source = torchvision.models.mobilenet_v2()
    for module in source.modules():
        if isinstance(module, nn.BatchNorm2d):
            nn.init.uniform_(module.running_mean, -0.2, 0.2)
            nn.init.uniform_(module.running_var, 0.5, 1.5)
    save_file({key: value for key, value in source.state_dict().items()}, "source.safetensors")
    words = ["--weights", "source.safetensors", "--freeze", "features", "--lr", "0.01"]
    train("transfer", "mobilenet-v2:1.0", *words)
    tensors = load_file("transfer.safetensors")
    frozen = [key for key in tensors if key.startswith("features")]
    gaps = [(tensors[key] - source.state_dict()[key]).abs().max().item() for key in frozen]
    check("frozen layers keep torchvision's weights", max(gaps), 0.0)
    model = mobilenet()
    model.load_state_dict(tensors, strict=False)
    model.eval()
    found = gap("transfer-kept", photos, lambda batch: softmax(model(torch.tensor(scaled(batch)))))
    check("torchvision runs what we trained on its features", found, 1e-4)

    report = {
        "what": "exports run by others, and others' weights run by us: largest gap of probabilities",
        "pictures": len(photos),
        "machine": {"processor": platform.processor() or platform.machine(), "cores": os.cpu_count()},
        "versions": {"torch": torch.__version__, "torchvision": torchvision.__version__,
                     "onnx": onnx.__version__, "onnxruntime": onnxruntime.__version__},
        "checks": checks,
    }
    with open(result, "w") as file:
        json.dump(report, file, indent=2)
        file.write("\n")


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    main()
sys.exit(0 if all(own["holds"] for own in checks.values()) else 1)
