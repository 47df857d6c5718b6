"""Statistical tests on arrays: those of `trainwright stats`, with what they mean in words.

Samples are lists, numpy arrays, or columns of a data frame. Values that are NaN count as missing and
are left out, row by row where rows belong together.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ._native import statistical_test as _test
from ._native import statistical_tests as _tests

Sample = Iterable[float]
Groups = Mapping[str, Sample]


@dataclass(frozen=True)
class TestResult:
    """What a test gave. Figures are attributes too: `result.p`, `result.df`, ..."""

    test: str
    figures: dict[str, Any]
    meaning: list[str] = field(repr=False)
    """What the figures mean, sentence by sentence."""
    words: str = field(default="", repr=False, compare=False)

    # Not a test of pytest's.
    __test__ = False

    def __getattr__(self, name: str) -> Any:
        try:
            return self.__dict__["figures"][name]
        except KeyError:
            known = ", ".join(self.__dict__.get("figures", {}))
            raise AttributeError(f"the result has no figure `{name}`; it has {known}") from None

    def __str__(self) -> str:
        return self.words

    def _repr_html_(self) -> str:
        from . import _card

        return _card.text(self.test, self.words)


@dataclass(frozen=True)
class _Question:
    test: str
    column: str | None = None
    by: str | None = None
    with_column: str | None = None
    formula: str | None = None
    method: str | None = None
    statistic: str | None = None
    ratio: bool = False
    seed: int | None = None


def names() -> list[str]:
    """Names of all tests.

    >>> "shapiro-wilk" in names()
    True
    """
    return _tests()


def shapiro_wilk(sample: Sample) -> TestResult:
    """Whether a sample came from a normal distribution.

    >>> round(shapiro_wilk([148, 154, 158, 160, 161, 162, 166, 170, 182, 195, 236]).statistic, 4)
    0.7888
    """
    return _of_sample("shapiro-wilk", sample)


def anderson_darling(sample: Sample) -> TestResult:
    """Whether a sample came from a normal distribution, with weight on its tails."""
    return _of_sample("anderson-darling", sample)


def lilliefors(sample: Sample) -> TestResult:
    """Whether a sample came from a normal distribution, by the largest distance."""
    return _of_sample("lilliefors", sample)


def jarque_bera(sample: Sample) -> TestResult:
    """Whether skewness and kurtosis are those of a normal distribution."""
    return _of_sample("jarque-bera", sample)


def dagostino(sample: Sample) -> TestResult:
    """Whether skewness and kurtosis are those of a normal distribution, for smaller samples."""
    return _of_sample("dagostino", sample)


def bartlett(*groups: Sample, **named: Sample) -> TestResult:
    """Whether groups have the same variance, if they are normal."""
    return _of_groups("bartlett", groups, named)


def levene(*groups: Sample, **named: Sample) -> TestResult:
    """Whether groups have the same variance, by distances from their means."""
    return _of_groups("levene", groups, named)


def brown_forsythe(*groups: Sample, **named: Sample) -> TestResult:
    """Whether groups have the same variance, by distances from their medians."""
    return _of_groups("brown-forsythe", groups, named)


def fligner(*groups: Sample, **named: Sample) -> TestResult:
    """Whether groups have the same variance, by ranks."""
    return _of_groups("fligner", groups, named)


def kruskal(*groups: Sample, **named: Sample) -> TestResult:
    """Whether groups have the same distribution, by ranks."""
    return _of_groups("kruskal", groups, named)


def welch(*groups: Sample, **named: Sample) -> TestResult:
    """Whether groups have the same mean, whatever their variances."""
    return _of_groups("welch", groups, named)


def anova(*groups: Sample, **named: Sample) -> TestResult:
    """Whether groups have the same mean, if their variances are equal.

    >>> round(anova([6, 8, 4, 5, 3, 4], [8, 12, 9, 11, 6, 8], [13, 9, 11, 8, 7, 12]).statistic, 2)
    9.26
    """
    return _of_groups("anova", groups, named)


def tukey(*groups: Sample, **named: Sample) -> TestResult:
    """Which groups differ in their means: `result.pairs`."""
    return _of_groups("tukey", groups, named)


def welch_t(first: Sample, second: Sample) -> TestResult:
    """Whether two groups have the same mean, whatever their variances.

    >>> result = welch_t([20.1, 19.8, 20.4, 20.0], [21.9, 22.4, 21.8, 22.1])
    >>> result.p < 0.001
    True
    """
    return _of_groups("welch-t", (first, second), {})


def mann_whitney(first: Sample, second: Sample) -> TestResult:
    """Whether two groups have the same distribution, by ranks."""
    return _of_groups("mann-whitney", (first, second), {})


def paired_t(first: Sample, second: Sample) -> TestResult:
    """Whether values that belong together have the same mean."""
    return _of_pairs("paired-t", first, second)


def wilcoxon(first: Sample, second: Sample) -> TestResult:
    """Whether values that belong together differ by chance alone, by ranks."""
    return _of_pairs("wilcoxon", first, second)


def pearson(first: Sample, second: Sample) -> TestResult:
    """How well a line tells one sample from the other.

    >>> round(pearson([1, 2, 3, 4, 5], [2, 4, 5, 4, 5]).r, 4)
    0.7746
    """
    return _of_pairs("pearson", first, second)


def spearman(first: Sample, second: Sample) -> TestResult:
    """How well the ranks of two samples agree."""
    return _of_pairs("spearman", first, second)


def kendall(first: Sample, second: Sample) -> TestResult:
    """How often two samples agree which of two values is larger."""
    return _of_pairs("kendall", first, second)


def bootstrap(
    first: Sample,
    second: Sample,
    *,
    paired: bool = False,
    statistic: str = "mean",
    ratio: bool = False,
    seed: int = 0,
) -> TestResult:
    """By how much two samples differ in mean or median, by difference or ratio, from resampling."""
    if paired:
        question = _Question(
            "bootstrap", column="first", with_column="second", statistic=statistic, ratio=ratio, seed=seed
        )
        return _answer(question, [("first", _bytes(first)), ("second", _bytes(second))])
    question = _Question("bootstrap", column="value", by="group", statistic=statistic, ratio=ratio, seed=seed)
    return _answer(question, _long({"first": first, "second": second}))


def box_cox(sample: Sample) -> TestResult:
    """The power of positive values that makes them most like a normal sample."""
    return _of_sample("box-cox", sample)


def lenth(responses: Sample) -> TestResult:
    """Which effects of an unreplicated two-level design in standard order stand out."""
    return _of_sample("lenth", responses)


def p_adjust(p: Sample, method: str = "holm") -> list[float]:
    """P-values adjusted for their number, by `bonferroni`, `holm`, `hochberg`, `hommel`, `bh` or `by`.

    >>> [round(own, 3) for own in p_adjust([0.01, 0.02, 0.03])]
    [0.03, 0.04, 0.04]
    """
    result = _answer(_Question("p-adjust", column="value", method=method), [("value", _bytes(p))])
    adjusted: list[float] = result.figures["adjusted"]
    return adjusted


def _of_sample(test: str, sample: Sample) -> TestResult:
    return _answer(_Question(test, column="value"), [("value", _bytes(sample))])


def _of_groups(test: str, groups: Iterable[Sample], named: Groups) -> TestResult:
    samples = {str(place): sample for place, sample in enumerate(groups, 1)}
    samples.update(named)
    return _answer(_Question(test, column="value", by="group"), _long(samples))


def _of_pairs(test: str, first: Sample, second: Sample) -> TestResult:
    question = _Question(test, column="first", with_column="second")
    return _answer(question, [("first", _bytes(first)), ("second", _bytes(second))])


def _long(samples: Groups) -> list[tuple[str, bytes | list[str]]]:
    """Groups as a column of values and one of names."""
    values: list[bytes] = []
    groups: list[str] = []
    for name, sample in samples.items():
        own = _bytes(sample)
        values.append(own)
        groups.extend([name] * (len(own) // 8))
    return [("value", b"".join(values)), ("group", groups)]


def _bytes(sample: Sample) -> bytes:
    """A sample as the bytes of its doubles."""
    if hasattr(sample, "__array__"):
        import numpy

        return numpy.ascontiguousarray(sample, dtype=numpy.float64).ravel().tobytes()
    return array("d", [float("nan") if value is None else float(value) for value in sample]).tobytes()


def _answer(question: _Question, columns: list[tuple[str, bytes | list[str]]]) -> TestResult:
    text, meaning, words = _test(question, columns)
    return TestResult(test=question.test, figures=json.loads(text), meaning=meaning, words=words)
