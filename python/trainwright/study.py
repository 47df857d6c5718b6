"""Studies: loaded or built, run, and read back."""

from __future__ import annotations

import datetime
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import progress as _progress
from ._native import NativeStudy
from ._program import program
from ._typed import typed
from .results import Analysis, Asked, RunResult, SearchResult, Series, Told
from .table import Trials

PathLike = str | os.PathLike[str]


@dataclass(frozen=True)
class _RunOptions:
    program: str
    slots: int | None
    flush: bool
    retry_failed: bool
    accept_command: bool
    replay: str | None


class Study:
    """A question with factors, metrics, a design or a search, and its trials.

    >>> import tempfile
    >>> study = Study.build(
    ...     "speed",
    ...     factors={"threads": [1, 2], "batch": {"levels": [32, 256], "scale": "log2"}},
    ...     design={"type": "full", "replications": 3},
    ...     command=["python3", "train.py", "--threads", "{threads}", "--batch", "{batch}"],
    ...     metrics={"rate": {"objective": "maximize"}},
    ...     folder=tempfile.mkdtemp(),
    ... )
    >>> study.name, study.factors
    ('speed', ['threads', 'batch'])
    >>> len(study.check()["trials"])
    12
    """

    def __init__(self, native: NativeStudy) -> None:
        self._native = native
        self._description: dict[str, Any] = json.loads(native.describe())

    @classmethod
    def load(cls, path: PathLike, *, store: PathLike | None = None) -> Study:
        """Reads and checks a study file.

        Trials are kept in `store`, or in `trainwright.db` beside the file.
        """
        return cls(NativeStudy.load(os.fspath(path), _path(store)))

    @classmethod
    def build(
        cls,
        name: str,
        *,
        factors: Mapping[str, Sequence[Any] | Mapping[str, Any]],
        metrics: Mapping[str, Mapping[str, Any]] | Sequence[str],
        design: Mapping[str, Any] | None = None,
        search: Mapping[str, Any] | None = None,
        command: Sequence[Any] | None = None,
        job: Mapping[str, Any] | None = None,
        seed: int = 0,
        description: str | None = None,
        folder: PathLike = ".",
        store: PathLike | None = None,
        **tables: Any,
    ) -> Study:
        """Checks a study that is put together in code, with the keys of a study file.

        A factor is a list of its levels, or a table such as
        `{"range": {"from": 1e-4, "to": 0.1}, "scale": "log"}`. `tables` are the others of a study
        file: `analysis`, `run`, `budget`, `constraint`, `telemetry`, `echo`, `engine`.
        Commands run in `folder`, and the store lies there unless `store` names another place.
        """
        draft = _draft(name, factors, metrics, design, search, seed, description, tables)
        if job is not None:
            draft["job"] = dict(job)
        if command is not None:
            draft["run"] = {**draft.get("run", {}), "command": list(command)}
        return cls(NativeStudy.from_json(json.dumps(draft), os.fspath(folder), _path(store)))

    @property
    def name(self) -> str:
        """The study's name."""
        return str(self._description["name"])

    @property
    def factors(self) -> list[str]:
        """Names of the factors."""
        return [factor["name"] for factor in self._description["factors"]]

    @property
    def metrics(self) -> list[str]:
        """Names of the metrics."""
        return [metric["name"] for metric in self._description["metrics"]]

    @property
    def description(self) -> dict[str, Any]:
        """Everything that the study says."""
        return self._description

    @property
    def store(self) -> Path:
        """The file that keeps its trials."""
        return Path(self._native.store)

    def trial_folder(self, trial: int) -> Path:
        """The folder of a trial, with what it printed and the files that it left."""
        return Path(self._native.trial_folder(trial))

    def check(self) -> dict[str, Any]:
        """What the study will do, before a minute is spent: rows, aliases, power, hours."""
        answer: dict[str, Any] = json.loads(self._native.check(os.fspath(program()))[0])
        return answer

    def run(
        self,
        progress: _progress.Callback | None = None,
        *,
        slots: int | None = None,
        retry_failed: bool = False,
        accept_command: bool = False,
        flush: bool = True,
        replay: PathLike | None = None,
    ) -> RunResult:
        """Runs what is left of the study, whatever happened before.

        `progress` hears what happens (see `trainwright.progress`); without it there is a bar in a
        notebook and a line on a terminal. Other Python threads go on meanwhile. Ctrl-C stops the
        trials under way in an orderly way and raises KeyboardInterrupt when all that ended is kept;
        pressed twice, it kills them. Either way the next `run` goes on. So does an exception in
        `progress`.
        """
        options = self._options(slots, flush, retry_failed, accept_command, replay)
        text, words = self._native.run(options, progress or _progress.automatic())
        answer = json.loads(text)
        analysis = answer.pop("analysis")
        if analysis is not None:
            analysis = _analysis(analysis, words)
        return RunResult(
            study=answer["study"],
            end=answer["end"],
            trials=answer["trials"],
            analysis=analysis,
            analysis_refused=answer["analysis_refused"],
            words=words,
        )

    def search(
        self,
        progress: _progress.Callback | None = None,
        *,
        slots: int | None = None,
        accept_command: bool = False,
        flush: bool = True,
    ) -> SearchResult:
        """Runs the study's search, or goes on where it stopped; as `run` does."""
        options = self._options(slots, flush, False, accept_command, None)
        return _found(*self._native.search(options, progress or _progress.automatic()))

    def found(self) -> SearchResult:
        """What the study's search has found by now."""
        return _found(*self._native.found())

    def trials(self, *, usage: bool = False) -> Trials:
        """The trials, one row each; with what they used of the machine where `usage` is true."""
        return Trials(self._native.trials(usage))

    def series(self, trial: int) -> list[Series]:
        """Learning curves of a trial, and what it used of the machine over time."""
        return [typed(Series, own) for own in json.loads(self._native.series(trial))]

    def status(self) -> dict[str, Any]:
        """How far the study has come."""
        answer: dict[str, Any] = json.loads(self._native.status()[0])
        return answer

    def analyze(self, *, types: Sequence[int] = (1, 2, 3), coded: bool = True) -> Analysis:
        """Fits the study's equation to its finished trials and says what that means.

        `types` are the types of the sums of squares, `coded` scales factors to -1 and +1.
        """
        text, words = self._native.analyze(list(types), coded)
        return _analysis(json.loads(text), words)

    def report(self, path: PathLike) -> Path:
        """Writes everything about the study as one HTML file."""
        now = datetime.datetime.now().astimezone().strftime("%Y-%m-%d %H:%M:%S %z")
        self._native.report(os.fspath(path), now)
        return Path(path)

    def ask(self, count: int = 1) -> Asked:
        """Asks the study's search which trials to run next; they are kept as under way.

        >>> import tempfile
        >>> study = Study.build(
        ...     "valley",
        ...     factors={"x": {"range": {"from": -1.0, "to": 1.0}}},
        ...     metrics={"loss": {"objective": "minimize"}},
        ...     search={"method": "sobol", "budget": {"trials": 8}},
        ...     folder=tempfile.mkdtemp(),
        ... )
        >>> while asked := study.ask().trials:
        ...     x = asked[0].configuration["x"]
        ...     told = study.tell(asked[0].trial, loss=x * x)
        >>> told.best_value < 0.1
        True
        """
        return typed(Asked, json.loads(self._native.ask(count)))

    def tell(
        self,
        trial: int,
        values: Mapping[str, float] | None = None,
        /,
        *,
        failed: str | None = None,
        seconds: float | None = None,
        **metrics: float,
    ) -> Told:
        """Keeps what came of a trial that was asked for: its metrics, or why it failed."""
        told = {name: float(value) for name, value in {**(values or {}), **metrics}.items()}
        return typed(Told, json.loads(self._native.tell(trial, told, failed, seconds)))

    def __repr__(self) -> str:
        return f"<Study {self.name!r}: {', '.join(self.factors)} -> {', '.join(self.metrics)}>"

    def _options(
        self,
        slots: int | None,
        flush: bool,
        retry_failed: bool,
        accept_command: bool,
        replay: PathLike | None,
    ) -> _RunOptions:
        return _RunOptions(os.fspath(program()), slots, flush, retry_failed, accept_command, _path(replay))


