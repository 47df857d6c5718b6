"""Studies run and read back from Python."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

import trainwright as tw

ROOT = Path(__file__).resolve().parents[2]


def test_a_study_built_in_code_runs_a_python_script(study: tw.Study) -> None:
    events: list[dict[str, Any]] = []
    result = study.run(events.append)
    assert (result.end, result.trials["finished"], result.trials["total"]) == ("complete", 8, 8)
    names = [event["event"] for event in events]
    assert names[0] == "planned" and names.count("ended") == 8
    ended = next(event for event in events if event["event"] == "ended")
    assert ended["state"] == "finished" and set(ended["configuration"]) == {"x", "y"}
    assert result.analysis is not None and result.analysis.best is not None
    assert result.analysis.best.configuration == {"x": 0, "y": 0.5}
    assert "Best configuration measured" in str(result)


def test_results_are_read_back_with_types(study: tw.Study) -> None:
    study.run(lambda event: None)
    analysis = study.analyze(types=[2])
    assert [table.type for table in analysis.anova] == [2]
    assert {effect.term for effect in analysis.effects} == {"x", "y", "x:y"}
    assert analysis.raw["schema" if "schema" in analysis.raw else "response"]
    assert analysis.fit.coefficients[0].name == "(Intercept)"
    curves = [own for own in study.series(1) if own.name == "metric.loss"]
    assert curves[0].at == [0, 1, 2]
    status = study.status()
    assert status["counts"]["finished"] == 8
    assert (study.trial_folder(1) / "metrics.jsonl").exists()


def test_a_notebook_gets_a_card_with_everything_escaped(study: tw.Study) -> None:
    study.run(lambda event: None)
    analysis = study.analyze()
    page = analysis._repr_html_()
    assert "Best measured" in page and "x = 0" in page
    object.__setattr__(analysis.findings[0], "text", "<script>alert(1)</script>")
    assert "<script>" not in analysis._repr_html_()
    assert "<th>loss</th>" in study.trials()._repr_html_()


def test_a_faulty_study_is_an_input_error_that_names_the_fault(tmp_path: Path) -> None:
    with pytest.raises(tw.InputError, match="levels"):
        tw.Study.build("bad", factors={"a": {"levles": [1, 2]}}, metrics=["m"])
    with pytest.raises(tw.InputError, match="cannot read"):
        tw.Study.load(tmp_path / "none.toml")
    with pytest.raises(ValueError):
        tw.Study.load(tmp_path / "none.toml")


def test_a_study_without_results_says_how_to_get_them(study: tw.Study) -> None:
    with pytest.raises(tw.InputError, match="has no results"):
        study.trials()
    with pytest.raises(tw.InputError, match="no analysis of variance of type 4"):
        study.analyze(types=[4])


def test_the_built_in_trainer_runs_by_the_installed_command(tmp_path: Path) -> None:
    study = tw.Study.build(
        "trainer",
        factors={"lr": [0.001, 0.01]},
        design={"type": "full"},
        job={"network": "mlp", "data": "fashion-mnist-sample", "epochs": 1, "neurons": 8},
        metrics={"accuracy": {"from": "jsonl", "objective": "maximize"}},
        folder=tmp_path,
    )
    result = study.run(lambda event: None)
    assert result.trials["finished"] == 2, study.status()


def test_the_report_is_one_page(study: tw.Study, tmp_path: Path) -> None:
    study.run(lambda event: None)
    page = study.report(tmp_path / "report.html").read_text()
    assert page.lower().startswith("<!doctype html>")


def test_an_exception_in_the_callback_stops_the_study_and_it_goes_on_later(study: tw.Study) -> None:
    def fail(event: dict[str, Any]) -> None:
        if event["event"] == "ended":
            raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        study.run(fail)
    assert 0 < len([own for own in study.trials()["state"] if own == "finished"]) < 8
    assert study.run(lambda event: None).trials["finished"] == 8


def test_other_threads_go_on_while_a_study_runs(study: tw.Study) -> None:
    turns = 0
    done = threading.Event()

    def work() -> None:
        nonlocal turns
        while not done.is_set():
            turns += 1
            time.sleep(0.001)

    thread = threading.Thread(target=work)
    thread.start()
    study.run(lambda event: None)
    done.set()
    thread.join()
    assert turns > 10


INTERRUPTED = """
import sys
import trainwright as tw

study = tw.Study.build(
    "slow",
    factors={"x": [1, 2], "y": [1, 2]},
    design={"type": "full", "order": "standard"},
    command=[sys.executable, "trial.py", "{x}", "{y}"],
    metrics={"m": {"from": "jsonl", "objective": "minimize"}},
    folder=sys.argv[1],
)
try:
    study.run(lambda event: None)
except KeyboardInterrupt:
    print("interrupted", study.trials()["state"], flush=True)
"""

SLEEPING = """
import sys, time
import trainwright as tw
tw.report(m=1)
if sys.argv[1] == "2":
    open("sleeping", "w").close()
    time.sleep(60)
"""


def test_ctrl_c_leaves_a_study_that_can_go_on(tmp_path: Path) -> None:
    (tmp_path / "trial.py").write_text(SLEEPING)
    command = [sys.executable, "-c", INTERRUPTED, str(tmp_path)]
    # Whoever started these tests in the background may ignore Ctrl-C, which processes inherit.
    heard = lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)  # noqa: E731
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, preexec_fn=heard)
    while not (tmp_path / "sleeping").exists():
        assert process.poll() is None
        time.sleep(0.01)
    begun = time.monotonic()
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=50)
    assert time.monotonic() - begun < 40
    assert "interrupted ['finished', 'stopped', 'planned', 'planned']" in output, output


def test_python_dash_m_is_the_command() -> None:
    done = subprocess.run([sys.executable, "-m", "trainwright", "--version"], capture_output=True, text=True)
    assert done.stdout.startswith("trainwright ")


def test_the_command_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    assert os.access(tw.program(), os.X_OK)
    monkeypatch.setenv("TRAINWRIGHT_PROGRAM", "/somewhere/else")
    assert str(tw.program()) == "/somewhere/else"
