"""scikit-learn's SGDClassifier (whole fits and single passes) and Vowpal Wabbit from its cache."""

import time

import numpy

from measured import FOLDER, VARIANT, WORKLOAD, rows, serve


def csr():
    import scipy.sparse

    starts, ids, labels = rows()
    ones = numpy.ones(len(ids), numpy.float32)
    shape = (len(labels), int(ids.max()) + 1)
    matrix = scipy.sparse.csr_matrix((ones, ids, starts.astype(numpy.int32)), shape=shape)
    return matrix, labels.astype(int)


def scikit_learn():
    from sklearn.linear_model import SGDClassifier
    from sklearn.metrics import log_loss

    x, y = csr()
    options = {"loss": "log_loss", "learning_rate": "constant", "eta0": 0.02, "alpha": 1e-7}
    single = SGDClassifier(**options)

    def passes(count):
        if VARIANT == "partial-fit":
            for _ in range(count):
                single.partial_fit(x, y, classes=[0, 1])
            return count * len(y), 0.0
        SGDClassifier(**options, max_iter=count, tol=None).fit(x, y)
        return count * len(y), 0.0

    # One look at what is learned, outside of what is measured.
    check = SGDClassifier(**options, max_iter=2, tol=None).fit(x, y)
    loss = log_loss(y[:20000], check.predict_proba(x[:20000])[:, 1])
    serve(lambda count: (passes(count)[0], loss))


def vowpal_wabbit():
    from vowpalwabbit import Workspace

    file, cache = FOLDER / f"{WORKLOAD}.vw", FOLDER / f"{WORKLOAD}.cache"
    words = f"-d {file} --cache_file {cache} -b 20 --loss_function logistic --holdout_off --quiet"

    def passes(count):
        model = Workspace(f"{words} --passes {count}")
        loss = model.get_sum_loss() / max(model.get_weighted_examples(), 1)
        examples = int(model.get_weighted_examples())
        model.finish()
        return examples, loss

    passes(1)
    serve(passes)


vowpal_wabbit() if VARIANT == "vw" else scikit_learn()
