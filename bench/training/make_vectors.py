"""Makes crates/networks/tests/data/layers.json: small networks with the losses, gradients and
running statistics that PyTorch computes for them. Run with torch installed; no arguments."""

import json
import pathlib

import torch
from torch import nn

torch.manual_seed(20)


class Rows(nn.Module):
    """Runs a recurrent layer and keeps its last outputs, both ways side by side."""

    def __init__(self, inputs, units, bidirectional):
        super().__init__()
        self.lstm = nn.LSTM(inputs, units, batch_first=True, bidirectional=bidirectional)

    def forward(self, x):
        _, (last, _) = self.lstm(x)
        return last.transpose(0, 1).flatten(1)


class Steps(nn.Module):
    """Runs a recurrent layer and keeps its outputs at every step."""

    def __init__(self, inputs, units):
        super().__init__()
        self.lstm = nn.LSTM(inputs, units, batch_first=True, bidirectional=True)

    def forward(self, x):
        return self.lstm(x)[0]


class Residual(nn.Module):
    def __init__(self, channels, wide):
        super().__init__()
        self.expand = nn.Conv2d(channels, wide, 1, bias=False)
        self.norm0 = nn.BatchNorm2d(wide)
        self.spread = nn.Conv2d(wide, wide, 3, padding=1, groups=wide, bias=False)
        self.norm1 = nn.BatchNorm2d(wide)
        self.project = nn.Conv2d(wide, channels, 1, bias=False)
        self.norm2 = nn.BatchNorm2d(channels)

    def forward(self, x):
        y = nn.functional.relu6(self.norm0(self.expand(x)))
        y = nn.functional.relu6(self.norm1(self.spread(y)))
        return x + self.norm2(self.project(y))


def layer(kind, **words):
    return "[[layer]]\n" + "".join(
        f"{key} = {json.dumps(value)}\n" for key, value in [("kind", kind), *words.items()]
    )


def case(name, model, toml, names, inputs, labels, smoothing=0.0):
    """`names` maps our tensors to PyTorch's; a list is added up."""
    model.train()
    state = {key: value.clone() for key, value in model.state_dict().items()}
    loss = nn.functional.cross_entropy(model(inputs), labels, label_smoothing=smoothing)
    loss.backward()
    gradients = {key: value.grad for key, value in model.named_parameters()}
    after = model.state_dict()
    listed = lambda tensor: [float(f"{x:.8g}") for x in tensor.flatten().tolist()]
    total = lambda source, keys: sum(source[key] for key in keys)
    tensors, statistics = {}, {}
    for ours, theirs in names.items():
        theirs = theirs if isinstance(theirs, list) else [theirs]
        if theirs[0] in gradients:
            # Of a sum of biases each has the gradient of the sum.
            tensors[ours] = {
                "values": listed(total(state, theirs)),
                "gradients": listed(gradients[theirs[0]]),
            }
        else:
            statistics[ours] = listed(after[theirs[0]])
    ours = inputs.permute(0, 2, 3, 1) if inputs.dim() == 4 else inputs
    return {
        "name": name,
        "description": toml,
        "inputs": listed(ours),
        "labels": labels.tolist(),
        "smoothing": smoothing,
        "loss": float(loss),
        "tensors": tensors,
        "state": statistics,
    }


def norm(ours, theirs):
    names = ["weight", "bias", "running_mean", "running_var"]
    return {f"{ours}.{name}": f"{theirs}.{name}" for name in names}


def both(ours, theirs):
    return {f"{ours}.{name}": f"{theirs}.{name}" for name in ["weight", "bias"]}


