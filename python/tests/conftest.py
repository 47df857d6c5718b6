"""What tests share: small studies that need no training."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import trainwright as tw

SCRIPT = """
import trainwright as tw
settings = tw.params()
for step in range(3):
    tw.report(loss=(settings["x"] - 1) ** 2 + settings["y"] + step * 0.01, step=step)
"""


@pytest.fixture
def study(tmp_path: Path) -> tw.Study:
    """Two factors, four rows, two trials each; a Python script that reports."""
    (tmp_path / "train.py").write_text(SCRIPT)
    return tw.Study.build(
        "small",
        factors={"x": [0, 3], "y": [0.5, 2.5]},
        design={"type": "full", "replications": 2},
        command=[sys.executable, "train.py", ["{params}"]],
        metrics={"loss": {"from": "jsonl", "objective": "minimize"}, "time": {"from": "wall", "unit": "s"}},
        analysis={"response": "loss"},
        folder=tmp_path,
    )
