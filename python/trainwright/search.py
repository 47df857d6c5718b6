"""Searches that a program runs by itself, without a store."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ._native import NativeSearch
from ._typed import typed
from .results import Asked, AskedTrial, Configuration, Told
from .study import _draft


class Search:
    """Asks which configuration to try next and learns what came of it, in memory.

    >>> search = Search({"x": {"range": {"from": -2.0, "to": 2.0}}}, trials=20, seed=3)
    >>> while trial := search.ask():
    ...     x = trial.configuration["x"]
    ...     told = search.tell(trial, (x - 0.7) ** 2)
    >>> abs(search.best["x"] - 0.7) < 0.05
    True

    Methods are those of `[search]` in a study file: `bayesian` (the default), `tpe`, `random`,
    `grid`, `sobol`, `latin-hypercube`, `coordinate-descent`, `line` and `tuneful`.
    """

    def __init__(
        self,
        factors: Mapping[str, Sequence[Any] | Mapping[str, Any]],
        *,
        trials: int,
        method: str = "bayesian",
        direction: str = "minimize",
        seed: int = 0,
        **options: Any,
    ) -> None:
        """`options` are further keys of `[search]`, such as `stop={"gain": 0.01}`."""
        search = {"method": method, "budget": {"trials": trials}, **options}
        objective = {"value": {"objective": direction}}
        draft = _draft("search", factors, objective, None, search, seed, None, {})
        self._native = NativeSearch(json.dumps(draft))
        self.best: Configuration | None = None
        """The best configuration by now."""
        self.best_value: float | None = None
        """What it measured, on average."""
        self.stopped: str | None = None
        """Why there is nothing more to try, where that is so."""

    def ask(self) -> AskedTrial | None:
        """The next trial; None when there is nothing to try, or nothing before others are told."""
        trials = self.ask_many(1)
        return trials[0] if trials else None

    def ask_many(self, count: int) -> list[AskedTrial]:
        """Up to so many trials, to be run at the same time."""
        asked = typed(Asked, json.loads(self._native.ask(count)))
        self.stopped = asked.stopped
        return asked.trials

    def tell(self, trial: AskedTrial | int, value: float | None = None, *, failed: str | None = None) -> Told:
        """Learns the value of a trial, or why it failed; a value that is not finite diverged."""
        number = trial if isinstance(trial, int) else trial.trial
        values = {} if value is None else {"value": float(value)}
        told = typed(Told, json.loads(self._native.tell(number, values, failed, None)))
        self.best, self.best_value = told.best, told.best_value
        return told

    def run(self, function: Callable[[Configuration], float]) -> Configuration | None:
        """Tries what is asked for until nothing is, and gives the best configuration.

        An exception of `function` counts as a failed trial; KeyboardInterrupt ends the search.

        >>> search = Search({"a": [1, 2, 3]}, trials=3, method="grid")
        >>> search.run(lambda settings: (settings["a"] - 2) ** 2)
        {'a': 2}
        """
        while trial := self.ask():
            try:
                value = function(trial.configuration)
            except Exception as fault:
                self.tell(trial, failed=f"{type(fault).__name__}: {fault}")
            else:
                self.tell(trial, value)
        return self.best
