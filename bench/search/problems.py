"""What is searched: functions with known minima, recorded trainings, real tunings."""

import csv
import math
import pathlib
import random

HERE = pathlib.Path(__file__).parent


def real(low, high, log=False):
    return {"kind": "real", "low": low, "high": high, "log": log}


def whole(low, high, log=False):
    return {"kind": "whole", "low": low, "high": high, "log": log}


def choice(*values):
    return {"kind": "choice", "values": list(values)}


def branin(c):
    x, y = c["a"], c["b"]
    bent = y - 5.1 / (4 * math.pi**2) * x * x + 5 / math.pi * x - 6
    return bent**2 + 10 * (1 - 1 / (8 * math.pi)) * math.cos(x) + 10


A6 = [[10, 3, 17, 3.5, 1.7, 8], [0.05, 10, 17, 0.1, 8, 14], [3, 3.5, 1.7, 10, 17, 8], [17, 8, 0.05, 10, 0.1, 14]]
P6 = [
    [0.1312, 0.1696, 0.5569, 0.0124, 0.8283, 0.5886],
    [0.2329, 0.4135, 0.8307, 0.3736, 0.1004, 0.9991],
    [0.2348, 0.1451, 0.3522, 0.2883, 0.3047, 0.6650],
    [0.4047, 0.8828, 0.8732, 0.5743, 0.1091, 0.0381],
]


def hartmann6(c):
    x = [c[f"x{i}"] for i in range(6)]
    weights = [1.0, 1.2, 3.0, 3.2]
    return -sum(
        w * math.exp(-sum(a * (v - p) ** 2 for a, v, p in zip(A6[i], x, P6[i])))
        for i, w in enumerate(weights)
    )


def ackley4(c):
    x = [c[f"x{i}"] for i in range(4)]
    squares = sum(v * v for v in x) / 4
    waves = sum(math.cos(2 * math.pi * v) for v in x) / 4
    return 20 + math.e - 20 * math.exp(-0.2 * math.sqrt(squares)) - math.exp(waves)


def rosenbrock3(c):
    x = [c[f"x{i}"] for i in range(3)]
    return sum(100 * (x[i + 1] - x[i] ** 2) ** 2 + (1 - x[i]) ** 2 for i in range(2))


def levy4(c):
    w = [1 + (c[f"x{i}"] - 1) / 4 for i in range(4)]
    middle = sum((v - 1) ** 2 * (1 + 10 * math.sin(math.pi * v + 1) ** 2) for v in w[:-1])
    return math.sin(math.pi * w[0]) ** 2 + middle + (w[-1] - 1) ** 2 * (1 + math.sin(2 * math.pi * w[-1]) ** 2)


def styblinski3(c):
    return sum(v**4 - 16 * v * v + 5 * v for v in (c[f"x{i}"] for i in range(3))) / 2


def mixed(c):
    rate = math.log10(c["lr"] / 0.03) ** 2
    size = math.log2(c["batch"] / 64) ** 2 / 16
    kind = {"sgd": 0.25, "adam": 0.0, "rms": 0.4}[c["optimizer"]]
    depth = 0.05 * abs(c["layers"] - 3)
    return 0.2 + rate + size + kind + depth + (0.3 * rate if c["optimizer"] == "sgd" else 0)


MIXED = {
    "lr": real(1e-5, 1.0, True),
    "batch": whole(8, 512, True),
    "optimizer": choice("sgd", "adam", "rms"),
    "layers": whole(1, 6),
}


def cube(width, low, high):
    return {f"x{i}": real(low, high) for i in range(width)}


def with_noise(function, deviation):
    def noisy(c, chance):
        return function(c) + chance.gauss(0, deviation)

    return noisy


def quiet(function):
    return lambda c, chance: function(c)


def surface(path):
    """A recorded training: the mean of all trials of a configuration of the grid."""
    rows = list(csv.DictReader(open(path)))
    names = [name for name in rows[0] if name != "value"]
    table = {}
    for row in rows:
        key = tuple(row[name] for name in names)
        table.setdefault(key, []).append(float(row["value"]))
    space = {name: choice(*dict.fromkeys(row[name] for row in rows)) for name in names}
    numeric = {}
    for name, own in space.items():
        try:
            space[name] = {"kind": "levels", "values": sorted(own["values"], key=float)}
            numeric[name] = True
        except ValueError:
            pass

    def value(c, chance):
        own = table[tuple(str(c[name]) for name in names)]
        return sum(own) / len(own)

    return space, value


