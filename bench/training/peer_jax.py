"""JAX: one jitted step that gathers its batch, with Adam over the tree and donated memory."""

import os

os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.numpy as jnp
import numpy
from jax import lax

from measured import BATCH, WORKLOAD, batches, pictures, serve

RANDOM = numpy.random.default_rng(1)


def uniform(*shape):
    limit = (6 / numpy.prod(shape[:-1])) ** 0.5
    return jnp.asarray(RANDOM.uniform(-limit, limit, shape), jnp.float32)


def dense(inputs, outputs):
    return uniform(inputs, outputs), jnp.zeros(outputs)


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
    "mlp": (mlp, lambda: [dense(784, 128), dense(128, 10)]),
    "bilstm": (
        bilstm,
        lambda: [(uniform(28, 512), uniform(128, 512), jnp.zeros(512)) for _ in range(2)]
        + [dense(256, 10)],
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

    step = jax.jit(step, donate_argnums=0)
    state = [parameters, zeros, jax.tree.map(jnp.copy, zeros), jnp.zeros(()), jnp.zeros(())]
    state = tuple(state)
    all_batches = batches(len(x))

    def train(steps):
        nonlocal state
        state = (*state[:4], jnp.zeros(()))
        for _ in range(steps):
            state = step(state, x, y, next(all_batches).astype(numpy.int32))
        return steps * BATCH, float(state[4]) / steps

    serve(train)


main()
