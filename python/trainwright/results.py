"""What studies and searches answer."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from . import _card

Configuration = dict[str, Any]


@dataclass(frozen=True)
class Coefficient:
    """One coefficient of a fitted equation; its figures are None where others determine it."""

    name: str
    estimate: float | None
    std_error: float | None
    t: float | None
    p: float | None
    ci_low: float | None
    ci_high: float | None
    vif: float | None
    aliased: bool = False


@dataclass(frozen=True)
class Fit:
    """Figures of a fitted equation."""

    r2: float
    adj_r2: float | None
    sigma: float | None
    f: float | None
    p: float | None
    df_model: int
    df_residual: int
    log_likelihood: float | None
    aic: float | None
    bic: float | None
    coefficients: list[Coefficient]


@dataclass(frozen=True)
class AnovaRow:
    """One line of an analysis of variance."""

    term: str
    df: int
    sum_sq: float | None
    mean_sq: float | None
    f: float | None
    p: float | None
    p_adjusted: float | None
    percent: float | None
    aliased: bool = False


@dataclass(frozen=True)
class AnovaTable:
    """An analysis of variance with sums of squares of one type."""

    type: int
    rows: list[AnovaRow]


@dataclass(frozen=True)
class Check:
    """An assumption, and whether the data contradict it; `holds` is None where nobody can tell."""

    name: str
    statistic: float | None
    p: float | None
    holds: bool | None
    verdict: str


@dataclass(frozen=True)
class Finding:
    """A statement that the data support."""

    id: str
    severity: str
    text: str


@dataclass(frozen=True)
class Effect:
    """What going from the low to the high level of a term does to the response."""

    term: str
    effect: float | None
    ci_low: float | None
    ci_high: float | None
    p: float | None
    p_adjusted: float | None
    percent: float | None


@dataclass(frozen=True)
class Best:
    """The best configuration measured."""

    configuration: Configuration
    mean: float
    ci_low: float | None
    ci_high: float | None
    n: int
    direction: str


@dataclass(frozen=True)
class Analysis:
    """What the measurements of a study say.

    `print(analysis)` gives the verdict in words, a notebook shows a card, and `raw` has everything
    else that `trainwright analyze --json` tells.
    """

    response: str
    formula: str
    alpha: float
    n: int
    fit: Fit
    anova: list[AnovaTable]
    checks: list[Check]
    findings: list[Finding]
    effects: list[Effect]
    best: Best | None
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)
    words: str = field(default="", repr=False, compare=False)

    def __str__(self) -> str:
        return self.words

    def _repr_html_(self) -> str:
        return _card.analysis(self)


@dataclass(frozen=True)
class RunResult:
    """How a run ended and what the study says so far."""

    study: str
    end: str
    """`complete`, `interrupted`, `budget-spent` or `no-metric`."""
    trials: dict[str, int]
    """How many trials are in each state, and in all (`total`)."""
    analysis: Analysis | None
    analysis_refused: str | None
    """Why there is no analysis yet."""
    words: str = field(default="", repr=False, compare=False)

    def __str__(self) -> str:
        return self.words

    def _repr_html_(self) -> str:
        return self.analysis._repr_html_() if self.analysis else _card.text(self.study, self.words)


@dataclass(frozen=True)
class Found:
    """A configuration with the means of what it measured."""

    configuration: Configuration
    trial: int
    replicates: int
    values: dict[str, float]


@dataclass(frozen=True)
class Importance:
    """How much of the variation factors cause."""

    factors: list[str]
    share: float


@dataclass(frozen=True)
class SearchResult:
    """What a search has found."""

    study: str
    method: str
    end: str | None
    stopped: str | None
    """Why the search stopped, in words."""
    trials: dict[str, int]
    seconds: float
    objectives: list[str]
    best: Found | None
    front: list[Found]
    """With several objectives: configurations that no other one beats."""
    importances: list[Importance]
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)
    words: str = field(default="", repr=False, compare=False)

    def __str__(self) -> str:
        return self.words

    def _repr_html_(self) -> str:
        return _card.text(self.study, self.words)


@dataclass(frozen=True)
class AskedTrial:
    """A trial to run."""

    trial: int
    replicate: int
    seed: int
    configuration: Configuration


@dataclass(frozen=True)
class Asked:
    """Trials to run, or why there are none."""

    trials: list[AskedTrial]
    wait: bool
    """Whether trials under way must end before there is more to run."""
    stopped: str | None
    """Why the search has stopped, where it has."""


@dataclass(frozen=True)
class Told:
    """What is known after a result was told."""

    trial: int
    state: str
    best: Configuration | None
    best_value: float | None


@dataclass(frozen=True)
class Series:
    """A quantity followed over a trial: a learning curve, or what it used of the machine."""

    name: str
    axis: str
    unit: str
    at: list[float]
    values: list[float]
