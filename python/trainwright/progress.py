"""What happens while a study runs, and ways to show it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from html import escape
from typing import Any, TextIO

Event = dict[str, Any]
"""A dictionary with the name of what happened under `event`: `planned`, `started`, `progress`,
`ended`, `warm-up`, `no-metric`, `store-busy` or `cluster`, and what belongs to it."""

Callback = Callable[[Event], object]


class Tally:
    """Counts what has ended; what every display has in common."""

    def __init__(self) -> None:
        self.total = 0
        self.ended = 0
        self.failed = 0
        self.last = ""

    def hear(self, event: Event) -> None:
        """Takes an event in."""
        if event["event"] == "planned":
            self.total = event["total"]
            self.ended = event["total"] - event["left"]
        elif event["event"] == "ended" and not event["again"]:
            self.ended += 1
            self.total = max(self.total, self.ended)
            self.failed += event["state"] == "failed"
            values = "  ".join(f"{name} {value:.4g}" for name, value in event["values"].items())
            self.last = f"trial {event['trial']} {event['state']}  {values}".rstrip()
        elif event["event"] == "no-metric":
            missing = ", ".join(event["missing"])
            self.last = f"stopped: trial {event['trial']} ended without {missing}: {event['reason']}"

    def line(self) -> str:
        """All of it in one line."""
        failed = f", {self.failed} failed" if self.failed else ""
        return f"{self.ended} of {self.total} trials{failed}  {self.last}"


class TextLine:
    """One line on a terminal that is written again and again; elsewhere a line a trial.

    >>> shown = TextLine(sys.stdout)
    >>> shown({"event": "planned", "total": 2, "left": 2, "recovered": 0, "changes": []})
    >>> shown({"event": "ended", "trial": 1, "state": "finished", "again": False, "values": {"loss": 0.5}})
    1 of 2 trials  trial 1 finished  loss 0.5
    """

    def __init__(self, file: TextIO | None = None) -> None:
        self._file = file or sys.stderr
        self._tally = Tally()
        self._live = self._file.isatty()

    def __call__(self, event: Event) -> None:
        self._tally.hear(event)
        if event["event"] not in ("ended", "no-metric"):
            return
        if self._live:
            self._file.write("\r\x1b[2K" + self._tally.line()[:100])
            if self._tally.ended >= self._tally.total:
                self._file.write("\n")
        else:
            self._file.write(self._tally.line() + "\n")
        self._file.flush()


class NotebookBar:
    """A bar in a notebook that grows as trials end."""

    def __init__(self) -> None:
        from IPython.display import HTML, display

        self._html = HTML
        self._tally = Tally()
        self._handle = display(HTML(self._bar()), display_id=True)

    def __call__(self, event: Event) -> None:
        self._tally.hear(event)
        if event["event"] in ("planned", "ended", "no-metric"):
            self._handle.update(self._html(self._bar()))

    def _bar(self) -> str:
        most = max(self._tally.total, 1)
        return (
            f'<progress value="{self._tally.ended}" max="{most}" style="width:20em"></progress> '
            f"{escape(self._tally.line())}"
        )


def automatic() -> Callback:
    """A bar in a notebook, a line on a terminal, and silence elsewhere."""
    if _in_notebook():
        return NotebookBar()
    if sys.stderr is not None and sys.stderr.isatty():
        return TextLine()
    return silent


def silent(event: Event) -> None:
    """Shows nothing."""


def _in_notebook() -> bool:
    shell = sys.modules.get("IPython")
    if shell is None:
        return False
    own = shell.get_ipython()
    return own is not None and own.__class__.__name__ == "ZMQInteractiveShell"
