"""Keras on TensorFlow and on JAX.

Variants: `fit` and `jax-fit` call model.fit on arrays with `steps_per_execution` and `jit_compile`;
`loop` is a custom loop over a chunk of steps compiled by `jit_compile`, `jax-loop` the same by
`lax.scan` over Keras's stateless calls. The loops gather their batches from the loaded set.
"""

import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["CUDA_VISIBLE_DEVICES"] = ""
os.environ["JAX_PLATFORMS"] = "cpu"

from measured import BATCH, CHUNK, CLASSES, THREADS, VARIANT, WORKLOAD, chunks, pictures, serve

ON_JAX = VARIANT.startswith("jax")
os.environ["KERAS_BACKEND"] = "jax" if ON_JAX else "tensorflow"

import keras
import numpy
from keras import layers

keras.utils.set_random_seed(1)
if not ON_JAX:
    import tensorflow

    tensorflow.config.threading.set_intra_op_parallelism_threads(THREADS)
    tensorflow.config.threading.set_inter_op_parallelism_threads(1)


def network():
    if WORKLOAD == "mobilenet":
        return keras.applications.MobileNetV2(
            (128, 128, 3), weights=None, classes=CLASSES[WORKLOAD], classifier_activation=None
        )
    # Weights start from the same distributions as ours, so that losses can be compared.
    he = {"activation": "relu", "kernel_initializer": "he_uniform"}
    if WORKLOAD == "mlp":
        kinds = [layers.Input((28, 28)), layers.Flatten(), layers.Dense(128, **he), layers.Dense(10)]
    elif WORKLOAD == "bilstm":
        uniform = keras.initializers.RandomUniform(-(128**-0.5), 128**-0.5)
        lstm = layers.LSTM(128, recurrent_initializer=uniform)
        kinds = [layers.Input((28, 28)), layers.Bidirectional(lstm), layers.Dense(10)]
    else:
        kinds = [
            layers.Input((64, 64, 3)),
            layers.Conv2D(32, 3, **he), layers.MaxPooling2D(),
            layers.Conv2D(64, 3, **he), layers.MaxPooling2D(),
            layers.Conv2D(64, 3, **he),
            layers.Flatten(), layers.Dense(64, **he), layers.Dense(5),
        ]  # fmt: skip
    return keras.Sequential(kinds)


def by_fit(model, adam, loss_of, x, y):
    model.compile(adam, loss_of, steps_per_execution=CHUNK, jit_compile=True)
    random = numpy.random.default_rng(1)

    def train(steps):
        total, left = 0.0, steps
        while left:
            count = min(left, len(x) // BATCH // CHUNK * CHUNK)
            start = int(random.integers(0, len(x) - count * BATCH + 1))
            own = slice(start, start + count * BATCH)
            history = model.fit(x[own], y[own], batch_size=BATCH, epochs=1, verbose=0)
            total += history.history["loss"][0] * count
            left -= count
        return steps * BATCH, total / steps

    return train


def by_tensorflow_loop(model, adam, loss_of, x, y):
    tf = tensorflow
    x, y = tf.constant(x), tf.constant(y)
    adam.build(model.trainable_variables)

    @tf.function(jit_compile=True)
    def make_chunk(x, y, chunk):
        total = tf.zeros(())
        for at in tf.range(CHUNK):
            chosen = chunk[at]
            with tf.GradientTape() as tape:
                loss = loss_of(tf.gather(y, chosen), model(tf.gather(x, chosen), training=True))
            gradients = tape.gradient(loss, model.trainable_variables)
            adam.apply_gradients(zip(gradients, model.trainable_variables))
            total += loss
        return total

    all_chunks = chunks(len(x))

    def train(steps):
        totals = [make_chunk(x, y, tf.constant(next(all_chunks))) for _ in range(steps // CHUNK)]
        return steps * BATCH, sum(float(it) for it in totals) / steps

    return train


def by_jax_loop(model, adam, loss_of, x, y):
    import jax
    import jax.numpy as jnp

    x, y = jnp.asarray(x), jnp.asarray(y)
    adam.build(model.trainable_variables)

    def loss_with_state(learned, other, xs, ys):
        logits, other = model.stateless_call(learned, other, xs, training=True)
        return loss_of(ys, logits), other

    gradient = jax.value_and_grad(loss_with_state, has_aux=True)

    def make_chunk(state, x, y, chunk):
        def step(state, chosen):
            learned, other, of_adam = state
            (loss, other), found = gradient(learned, other, x[chosen], y[chosen])
            learned, of_adam = adam.stateless_apply(of_adam, found, learned)
            return (learned, other, of_adam), loss

        state, losses = jax.lax.scan(step, state, chunk)
        return state, losses.sum()

    call = jax.jit(make_chunk, donate_argnums=0)
    values = lambda variables: [jnp.copy(it.value) for it in variables]
    state = tuple(map(values, [model.trainable_variables, model.non_trainable_variables, adam.variables]))
    all_chunks = chunks(len(x))

    def train(steps):
        nonlocal state
        total = 0.0
        for _ in range(steps // CHUNK):
            state, loss = call(state, x, y, next(all_chunks))
            total += loss
        return steps * BATCH, float(total) / steps

    return train


def main():
    x, y = pictures()
    loss_of = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    ways = {"fit": by_fit, "jax-fit": by_fit, "loop": by_tensorflow_loop, "jax-loop": by_jax_loop}
    serve(ways[VARIANT](network(), keras.optimizers.Adam(1e-3, epsilon=1e-8), loss_of, x, y))


main()
