"""JAX: steps that gather their batches from the loaded set, with Adam over the tree and donated memory.

Variants: `scan` makes a chunk of steps in one call by `lax.scan`; `step` calls one jitted step.
"""

import os

os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.numpy as jnp
import numpy
from jax import lax

from measured import BATCH, CHUNK, VARIANT, WORKLOAD, batches, chunks, pictures, serve

RANDOM = numpy.random.default_rng(1)


def uniform(limit, *shape):
    return jnp.asarray(RANDOM.uniform(-limit, limit, shape), jnp.float32)


def he(inputs, outputs):
    return uniform((6 / inputs) ** 0.5, inputs, outputs), jnp.zeros(outputs)


def glorot(inputs, outputs):
    return uniform((6 / (inputs + outputs)) ** 0.5, inputs, outputs), jnp.zeros(outputs)


def memory():
    """An LSTM's weights of inputs and memory, and biases, those of the forget gates 1."""
    biases = jnp.zeros(512).at[128:256].set(1)
    return glorot(28, 512)[0], uniform(128**-0.5, 128, 512), biases


def mlp(p, x):
    hidden = jax.nn.relu(x.reshape(len(x), -1) @ p[0][0] + p[0][1])
    return hidden @ p[1][0] + p[1][1]


def lstm(p, xs):
    """The last output over steps that come first."""
    wx, wh, b = p
    inputs = xs @ wx + b

    def step(memory, gates):
        h, c = memory
        i, f, g, o = jnp.split(gates + h @ wh, 4, axis=1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        return (jax.nn.sigmoid(o) * jnp.tanh(c), c), None

    zero = jnp.zeros((xs.shape[1], wh.shape[0]))
    return lax.scan(step, (zero, zero), inputs)[0][0]


def bilstm(p, x):
    xs = x.transpose(1, 0, 2)
    both = jnp.concatenate([lstm(p[0], xs), lstm(p[1], xs[::-1])], 1)
    return both @ p[2][0] + p[2][1]


NETWORKS = {
    "mlp": (mlp, lambda: [he(784, 128), glorot(128, 10)]),
    "bilstm": (
        bilstm,
        lambda: [memory(), memory(), glorot(256, 10)],
    ),
}


def main():
    apply, initial = NETWORKS[WORKLOAD]
    x, y = map(jnp.asarray, pictures())
    parameters = initial()
    zeros = jax.tree.map(jnp.zeros_like, parameters)

    def loss_of(parameters, xs, ys):
        logits = jax.nn.log_softmax(apply(parameters, xs))
        return -jnp.take_along_axis(logits, ys[:, None], 1).mean()

    def step(state, x, y, chosen):
        p, m, v, t, total = state
        loss, g = jax.value_and_grad(loss_of)(p, x[chosen], y[chosen])
        t = t + 1
        m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, m, g)
        v = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, v, g)
        rate = 1e-3 * jnp.sqrt(1 - 0.999**t) / (1 - 0.9**t)
        p = jax.tree.map(lambda p, m, v: p - rate * m / (jnp.sqrt(v) + 1e-8), p, m, v)
        return p, m, v, t, total + loss

    def scan(state, x, y, chunk):
        return lax.scan(lambda state, chosen: (step(state, x, y, chosen), None), state, chunk)[0]

    in_chunks = VARIANT == "scan"
    call = jax.jit(scan if in_chunks else step, donate_argnums=0)
    state = (parameters, zeros, jax.tree.map(jnp.copy, zeros), jnp.zeros(()), jnp.zeros(()))
    chosen = chunks(len(x)) if in_chunks else batches(len(x))

    def train(steps):
        nonlocal state
        state = (*state[:4], jnp.zeros(()))
        for _ in range(steps // CHUNK if in_chunks else steps):
            state = call(state, x, y, next(chosen).astype(numpy.int32))
        return steps * BATCH, float(state[4]) / steps

    serve(train)


main()
