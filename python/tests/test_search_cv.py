"""The search over settings of scikit-learn estimators."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

pytest.importorskip("sklearn")

from sklearn.base import clone  # noqa: E402
from sklearn.datasets import load_iris, make_regression  # noqa: E402
from sklearn.linear_model import LogisticRegression, Ridge  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import MinMaxScaler, StandardScaler  # noqa: E402
from sklearn.tree import DecisionTreeClassifier  # noqa: E402
from sklearn.utils.estimator_checks import parametrize_with_checks  # noqa: E402

from trainwright import InputError  # noqa: E402
from trainwright.sklearn import TrainwrightSearchCV  # noqa: E402

LOG = {"range": {"from": 0.001, "to": 1000.0}, "scale": "log"}


@parametrize_with_checks(
    [
        TrainwrightSearchCV(Ridge(), {"alpha": [0.1, 1.0]}, n_trials=2, cv=2, random_state=0),
        TrainwrightSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}, n_trials=2, cv=2, random_state=0),
    ],
)
def test_it_is_an_estimator_by_the_checks_of_scikit_learn(estimator: Any, check: Any) -> None:
    check(estimator)


def test_it_finds_the_regularisation_in_few_trials() -> None:
    x, y = make_regression(n_samples=60, n_features=40, noise=30, random_state=1)
    search = TrainwrightSearchCV(Ridge(), {"alpha": LOG}, n_trials=15, cv=4, random_state=3).fit(x, y)
    grid = [
        TrainwrightSearchCV(Ridge(), {"alpha": [alpha]}, cv=4).fit(x, y).best_score_
        for alpha in numpy.logspace(-3, 3, 60)
    ]
    assert search.best_score_ > max(grid) - 1e-3
    assert len(search.cv_results_["params"]) == 15
    assert "15 trials" in search.stop_reason_


def test_the_same_state_gives_the_same_candidates() -> None:
    x, y = load_iris(return_X_y=True)
    search = TrainwrightSearchCV(LogisticRegression(max_iter=500), {"C": LOG}, n_trials=6, random_state=5)
    tried = [clone(search).fit(x, y).cv_results_["params"] for _ in range(2)]
    assert tried[0] == tried[1]


def test_any_object_is_a_value_and_whole_numbers_stay_whole() -> None:
    x, y = load_iris(return_X_y=True)
    scalers = [StandardScaler(), MinMaxScaler(), None]
    pipeline = make_pipeline(StandardScaler(), DecisionTreeClassifier(random_state=0))
    space = {
        "standardscaler": [scalers[0], scalers[1], "passthrough"],
        "decisiontreeclassifier__max_depth": {"range": {"from": 1, "to": 6}},
        "decisiontreeclassifier__class_weight": [None, "balanced"],
        "decisiontreeclassifier__criterion": ["gini"],
    }
    search = TrainwrightSearchCV(pipeline, space, n_trials=12, cv=3, random_state=0).fit(x, y)
    depths = [own["decisiontreeclassifier__max_depth"] for own in search.cv_results_["params"]]
    assert all(isinstance(depth, int) and 1 <= depth <= 6 for depth in depths)
    assert {own["decisiontreeclassifier__criterion"] for own in search.cv_results_["params"]} == {"gini"}
    assert search.best_score_ > 0.9


def test_a_small_space_ends_when_all_is_tried() -> None:
    x, y = load_iris(return_X_y=True)
    search = TrainwrightSearchCV(LogisticRegression(max_iter=500), {"C": [0.1, 1.0, 10.0]}, n_trials=50, batch=2)
    search.fit(x, y)
    assert sorted(own["C"] for own in search.cv_results_["params"]) == [0.1, 1.0, 10.0]


def test_candidates_that_fail_are_passed_over() -> None:
    x, y = load_iris(return_X_y=True)
    search = TrainwrightSearchCV(LogisticRegression(max_iter=500), {"C": [-1.0, 1.0, 2.0]}, n_trials=3)
    with pytest.warns(Warning):
        search.fit(x, y)
    assert search.best_params_["C"] > 0


def test_several_scores_are_kept_and_one_decides() -> None:
    x, y = load_iris(return_X_y=True)
    search = TrainwrightSearchCV(
        LogisticRegression(max_iter=500),
        {"C": LOG},
        n_trials=4,
        scoring=["accuracy", "neg_log_loss"],
        refit="neg_log_loss",
        random_state=0,
    ).fit(x, y)
    assert search.best_index_ == numpy.argmax(search.cv_results_["mean_test_neg_log_loss"])


def test_an_unknown_method_is_named() -> None:
    x, y = load_iris(return_X_y=True)
    search = TrainwrightSearchCV(LogisticRegression(), {"C": LOG}, method="magic")
    with pytest.raises(InputError, match="magic"):
        search.fit(x, y)
