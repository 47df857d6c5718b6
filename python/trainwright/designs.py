"""Designs by themselves, without a study."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ._native import design as _design

if TYPE_CHECKING:
    import numpy


@dataclass(frozen=True)
class Design:
    """The rows of a design, and what is known about them."""

    kind: str
    factors: list[str]
    rows: list[list[Any]]
    properties: dict[str, Any] = field(repr=False)
    """All that `trainwright design --json` tells, such as `resolution` and `aliases`."""
    words: str = field(default="", repr=False, compare=False)

    def __len__(self) -> int:
        return len(self.rows)

    def __str__(self) -> str:
        return self.words

    def to_numpy(self) -> numpy.ndarray[Any, Any]:
        """The rows as an array."""
        import numpy

        return numpy.asarray(self.rows)


def design(kind: str, factors: int | None = None, **options: Any) -> Design:
    """Makes a design of a kind: `full`, `fractional`, `foldover`, `plackett-burman`,
    `central-composite`, `box-behnken`, `latin-hypercube`, `sobol`, `mixed` or `d-optimal`.

    Options are those of `trainwright design`: `runs`, `generators`, `levels`, `blocks`, `center`,
    `face`, `alpha`, `seed`, `maximin`, `on`, `model`, `starts`.

    >>> half = design("fractional", factors=5, runs=16)
    >>> half.properties["resolution"], len(half)
    (5, 16)
    >>> design("full", levels=[2, 3]).rows[:3]
    [[0, 0], [1, 0], [0, 1]]
    """
    given = {name: value for name, value in {"factors": factors, **options}.items() if value is not None}
    text, words = _design(json.dumps({"kind": kind, **given}))
    answer = json.loads(text)
    factors_named = ["".join(own) for own in answer["factors"]]
    return Design(kind=kind, factors=factors_named, rows=answer["rows"], properties=answer, words=words)
