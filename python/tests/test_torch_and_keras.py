"""The parts that need large libraries; run by `just full`, and wherever these are installed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy
import pytest

from test_questions import shards as shards


@pytest.mark.heavy
def test_a_data_loader_gives_every_picture_once(shards: Path) -> None:
    torch = pytest.importorskip("torch")
    from trainwright.pytorch import PictureDataset

    for workers in (0, 2):
        dataset = PictureDataset(shards / "out", batch=3)
        loader = torch.utils.data.DataLoader(dataset, batch_size=None, num_workers=workers)
        batches = list(loader)
        assert sorted(int(label) for _, labels in batches for label in labels) == [0] * 4 + [1] * 4
        assert batches[0][0].shape[2:] == (8, 8)


@pytest.mark.heavy
def test_the_pytorch_callback_reports_tensors(capsys: pytest.CaptureFixture[str]) -> None:
    torch = pytest.importorskip("torch")
    from trainwright.pytorch import TrialCallback

    assert TrialCallback()(3, loss=torch.tensor(0.5)) is False
    assert capsys.readouterr().out == '::metric {"loss": 0.5, "step": 3}\n'


@pytest.mark.heavy
def test_the_keras_callback_reports_epochs_and_stops(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keras = pytest.importorskip("keras")
    import trainwright._trial as trial
    from trainwright.keras import TrialCallback

    metrics, stop = tmp_path / "metrics.jsonl", tmp_path / "stop"
    monkeypatch.setattr(trial, "_metrics_path", str(metrics))
    monkeypatch.setattr(trial, "_metrics_file", None)
    monkeypatch.setattr(trial, "_stop_file", str(stop))
    model = keras.Sequential([keras.layers.Dense(1)])
    model.compile(loss="mse")
    x, y = numpy.ones((8, 2)), numpy.ones((8, 1))

    class StopAfterTwo(keras.callbacks.Callback):  # type: ignore[misc, unused-ignore]
        def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
            if epoch == 1:
                stop.touch()

    model.fit(x, y, epochs=5, verbose=0, callbacks=[StopAfterTwo(), TrialCallback()])
    steps = [json.loads(line)["step"] for line in metrics.read_text().splitlines()]
    assert steps == [0, 1]


@pytest.mark.heavy
def test_the_lightning_callback_reports_epochs_and_stops(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    torch = pytest.importorskip("torch")
    lightning = pytest.importorskip("lightning")
    import trainwright._trial as trial
    from trainwright.pytorch import lightning_callback

    metrics, stop = tmp_path / "metrics.jsonl", tmp_path / "stop"
    monkeypatch.setattr(trial, "_metrics_path", str(metrics))
    monkeypatch.setattr(trial, "_metrics_file", None)
    monkeypatch.setattr(trial, "_stop_file", str(stop))

    class Line(lightning.LightningModule):  # type: ignore[misc, unused-ignore]
        def __init__(self) -> None:
            super().__init__()
            self.layer = torch.nn.Linear(2, 1)

        def training_step(self, batch: Any) -> Any:
            loss = self.layer(batch).square().mean()
            self.log("loss", loss)
            if self.current_epoch == 1:
                stop.touch()
            return loss

        def configure_optimizers(self) -> Any:
            return torch.optim.SGD(self.parameters(), lr=0.1)

    quiet = {"logger": False, "enable_checkpointing": False, "enable_progress_bar": False, "enable_model_summary": False}
    trainer = lightning.Trainer(
        max_epochs=5, accelerator="cpu", callbacks=[lightning_callback()], default_root_dir=tmp_path, **quiet
    )
    trainer.fit(Line(), torch.utils.data.DataLoader(torch.ones(8, 2), batch_size=4))
    lines = [json.loads(line) for line in metrics.read_text().splitlines()]
    assert [line["step"] for line in lines] == [0, 1]
    assert lines[1]["loss"] < lines[0]["loss"]
