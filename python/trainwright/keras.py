"""Keras: a callback that reports to the trial."""

from __future__ import annotations

from typing import Any

import keras

from ._trial import report, should_stop


class TrialCallback(keras.callbacks.Callback):  # type: ignore[misc, unused-ignore]
    """Reports what Keras logs after each epoch, and stops training when the trial is to end.

    With `batches=n` every n-th batch is reported too, under names that begin with `batch_`.

    >>> model.fit(x, y, callbacks=[TrialCallback()])     # doctest: +SKIP
    """

    def __init__(self, batches: int | None = None) -> None:
        super().__init__()
        self._batches = batches
        self._seen = 0

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        """Reports the epoch."""
        if logs:
            report(logs, step=epoch)
        self._stop_if_asked()

    def on_train_batch_end(self, batch: int, logs: dict[str, Any] | None = None) -> None:
        """Reports the batch where that is wanted."""
        self._seen += 1
        if self._batches and logs and self._seen % self._batches == 0:
            report({f"batch_{name}": value for name, value in logs.items()}, step=self._seen)
        self._stop_if_asked()

    def _stop_if_asked(self) -> None:
        if should_stop():
            self.model.stop_training = True
