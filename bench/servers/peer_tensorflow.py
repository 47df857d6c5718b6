"""Logistic regression by TensorFlow's ParameterServerStrategy: two workers, one server.

`peer_tensorflow.py TRAIN TEST FEATURES BATCH RATE STEPS ADDRESSES`: `ADDRESSES` are those of
the workers, then of the server; this process is the coordinator and starts them. Weights lie
in an embedding on the server, so that a step gathers and updates the rows of its batch alone. Steps
are scheduled ahead, as TensorFlow's guide says, and run on whichever worker is free. Prints one
line of JSON: steps, seconds, mean loss of the test part.
"""

import json
import multiprocessing
import os
import sys
import time

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["GRPC_FAIL_FAST"] = "use_caller"
os.environ["CUDA_VISIBLE_DEVICES"] = ""


def serve(cluster, kind, index):
    import tensorflow as tf

    os.environ["TF_CONFIG"] = json.dumps({"cluster": cluster, "task": {"type": kind, "index": index}})
    # One thread for arithmetic each, as ours have; fewer than four for operations may stop a worker
    # for good, as the guide of the strategy says.
    config = tf.compat.v1.ConfigProto(inter_op_parallelism_threads=4)
    config.intra_op_parallelism_threads = 1
    server = tf.distribute.Server(tf.train.ClusterSpec(cluster), job_name=kind, task_index=index, protocol="grpc", config=config)
    server.join()


def padded(ids, width):
    import numpy

    # The last row takes what is not there: its weight stays 0, for its value is 0.
    out = numpy.zeros((len(ids), width), numpy.int32)
    ones = numpy.zeros((len(ids), width), numpy.float32)
    for row, own in enumerate(ids):
        out[row, : len(own)] = own
        ones[row, : len(own)] = 1
    return out, ones


def main():
    train, test, features, batch, rate, steps = sys.argv[1:7]
    addresses = sys.argv[7].split(",")
    features, batch, rate, steps = int(features), int(batch), float(rate), int(steps)
    cluster = {"worker": addresses[:-1], "ps": [addresses[-1]]}
    start = multiprocessing.get_context("spawn")
    children = [start.Process(target=serve, args=(cluster, "worker", at), daemon=True) for at in range(len(addresses) - 1)]
    children.append(start.Process(target=serve, args=(cluster, "ps", 0), daemon=True))
    for child in children:
        child.start()

    import numpy
    import tensorflow as tf
    from data import rows

    resolver = tf.distribute.cluster_resolver.SimpleClusterResolver(tf.train.ClusterSpec(cluster), rpc_layer="grpc")
    strategy = tf.distribute.ParameterServerStrategy(resolver)
    coordinator = tf.distribute.coordinator.ClusterCoordinator(strategy)
    ids, labels = rows(train)
    width = max(map(len, ids))
    ids, ones = padded(ids, width)
    labels = numpy.array(labels, numpy.float32)
    order = numpy.random.default_rng(1)

    with strategy.scope():
        weights = tf.Variable(tf.zeros([features + 1]))
        bias = tf.Variable(0.0)

    def data():
        set_of = tf.data.Dataset.from_tensor_slices((ids, ones, labels)).cache()
        return set_of.shuffle(len(labels), seed=int(order.integers(1 << 30))).repeat().batch(batch, drop_remainder=True).prefetch(4)

    @tf.function
    def step(iterator):
        own, values, truth = next(iterator)
        with tf.GradientTape() as tape:
            rows_of = tf.gather(weights, own)
            margin = tf.reduce_sum(rows_of * values, axis=1) + bias
            loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=truth, logits=margin))
        by_weights, by_bias = tape.gradient(loss, [weights, bias])
        # Rows that come more than once add up in the server.
        weights.scatter_sub(tf.IndexedSlices(rate * by_weights.values, by_weights.indices))
        bias.assign_sub(rate * by_bias)
        return loss

    iterator = iter(coordinator.create_per_worker_dataset(data))
    for _ in range(20):
        coordinator.schedule(step, args=(iterator,))
    coordinator.join()
    begin = time.perf_counter()
    for _ in range(steps):
        coordinator.schedule(step, args=(iterator,))
    coordinator.join()
    seconds = time.perf_counter() - begin

    test_ids, test_labels = rows(test)
    final, shift = weights.numpy(), float(bias.numpy())
    margins = numpy.array([final[[own for own in row if own <= features]].sum() + shift for row in test_ids])
    signs = numpy.where(numpy.array(test_labels) > 0, 1.0, -1.0)
    loss = float(numpy.logaddexp(0, -signs * margins).mean())
    print(json.dumps({"steps": steps, "seconds": seconds, "test_loss": loss}), flush=True)
    for child in children:
        child.kill()


if __name__ == "__main__":
    main()
