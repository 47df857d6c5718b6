"""A search over the settings of a scikit-learn estimator."""

from __future__ import annotations

import numbers
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy
from sklearn.exceptions import FitFailedWarning
from sklearn.model_selection._search import BaseSearchCV
from sklearn.utils import check_random_state, get_tags
from sklearn.utils._param_validation import Interval

from .search import Search

_FAILED = "the score is not a number"


class TrainwrightSearchCV(BaseSearchCV):
    """Finds good settings of an estimator by cross-validation, as GridSearchCV does, in few trials.

    Each setting of `param_space` is a list of values, or a table as in a study file, such as
    `{"range": {"from": 1e-4, "to": 10.0}, "scale": "log"}`; a range between whole numbers gives whole
    numbers. The next candidates are chosen by what is known of the others: `method` is `bayesian`
    (a Gaussian process), `tpe`, `random`, `sobol`, `latin-hypercube` or `grid`. With `batch` above 1
    so many candidates are evaluated at the same time, on `n_jobs` processors.

    The search ends after `n_trials` candidates, or when there is nothing left to try. Afterwards
    `best_params_`, `best_score_`, `best_estimator_` and `cv_results_` are as in GridSearchCV, and
    `stop_reason_` says why it ended.

    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> space = {"C": {"range": {"from": 0.01, "to": 100.0}, "scale": "log"}, "kernel": ["rbf", "linear"]}
    >>> search = TrainwrightSearchCV(SVC(), space, n_trials=8, cv=3, random_state=0)
    >>> bool(search.fit(*load_iris(return_X_y=True)).best_score_ > 0.95)
    True
    """

    _parameter_constraints: dict[str, Any] = {
        **BaseSearchCV._parameter_constraints,
        "param_space": [dict],
        "n_trials": [Interval(numbers.Integral, 1, None, closed="left")],
        "batch": [Interval(numbers.Integral, 1, None, closed="left")],
        "method": [str],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        estimator: Any,
        param_space: Mapping[str, Any],
        *,
        n_trials: int = 20,
        method: str = "bayesian",
        batch: int = 1,
        scoring: Any = None,
        n_jobs: int | None = None,
        refit: bool | str | Callable[..., Any] = True,
        cv: Any = None,
        verbose: int = 0,
        pre_dispatch: str | int = "2*n_jobs",
        random_state: Any = None,
        error_score: Any = numpy.nan,
        return_train_score: bool = False,
    ) -> None:
        super().__init__(
            estimator=estimator,
            scoring=scoring,
            n_jobs=n_jobs,
            refit=refit,
            cv=cv,
            verbose=verbose,
            pre_dispatch=pre_dispatch,
            error_score=error_score,
            return_train_score=return_train_score,
        )
        self.param_space = param_space
        self.n_trials = n_trials
        self.method = method
        self.batch = batch
        self.random_state = random_state

    stop_reason_: str | None

    def __sklearn_tags__(self) -> Any:
        """Takes as many targets as the estimator does."""
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = get_tags(self.estimator).target_tags.multi_output
        return tags

    def _run_search(self, evaluate_candidates: Callable[[list[dict[str, Any]]], dict[str, Any]]) -> None:
        """Asks for candidates, has them evaluated, and tells what came of them."""
        space = _Space(self.param_space)
        if not space.factors:
            evaluate_candidates([space.settings({})])
            self.stop_reason_ = "there is only one candidate"
            return
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        search = Search(
            space.factors, trials=self.n_trials, method=self.method, direction="maximize", seed=seed
        )
        fault: ValueError | None = None
        while trials := search.ask_many(self.batch):
            try:
                results = evaluate_candidates([space.settings(trial.configuration) for trial in trials])
            except ValueError as own:
                # Others may do better, so that candidates that all fail do not end the search.
                if not str(own).lstrip().startswith("All the"):
                    raise
                warnings.warn(str(own), FitFailedWarning)
                fault = own
                scores = [numpy.nan] * len(trials)
            else:
                scores = results[self._score_column()][-len(trials) :]
            for trial, score in zip(trials, scores):
                search.tell(trial, score) if numpy.isfinite(score) else search.tell(trial, failed=_FAILED)
        if fault is not None and search.best is None:
            raise fault
        self.stop_reason_ = search.stopped

    def _score_column(self) -> str:
        """The scores that the search makes large: those of `refit`, or of the first metric."""
        if isinstance(self.refit, str):
            return f"mean_test_{self.refit}"
        if isinstance(self.scoring, Mapping | list | tuple):
            return f"mean_test_{next(iter(self.scoring))}"
        return "mean_test_score"


class _Space:
    """The settings of an estimator as factors, whose names and levels are those of a study."""

    def __init__(self, space: Mapping[str, Any]) -> None:
        self.factors: dict[str, Any] = {}
        self._constant: dict[str, Any] = {}
        self._names: dict[str, str] = {}
        self._values: dict[str, list[Any]] = {}
        for place, (name, own) in enumerate(space.items()):
            factor = f"setting_{place}"
            if isinstance(own, Mapping):
                self.factors[factor] = dict(own)
            else:
                values = list(own)
                if len(values) == 1:
                    self._constant[name] = values[0]
                    continue
                self.factors[factor] = _levels(values)
                if not _are_numbers(values):
                    self._values[factor] = values
            self._names[factor] = name

    def settings(self, configuration: Mapping[str, Any]) -> dict[str, Any]:
        """The settings that a configuration stands for."""
        settings = dict(self._constant)
        for factor, level in configuration.items():
            values = self._values.get(factor)
            settings[self._names[factor]] = level if values is None else values[int(level.split(" ")[1])]
        return settings


def _levels(values: list[Any]) -> list[Any]:
    """Numbers as they are; anything else, such as an estimator, by its place in the list."""
    if not _are_numbers(values):
        return [f"value {place}" for place in range(len(values))]
    return [int(own) if isinstance(own, numbers.Integral) else float(own) for own in values]


def _are_numbers(values: list[Any]) -> bool:
    return all(isinstance(own, numbers.Real) and not isinstance(own, bool | numpy.bool_) for own in values)
