"""Keras on TensorFlow and on JAX.

A variant is words: `fit` calls model.fit on arrays with `steps_per_execution`; `loop` is a custom
loop over a chunk of steps compiled as one function, `step` a custom step so compiled; both gather
their batches from the loaded set. They use `jit_compile`, but for `plain`, for TensorFlow's own
kernels are sometimes faster than XLA's. `jax` chooses Keras's JAX backend.
"""

import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["CUDA_VISIBLE_DEVICES"] = ""
os.environ["JAX_PLATFORMS"] = "cpu"

from measured import BATCH, CHUNK, CLASSES, THREADS, VARIANT, WORKLOAD, batches, chunks, pictures, serve

WORDS = VARIANT.split("-")
ON_JAX, IN_CHUNKS, JIT = "jax" in WORDS, "loop" in WORDS, "plain" not in WORDS
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
    model.compile(adam, loss_of, steps_per_execution=CHUNK, jit_compile=JIT)
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

    def step(x, y, chosen):
        with tf.GradientTape() as tape:
            loss = loss_of(tf.gather(y, chosen), model(tf.gather(x, chosen), training=True))
        gradients = tape.gradient(loss, model.trainable_variables)
        adam.apply_gradients(zip(gradients, model.trainable_variables))
        return loss

    def loop(x, y, chunk):
        total = tf.zeros(())
        for at in tf.range(CHUNK):
            total += step(x, y, chunk[at])
        return total

    call = tf.function(loop if IN_CHUNKS else step, jit_compile=JIT)
    chosen = chunks(len(x)) if IN_CHUNKS else batches(len(x))

    def train(steps):
        count = steps // CHUNK if IN_CHUNKS else steps
        totals = [call(x, y, tf.constant(next(chosen))) for _ in range(count)]
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

    def step(state, x, y, chosen):
        learned, other, of_adam = state
        (loss, other), found = gradient(learned, other, x[chosen], y[chosen])
        learned, of_adam = adam.stateless_apply(of_adam, found, learned)
        return (learned, other, of_adam), loss

    def loop(state, x, y, chunk):
        state, losses = jax.lax.scan(lambda state, chosen: step(state, x, y, chosen), state, chunk)
        return state, losses.sum()

    call = jax.jit(loop if IN_CHUNKS else step, donate_argnums=0)
    values = lambda variables: [jnp.copy(it.value) for it in variables]
    state = tuple(map(values, [model.trainable_variables, model.non_trainable_variables, adam.variables]))
    chosen = chunks(len(x)) if IN_CHUNKS else batches(len(x))

    def train(steps):
        nonlocal state
        total = 0.0
        for _ in range(steps // CHUNK if IN_CHUNKS else steps):
            state, loss = call(state, x, y, next(chosen))
            total += loss
        return steps * BATCH, float(total) / steps

    return train


def main():
    x, y = pictures()
    loss_of = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    way = by_fit if "fit" in WORDS else by_jax_loop if ON_JAX else by_tensorflow_loop
    serve(way(network(), keras.optimizers.Adam(1e-3, epsilon=1e-8), loss_of, x, y))


main()
