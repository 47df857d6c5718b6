"""The functions that a training script calls."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest


def run(script: str, folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """A script as a trial with these variables."""
    own = {f"TRAINWRIGHT_{name.upper()}": value for name, value in variables.items()}
    environment = {name: value for name, value in os.environ.items() if not name.startswith("TRAINWRIGHT_")}
    command = [sys.executable, "-c", textwrap.dedent(script)]
    return subprocess.run(
        command, cwd=folder, env={**environment, **own}, capture_output=True, text=True, check=True
    )


def test_params_are_those_of_the_file_and_defaults_fill_the_rest(tmp_path: Path) -> None:
    (tmp_path / "params.json").write_text('{"lr": 0.5, "name": "a"}')
    script = "import trainwright as tw, json; print(json.dumps(tw.params(lr=1, batch=8)))"
    done = run(script, tmp_path, params="params.json")
    assert json.loads(done.stdout) == {"lr": 0.5, "batch": 8, "name": "a"}


def test_reports_become_lines_of_json(tmp_path: Path) -> None:
    script = """
        import trainwright as tw
        tw.report(loss=0.25, step=1)
        tw.report({"top 5": 1}, loss=True)
        tw.report(loss=float("nan"), other=float("-inf"))
    """
    run(script, tmp_path, metrics="m.jsonl")
    lines = [json.loads(line) for line in (tmp_path / "m.jsonl").read_text().splitlines()]
    assert lines[:2] == [{"loss": 0.25, "step": 1}, {"top 5": 1, "loss": 1.0}]
    assert lines[2]["loss"] != lines[2]["loss"] and lines[2]["other"] == float("-inf")


def test_reports_of_numpy_are_numbers(tmp_path: Path) -> None:
    script = """
        import numpy, trainwright as tw
        tw.report(a=numpy.float32(0.5), b=numpy.array([2.0])[0], step=numpy.int64(7))
    """
    run(script, tmp_path, metrics="m.jsonl")
    assert json.loads((tmp_path / "m.jsonl").read_text()) == {"a": 0.5, "b": 2.0, "step": 7}


def test_a_forked_child_reports_whole_lines_to_the_same_file(tmp_path: Path) -> None:
    script = """
        import os, trainwright as tw
        tw.report(who=0)
        child = os.fork()
        for place in range(200):
            tw.report(who=1 if child else 2, step=place)
        if child:
            os.waitpid(child, 0)
    """
    run(script, tmp_path, metrics="m.jsonl")
    lines = [json.loads(line) for line in (tmp_path / "m.jsonl").read_text().splitlines()]
    assert len(lines) == 401 and {line["who"] for line in lines} == {0, 1, 2}


def test_a_trial_is_asked_to_stop_by_its_file(tmp_path: Path) -> None:
    script = """
        import trainwright as tw
        before = tw.should_stop()
        open("stop", "w").close()
        print(before, tw.should_stop(), tw.trial())
    """
    done = run(script, tmp_path, stop_file="stop", trial="3", seed="9", dir=str(tmp_path))
    assert done.stdout.startswith("False True Trial(study='', number=3, replicate=1, seed=9")


def test_outside_a_trial_reports_are_printed(tmp_path: Path) -> None:
    done = run("import trainwright as tw; tw.report(loss=1.5); print(tw.should_stop())", tmp_path)
    assert done.stdout == '::metric {"loss": 1.5}\nFalse\n'


@pytest.mark.parametrize("heavy", ["numpy", "trainwright._native", "json", "typing_extensions"])
def test_importing_the_package_loads_nothing_heavy(heavy: str, tmp_path: Path) -> None:
    done = run(f"import sys, trainwright; print({heavy!r} in sys.modules)", tmp_path)
    assert done.stdout == "False\n"


def test_every_public_name_is_there() -> None:
    import trainwright as tw

    for name in dir(tw):
        value: Any = getattr(tw, name)
        assert value is not None
    with pytest.raises(AttributeError, match="nothing_of_this_name"):
        tw.nothing_of_this_name  # noqa: B018
