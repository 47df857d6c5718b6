"""Inside a trial: its settings, its reports, and whether it is to end.

The trial protocol is a few environment variables and files, so that nothing here needs the native
module. Importing this costs next to nothing and a report costs a few microseconds.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_metrics_path = os.environ.get("TRAINWRIGHT_METRICS")
_stop_file = os.environ.get("TRAINWRIGHT_STOP_FILE")
_metrics_file: int | None = None
_metrics_owner = 0


@dataclass(frozen=True)
class Trial:
    """The trial that this process is."""

    study: str
    """Name of the study."""
    number: int
    """Position in the run order, from 1; 0 for a warm-up."""
    replicate: int
    """Number among the repeats of its configuration, from 1."""
    seed: int
    """A seed for everything random in it."""
    folder: Path
    """Its own folder, where files that it leaves are kept."""
    checkpoint: Path | None
    """A folder to keep itself in when it is cut short, where the search may let it go on."""


def trial() -> Trial | None:
    """The trial that this process is, or None outside of one.

    >>> trial() is None
    True
    """
    if "TRAINWRIGHT_TRIAL" not in os.environ:
        return None
    kept = os.environ.get("TRAINWRIGHT_CHECKPOINT")
    return Trial(
        study=os.environ.get("TRAINWRIGHT_STUDY", ""),
        number=int(os.environ["TRAINWRIGHT_TRIAL"]),
        replicate=int(os.environ.get("TRAINWRIGHT_REPLICATE", "1")),
        seed=int(os.environ.get("TRAINWRIGHT_SEED", "0")),
        folder=Path(os.environ.get("TRAINWRIGHT_DIR", ".")),
        checkpoint=Path(kept) if kept else None,
    )


def params(**defaults: Any) -> dict[str, Any]:
    """The configuration of this trial; `defaults` stand in for what it does not set.

    Outside a trial the result is `defaults`, so that a script also runs by itself.

    >>> params(lr=0.01, batch=32)
    {'lr': 0.01, 'batch': 32}
    """
    path = os.environ.get("TRAINWRIGHT_PARAMS")
    if path is None:
        return defaults
    import json

    with open(path, encoding="utf-8") as file:
        settings: dict[str, Any] = json.load(file)
    return {**defaults, **settings}


def report(metrics: Mapping[str, Any] | None = None, /, *, step: float | None = None, **values: Any) -> None:
    """Reports metrics of this trial, at a step of it where there is one.

    Values are numbers, or anything that `float` takes, such as a tensor of one element. Metrics
    with a step become learning curves; the last value of each counts as the trial's result. A value
    that is not finite makes the trial diverge.

    Outside a trial the line is printed as `::metric {...}`, which is also how a program that is not
    in Python reports.

    >>> report(loss=0.25, step=3)
    ::metric {"loss": 0.25, "step": 3}
    """
    if metrics is not None:
        values = {**metrics, **values}
    parts = [f"{_quoted(name)}: {_number(value)}" for name, value in values.items()]
    if step is not None:
        parts.append(f'"step": {_number(step)}')
    line = "{" + ", ".join(parts) + "}\n"
    if _metrics_path is None:
        print("::metric " + line, end="", flush=True)
        return
    # One write of a whole line to a file opened for appending is never torn by another process.
    os.write(_opened(), line.encode())


def should_stop() -> bool:
    """Whether this trial has been asked to end: it should keep what it has and leave.

    Always false outside a trial.

    >>> should_stop()
    False
    """
    return _stop_file is not None and os.path.exists(_stop_file)


def _opened() -> int:
    global _metrics_file, _metrics_owner
    process = os.getpid()
    if _metrics_file is None or _metrics_owner != process:
        assert _metrics_path is not None
        _metrics_file = os.open(_metrics_path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        _metrics_owner = process
    return _metrics_file


_plain: dict[str, str] = {}


def _quoted(name: str) -> str:
    """The name of a metric as JSON; names come again and again."""
    known = _plain.get(name)
    if known is None:
        import json

        known = _plain[name] = json.dumps(name)
    return known


def _number(value: Any) -> str:
    if type(value) is int:
        return str(value)
    text = repr(float(value))
    # As JSON spells what Python calls nan and inf in the file that the runner reads.
    return _NOT_FINITE.get(text, text)


_NOT_FINITE = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}
