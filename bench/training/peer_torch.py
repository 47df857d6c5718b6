"""PyTorch, by every way that makes it faster: the whole set is a tensor in memory, denormals are
flushed to zero, and batches are gathered by one call.

A variant is words: `fused` or `foreach` choose Adam's kind; `channels` lays pictures and weights out
channels-last; `compiled` compiles network and loss by torch.compile; `flat` keeps all parameters in
one tensor that Adam changes in one go. `hand` (the MLP only) has the whole step written by hand
without autograd, `compiled-hand` the same as one compiled function.
"""

import torch
from torch import nn

from measured import BATCH, CLASSES, THREADS, VARIANT, WORKLOAD, epochs, pictures, serve

torch.set_num_threads(THREADS)
torch.set_num_interop_threads(1)
torch.set_flush_denormal(True)
torch.manual_seed(1)
WORDS = VARIANT.split("-")


class BiLstm(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(28, 128, batch_first=True, bidirectional=True)
        self.head = nn.Linear(256, 10)

    def forward(self, x):
        _, (outputs, _) = self.lstm(x)
        return self.head(torch.cat([outputs[0], outputs[1]], 1))


def network():
    if WORKLOAD == "mobilenet":
        from torchvision.models import mobilenet_v2

        return mobilenet_v2(num_classes=CLASSES[WORKLOAD])
    if WORKLOAD == "bilstm":
        return begun_alike(BiLstm())
    if WORKLOAD == "mlp":
        kinds = [nn.Flatten(), nn.Linear(784, 128), nn.ReLU(), nn.Linear(128, 10)]
    else:
        kinds = [
            nn.Conv2d(3, 32, 3), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(32, 64, 3), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(64, 64, 3), nn.ReLU(),
            nn.Flatten(), nn.Linear(9216, 64), nn.ReLU(), nn.Linear(64, 5),
        ]  # fmt: skip
    return begun_alike(nn.Sequential(*kinds))


def begun_alike(model):
    """Weights from the distributions that ours start from, so that losses can be compared."""
    for name, values in model.named_parameters():
        if "bias" in name:
            nn.init.zeros_(values)
            if "bias_ih" in name:
                nn.init.ones_(values[128:256])
        elif "weight_hh" in name:
            nn.init.uniform_(values, -(128**-0.5), 128**-0.5)
        elif "weight_ih" in name or len(values) == CLASSES[WORKLOAD]:
            nn.init.xavier_uniform_(values)
        else:
            nn.init.kaiming_uniform_(values, nonlinearity="relu")
    return model


def flattened(model):
    """One tensor that holds all parameters, of which they and their gradients become views."""
    own = list(model.parameters())
    whole = torch.cat([it.detach().as_strided((it.numel(),), (1,)) for it in own])
    whole.grad = torch.zeros_like(whole)
    start = 0
    for it in own:
        it.grad = whole.grad.as_strided(it.shape, it.stride(), start)
        it.data = whole.as_strided(it.shape, it.stride(), start)
        start += it.numel()
    return whole


def by_autograd(x, y):
    """One step of a network with PyTorch's own gradients and Adam."""
    model, turned = network(), x.dim() == 4 and "channels" in WORDS
    if turned:
        model = model.to(memory_format=torch.channels_last)
    elif x.dim() == 4:
        x = x.permute(0, 3, 1, 2).contiguous()
    flat = flattened(model) if "flat" in WORDS else None
    kinds = {kind: True for kind in ["fused", "foreach"] if kind in WORDS}
    adam = torch.optim.Adam(model.parameters() if flat is None else [flat], lr=1e-3, **kinds)
    criterion = nn.CrossEntropyLoss()
    loss_of = lambda xs, ys: criterion(model(xs), ys)
    if "compiled" in WORDS:
        loss_of = torch.compile(loss_of)
    model.train()

    def step(chosen):
        xs = x.index_select(0, chosen)
        loss = loss_of(xs.permute(0, 3, 1, 2) if turned else xs, y.index_select(0, chosen))
        if flat is None:
            adam.zero_grad(set_to_none=True)
        else:
            flat.grad.zero_()
        loss.backward()
        adam.step()
        return loss.detach()

    return step


class HandWrittenMlp:
    """784-128-10 with parameters and gradients in two tensors, and every product written down."""

    def __init__(self, x, y):
        self.x, self.y = x.reshape(len(x), -1), y
        model = network()
        tensors = [model[1].weight.T, model[1].bias, model[3].weight.T, model[3].bias]
        self.flat = torch.cat([it.detach().reshape(-1) for it in tensors])
        self.flat.grad = torch.zeros_like(self.flat)
        self.parts, self.gradients = self.views(self.flat), self.views(self.flat.grad)
        self.inputs = torch.empty(BATCH, 784)
        self.hidden, self.of_hidden = torch.empty(BATCH, 128), torch.empty(BATCH, 128)
        self.logits = torch.empty(BATCH, 10)
        self.less = torch.full((BATCH, 1), -1.0)
        self.adam = torch.optim.Adam([self.flat], lr=1e-3, fused=True)

    @staticmethod
    def views(flat):
        w1, b1, w2, b2 = flat.split([784 * 128, 128, 128 * 10, 10])
        return w1.view(784, 128), b1, w2.view(128, 10), b2

    @torch.no_grad()
    def step(self, chosen):
        (w1, b1, w2, b2), (gw1, gb1, gw2, gb2) = self.parts, self.gradients
        x = torch.index_select(self.x, 0, chosen, out=self.inputs)
        y = self.y.index_select(0, chosen)
        hidden = torch.addmm(b1, x, w1, out=self.hidden).relu_()
        shares = torch.addmm(b2, hidden, w2, out=self.logits).log_softmax(1)
        loss = nn.functional.nll_loss(shares, y)
        back = shares.exp_().scatter_add_(1, y[:, None], self.less).mul_(1 / BATCH)
        torch.mm(hidden.T, back, out=gw2)
        torch.sum(back, 0, out=gb2)
        of_hidden = torch.mm(back, w2.T, out=self.of_hidden).mul_(hidden > 0)
        torch.mm(x.T, of_hidden, out=gw1)
        torch.sum(of_hidden, 0, out=gb1)
        self.adam.step()
        return loss


class CompiledMlp:
    """The same, Adam included, as one function that torch.compile makes one piece of C++ of."""

    def __init__(self, x, y):
        self.x, self.y = x.reshape(len(x), -1), y
        model = network()
        tensors = [model[1].weight.T, model[1].bias, model[3].weight.T, model[3].bias]
        self.parameters = [it.detach().clone().contiguous() for it in tensors]
        self.means = [torch.zeros_like(it) for it in self.parameters]
        self.squares = [torch.zeros_like(it) for it in self.parameters]
        self.time = torch.zeros(())
        self.compiled = torch.compile(self.whole, fullgraph=True, options={"cpp_wrapper": True})

    @staticmethod
    def whole(x, y, chosen, parameters, means, squares, time):
        w1, b1, w2, b2 = parameters
        x, y = x.index_select(0, chosen), y.index_select(0, chosen)
        hidden = torch.addmm(b1, x, w1).relu()
        shares = torch.addmm(b2, hidden, w2).log_softmax(1)
        loss = nn.functional.nll_loss(shares, y)
        back = (shares.exp() - nn.functional.one_hot(y, 10)) * (1 / BATCH)
        of_hidden = (back @ w2.T) * (hidden > 0)
        gradients = x.T @ of_hidden, of_hidden.sum(0), hidden.T @ back, back.sum(0)
        time.add_(1)
        rate = 1e-3 * torch.sqrt(1 - 0.999**time) / (1 - 0.9**time)
        for p, m, v, g in zip(parameters, means, squares, gradients):
            m.mul_(0.9).add_(g, alpha=0.1)
            v.mul_(0.999).addcmul_(g, g, value=0.001)
            p.sub_(rate * m / (v.sqrt() + 1e-8))
        return loss

    @torch.no_grad()
    def step(self, chosen):
        own = self.parameters, self.means, self.squares, self.time
        return self.compiled(self.x, self.y, chosen, *own)


def main():
    x, y = map(torch.from_numpy, pictures())
    if "hand" in WORDS:
        step = (CompiledMlp if "compiled" in WORDS else HandWrittenMlp)(x, y).step
    else:
        step = by_autograd(x, y)
    of_epochs = (torch.from_numpy(epoch).unbind() for epoch in epochs(len(x)))
    all_batches = (batch for epoch in of_epochs for batch in epoch)

    def train(steps):
        total = torch.zeros(())
        for _ in range(steps):
            total += step(next(all_batches))
        return steps * BATCH, total.item() / steps

    serve(train)


main()