def problems():
    found = {
        "branin": ({"a": real(-5, 10), "b": real(0, 15)}, quiet(branin), branin),
        "hartmann6": (cube(6, 0, 1), quiet(hartmann6), hartmann6),
        "ackley4": (cube(4, -10, 10), quiet(ackley4), ackley4),
        "rosenbrock3": (cube(3, -2, 2), quiet(rosenbrock3), rosenbrock3),
        "levy4": (cube(4, -10, 10), quiet(levy4), levy4),
        "styblinski3": (cube(3, -5, 5), quiet(styblinski3), styblinski3),
        "mixed": (MIXED, quiet(mixed), mixed),
        "branin-noisy": ({"a": real(-5, 10), "b": real(0, 15)}, with_noise(branin, 5.0), branin),
        "hartmann6-noisy": (cube(6, 0, 1), with_noise(hartmann6, 0.1), hartmann6),
        "mixed-noisy": (MIXED, with_noise(mixed, 0.1), mixed),
    }
    for path in sorted((HERE / "surfaces").glob("*.csv")):
        space, value = surface(path)
        found[f"recorded-{path.stem}"] = (space, value, lambda c, value=value: value(c, None))
    found.update(tunings())
    return found


def tunings():
    """Cross-validated errors of scikit-learn on its bundled sets."""
    try:
        import sklearn  # noqa: F401
    except ImportError:
        return {}
    return {
        "svm-digits": ({"C": real(1e-3, 1e3, True), "gamma": real(1e-6, 1.0, True)}, quiet(svm_digits), svm_digits),
        "forest-wine": (
            {"trees": whole(5, 100, True), "depth": whole(1, 16), "features": real(0.1, 1.0), "leaf": whole(1, 20)},
            quiet(forest_wine),
            forest_wine,
        ),
        "boosting-cancer": (
            {"rate": real(0.01, 1.0, True), "trees": whole(5, 80, True), "depth": whole(1, 6), "share": real(0.3, 1.0)},
            quiet(boosting_cancer),
            boosting_cancer,
        ),
        "ridge-diabetes": (
            {"alpha": real(1e-4, 1e3, True), "gamma": real(1e-3, 10.0, True), "kernel": choice("rbf", "laplacian", "linear")},
            quiet(ridge_diabetes),
            ridge_diabetes,
        ),
    }


def cross_validated(model, data, scoring):
    from sklearn.model_selection import cross_val_score

    return -float(cross_val_score(model, *data, cv=3, scoring=scoring).mean())


def svm_digits(c):
    from sklearn.datasets import load_digits
    from sklearn.svm import SVC

    x, y = load_digits(return_X_y=True)
    return 1 + cross_validated(SVC(C=c["C"], gamma=c["gamma"]), (x[:600], y[:600]), "accuracy")


def forest_wine(c):
    from sklearn.datasets import load_wine
    from sklearn.ensemble import RandomForestClassifier

    model = RandomForestClassifier(
        n_estimators=c["trees"], max_depth=c["depth"], max_features=c["features"], min_samples_leaf=c["leaf"], random_state=1
    )
    return cross_validated(model, load_wine(return_X_y=True), "neg_log_loss")


def boosting_cancer(c):
    from sklearn.datasets import load_breast_cancer
    from sklearn.ensemble import GradientBoostingClassifier

    model = GradientBoostingClassifier(
        learning_rate=c["rate"], n_estimators=c["trees"], max_depth=c["depth"], subsample=c["share"], random_state=1
    )
    return cross_validated(model, load_breast_cancer(return_X_y=True), "neg_log_loss")


def ridge_diabetes(c):
    from sklearn.datasets import load_diabetes
    from sklearn.kernel_ridge import KernelRidge

    gamma = {} if c["kernel"] == "linear" else {"gamma": c["gamma"]}
    x, y = load_diabetes(return_X_y=True)
    return cross_validated(KernelRidge(alpha=c["alpha"], kernel=c["kernel"], **gamma), (x * 20, (y - 150) / 80), "neg_mean_squared_error")


def study(name, space):
    """The space as a study file."""
    lines = ["schema = 1", "[study]", f'name = "{name}"']
    for factor, own in space.items():
        lines.append(f"[factors.{factor}]")
        if own["kind"] == "real":
            lines.append(f"range = {{ from = {float(own['low'])!r}, to = {float(own['high'])!r} }}")
        elif own["kind"] == "whole":
            lines.append(f"range = {{ from = {own['low']}, to = {own['high']} }}")
        elif own["kind"] == "levels":
            lines.append("levels = [" + ", ".join(own["values"]) + "]")
            # Peers see the numbers of levels; those of rates and sizes go by ratio.
            if float(own["values"][0]) > 0 and float(own["values"][-1]) >= 8 * float(own["values"][0]):
                lines.append('scale = "log"')
        else:
            lines.append("levels = [" + ", ".join(f'"{value}"' for value in own["values"]) + "]")
        if own.get("log"):
            lines.append('scale = "log"')
    lines += ["[metrics.y]", 'objective = "minimize"']
    return "\n".join(lines) + "\n"


def chance(problem, seed):
    return random.Random(f"{problem} {seed}")
