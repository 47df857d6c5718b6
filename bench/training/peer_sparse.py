"""Logistic regression by scikit-learn's SGDClassifier and by Vowpal Wabbit from its cache.

Variants: `fit` and `partial-fit` are whole fits and single passes of scikit-learn without penalty;
`sgd` and `adaptive` are Vowpal Wabbit's plain descent and its AdaGrad. Rates are constant and the
same as ours. The loss told is that of the test part after two passes, which ours tells too.
"""

import numpy

from measured import FOLDER, VARIANT, WORKLOAD, rows, serve

RATES = {"sgd": 0.02, "adaptive": 0.05}
CHECKED_PASSES = 2


def log_loss(margins, labels):
    signs = numpy.where(labels, 1.0, -1.0)
    return float(numpy.logaddexp(0, -signs * margins).mean())


def csr(part=""):
    import scipy.sparse

    starts, ids, labels = rows(part)
    ones = numpy.ones(len(ids), numpy.float32)
    features = max(int(rows(of)[1].max()) for of in ["", "-test"]) + 1
    shape = (len(labels), features)
    return scipy.sparse.csr_matrix((ones, ids, starts.astype(numpy.int32)), shape=shape), labels


def scikit_learn():
    from sklearn.linear_model import SGDClassifier

    x, y = csr()
    options = {"loss": "log_loss", "penalty": None, "learning_rate": "constant", "eta0": RATES["sgd"], "random_state": 1}
    single = SGDClassifier(**options)

    def passes(count):
        if VARIANT == "partial-fit":
            for _ in range(count):
                single.partial_fit(x, y, classes=[False, True])
        else:
            SGDClassifier(**options, max_iter=count, tol=None).fit(x, y)
        return count * len(y), loss

    test, labels = csr("-test")
    checked = SGDClassifier(**options, max_iter=CHECKED_PASSES, tol=None).fit(x, y)
    loss = log_loss(checked.decision_function(test), labels)
    serve(passes)


def vowpal_wabbit():
    import pylibvw

    rule = ["--sgd" if VARIANT == "sgd" else "--adaptive", "-l", str(RATES[VARIANT]), "--power_t"]
    rule += ["0" if VARIANT == "sgd" else "0.5"]
    words = [*rule, "-b", "20", "--loss_function", "logistic", "--holdout_off", "--quiet"]
    model = None

    def construct(part, *more):
        place = ["-d", str(FOLDER / f"{part}.vw"), "--cache_file", str(FOLDER / f"{part}.cache")]
        return pylibvw.vw([*words, *place, *map(str, more)])

    def ready(count):
        nonlocal model
        if model is not None:
            model.finish()
        model = construct(WORKLOAD, "--passes", count)

    def passes(count):
        model.run_parser()
        return int(model.get_weighted_examples()), loss

    learned = FOLDER / f"{WORKLOAD}-{VARIANT}.model"
    for part, more in [
        (WORKLOAD, ["--passes", CHECKED_PASSES, "-f", learned]),
        (f"{WORKLOAD}-test", ["-t", "-i", learned]),
    ]:
        checked = construct(part, *more)
        checked.run_parser()
        loss = checked.get_sum_loss() / checked.get_weighted_examples()
        checked.finish()
    serve(passes, ready)


vowpal_wabbit() if VARIANT in RATES else scikit_learn()