def pictures():
    model = nn.Sequential(
        nn.Conv2d(2, 4, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(4, 5, 3, stride=2, padding=1),
        nn.ReLU(), nn.Flatten(), nn.Linear(20, 6), nn.ReLU(), nn.Linear(6, 3),
    )
    toml = 'name = "pictures"\ninput = [9, 8, 2]\n' + layer(
        "convolution", filters=4, kernel=3, activation="relu"
    ) + layer("max-pool", size=2) + layer(
        "convolution", filters=5, kernel=3, stride=2, padding=1, activation="relu"
    ) + layer("flatten") + layer("dense", outputs=6, activation="relu") + layer("dense", outputs=3)
    names = both("0", "0") | both("2", "3") | both("4", "6") | both("5", "8")
    return case("pictures", model, toml, names, torch.randn(5, 2, 9, 8),
                torch.tensor([0, 2, 1, 2, 0]), smoothing=0.1)


def residual():
    block = Residual(4, 10)
    for norm_layer in [block.norm0, block.norm1, block.norm2]:
        nn.init.uniform_(norm_layer.weight, 0.5, 1.5)
        nn.init.normal_(norm_layer.bias)
    model = nn.Sequential(nn.Conv2d(3, 4, 3, stride=2, padding=1), block, nn.AdaptiveAvgPool2d(1),
                          nn.Flatten(), nn.Linear(4, 3))
    point = dict(kernel=1, batch_norm=True)
    toml = 'name = "residual"\ninput = [8, 8, 3]\n' + layer(
        "convolution", name="first", filters=4, kernel=3, stride=2, padding=1
    ) + layer("convolution", name="b.0", filters=10, activation="relu6", **point) + layer(
        "depthwise", name="b.2", kernel=3, padding=1, batch_norm=True, activation="relu6"
    ) + layer("convolution", name="b.4", filters=4, **point) + layer("add", with_="first").replace(
        "with_", "with"
    ) + layer("average-pool") + layer("flatten") + layer("dense", name="head", outputs=3)
    names = both("first", "0") | both("head", "4")
    for number, (theirs, after) in enumerate(
        [("expand", "norm0"), ("spread", "norm1"), ("project", "norm2")]
    ):
        names |= {f"b.{2 * number}.weight": f"1.{theirs}.weight"}
        names |= norm(f"b.{2 * number + 1}", f"1.{after}")
    return case("residual", model, toml, names, torch.randn(6, 3, 8, 8) * 2 + 1,
                torch.tensor([0, 2, 1, 2, 0, 1]))


def sequences(bidirectional):
    model = nn.Sequential(Rows(3, 4, bidirectional), nn.Linear(8 if bidirectional else 4, 3))
    toml = 'name = "rows"\ninput = [5, 3]\n' + layer(
        "lstm", units=4, bidirectional=bidirectional
    ) + layer("dense", outputs=3)
    names = both("1", "1") | memory("0", ["", "_reverse"] if bidirectional else [""])
    name = "both ways" if bidirectional else "one way"
    return case(name, model, toml, names, torch.randn(6, 5, 3), torch.tensor([0, 2, 1, 2, 0, 1]))


def memory(place, suffixes):
    names = {}
    for suffix in suffixes:
        for what in ["weight_ih", "weight_hh"]:
            names[f"{place}.{what}_l0{suffix}"] = f"{place}.lstm.{what}_l0{suffix}"
        biases = [f"{place}.lstm.bias_{what}_l0{suffix}" for what in ["ih", "hh"]]
        names[f"{place}.bias_l0{suffix}"] = biases
    return names


def stacked():
    model = nn.Sequential(Steps(3, 4), Rows(8, 2, False), nn.Linear(2, 3))
    toml = 'name = "stacked"\ninput = [5, 3]\n' + layer(
        "lstm", units=4, bidirectional=True, returns="sequence"
    ) + layer("lstm", units=2) + layer("dense", outputs=3)
    names = memory("0", ["", "_reverse"]) | memory("1", [""]) | both("2", "2")
    return case("stacked", model, toml, names, torch.randn(6, 5, 3),
                torch.tensor([0, 2, 1, 2, 0, 1]))


def main():
    cases = [pictures(), residual(), sequences(False), sequences(True), stacked()]
    text = json.dumps({"made_with": f"PyTorch {torch.__version__}", "cases": cases})
    root = pathlib.Path(__file__).resolve().parents[2]
    (root / "crates/networks/tests/data/layers.json").write_text(text + "\n")


main()
