"""TensorFlow and Keras: model.fit on arrays."""

import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["CUDA_VISIBLE_DEVICES"] = ""

import keras
import numpy
import tensorflow
from keras import layers

from measured import BATCH, CLASSES, THREADS, WORKLOAD, pictures, serve

tensorflow.config.threading.set_intra_op_parallelism_threads(THREADS)
tensorflow.config.threading.set_inter_op_parallelism_threads(1)
keras.utils.set_random_seed(1)


def network():
    if WORKLOAD == "mlp":
        return [layers.Input((28, 28)), layers.Flatten(), layers.Dense(128, "relu"), layers.Dense(10)]
    if WORKLOAD == "bilstm":
        return [layers.Input((28, 28)), layers.Bidirectional(layers.LSTM(128)), layers.Dense(10)]
    return [
        layers.Input((64, 64, 3)),
        layers.Conv2D(32, 3, activation="relu"), layers.MaxPooling2D(),
        layers.Conv2D(64, 3, activation="relu"), layers.MaxPooling2D(),
        layers.Conv2D(64, 3, activation="relu"),
        layers.Flatten(), layers.Dense(64, "relu"), layers.Dense(5),
    ]  # fmt: skip


def main():
    x, y = pictures()
    if WORKLOAD == "mobilenet":
        model = keras.applications.MobileNetV2(
            (128, 128, 3), weights=None, classes=CLASSES[WORKLOAD], classifier_activation=None
        )
    else:
        model = keras.Sequential(network())
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(optimizer=keras.optimizers.Adam(1e-3), loss=loss)
    random = numpy.random.default_rng(1)

    def train(steps):
        total, left = 0.0, steps
        while left:
            count = min(left, len(x) // BATCH)
            chosen = slice(None) if count == len(x) // BATCH else None
            if chosen is None:
                start = int(random.integers(0, len(x) - count * BATCH + 1))
                chosen = slice(start, start + count * BATCH)
            own = slice(chosen.start, (chosen.start or 0) + count * BATCH)
            history = model.fit(x[own], y[own], batch_size=BATCH, epochs=1, verbose=0)
            total += history.history["loss"][0] * count
            left -= count
        return steps * BATCH, total / steps

    serve(train)


main()