def _draft(
    name: str,
    factors: Mapping[str, Sequence[Any] | Mapping[str, Any]],
    metrics: Mapping[str, Mapping[str, Any]] | Sequence[str],
    design: Mapping[str, Any] | None,
    search: Mapping[str, Any] | None,
    seed: int,
    description: str | None,
    tables: Mapping[str, Any],
) -> dict[str, Any]:
    """A study with the keys of a study file."""
    draft: dict[str, Any] = {
        "schema": 1,
        "study": {"name": name, "seed": seed, "description": description},
        "factors": {
            own: dict(levels) if isinstance(levels, Mapping) else {"levels": list(levels)}
            for own, levels in factors.items()
        },
        "metrics": (
            {own: dict(rule) for own, rule in metrics.items()}
            if isinstance(metrics, Mapping)
            else {own: {} for own in metrics}
        ),
        **tables,
    }
    if design is not None:
        draft["design"] = dict(design)
    if search is not None:
        draft["search"] = dict(search)
    return draft


def _analysis(answer: dict[str, Any], words: str) -> Analysis:
    return typed(Analysis, {**answer, "raw": answer, "words": words})


def _found(text: str, words: str) -> SearchResult:
    answer = json.loads(text)
    return typed(SearchResult, {**answer, "raw": answer, "words": words})


def _path(path: PathLike | None) -> str | None:
    return None if path is None else os.fspath(path)
