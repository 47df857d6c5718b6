"""Designed experiments for training: plan them, run them, and read what they mean.

Inside a trial, a training script asks for its settings and reports what it measures:

>>> import trainwright as tw
>>> settings = tw.params(lr=0.01)      # of the trial, or these where there is none
>>> settings["lr"]
0.01
>>> tw.should_stop()
False

Outside, a program loads or builds a study, runs it and reads the results:

>>> study = tw.Study.load("study.toml")      # doctest: +SKIP
>>> study.run()                              # doctest: +SKIP
>>> study.trials().to_pandas()               # doctest: +SKIP
>>> study.analyze()                          # doctest: +SKIP

Importing the package is quick: everything but the functions of a trial is loaded when it is first
used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from ._trial import Trial, params, report, should_stop, trial

if TYPE_CHECKING:
    from . import errors as errors
    from . import progress as progress
    from . import records as records
    from . import stats as stats
    from ._program import program as program
    from .designs import Design as Design
    from .designs import design as design
    from .errors import EnvironmentFault as EnvironmentFault
    from .errors import InputError as InputError
    from .errors import TrainwrightError as TrainwrightError
    from .results import Analysis as Analysis
    from .results import RunResult as RunResult
    from .results import SearchResult as SearchResult
    from .search import Search as Search
    from .study import Study as Study
    from .table import Trials as Trials

    __version__: str

__all__ = [
    "Analysis",
    "Design",
    "EnvironmentFault",
    "InputError",
    "RunResult",
    "Search",
    "SearchResult",
    "Study",
    "TrainwrightError",
    "Trial",
    "Trials",
    "design",
    "errors",
    "params",
    "program",
    "progress",
    "records",
    "report",
    "should_stop",
    "stats",
    "trial",
]

_MODULES = ("errors", "progress", "records", "stats")
_HOMES = {
    "Analysis": "results",
    "Design": "designs",
    "EnvironmentFault": "errors",
    "InputError": "errors",
    "RunResult": "results",
    "Search": "search",
    "SearchResult": "results",
    "Study": "study",
    "TrainwrightError": "errors",
    "Trials": "table",
    "__version__": "_native",
    "design": "designs",
    "program": "_program",
}


def __getattr__(name: str) -> Any:
    """Loads a part of the package when it is first used."""
    if name in _MODULES:
        return importlib.import_module(f"{__name__}.{name}")
    if name in _HOMES:
        value = getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
