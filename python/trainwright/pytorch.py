"""PyTorch: records as a data set, and a callback for training loops."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import torch
from torch.utils.data import IterableDataset, get_worker_info

from ._trial import report, should_stop
from .records import Pictures


class PictureDataset(IterableDataset[tuple[torch.Tensor, torch.Tensor]]):
    """Batches of pictures out of TFRecord shards or a folder, as tensors.

    Options are those of `trainwright.records.Pictures`. Batches are made by native threads, so that
    `DataLoader(dataset, batch_size=None)` is enough; with workers, each gives its share. Pictures
    are channel, row, column, as PyTorch has them, and the next iteration is the next epoch.

    >>> loader = DataLoader(PictureDataset("shards", batch=64), batch_size=None)   # doctest: +SKIP
    """

    def __init__(self, path: str | os.PathLike[str], **options: Any) -> None:
        super().__init__()
        self._path = os.fspath(path)
        self._options = options
        self._pictures: Pictures | None = None
        self._share: tuple[int, int] | None = None
        self.epoch = 0
        """The epoch that the next iteration gives."""

    def __iter__(self) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
        pictures = self._opened()
        epoch, self.epoch = self.epoch, self.epoch + 1
        for images, labels in pictures.epoch(epoch):
            yield torch.from_numpy(images).permute(0, 3, 1, 2), torch.from_numpy(labels)

    def _opened(self) -> Pictures:
        """The pictures of this worker, opened in its own process."""
        worker = get_worker_info()
        index, count = (worker.id, worker.num_workers) if worker else (0, 1)
        replica, replicas = self._options.get("replica", 0), self._options.get("replicas", 1)
        share = (replica * count + index, replicas * count)
        if self._pictures is None or self._share != share:
            options = {**self._options, "replica": share[0], "replicas": share[1]}
            self._pictures, self._share = Pictures(self._path, **options), share
        return self._pictures

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_pictures": None, "_share": None}


class TrialCallback:
    """Reports to the trial from a training loop, and says when to stop.

    >>> callback = TrialCallback(every=2)
    >>> for step in range(4):
    ...     if callback(step, loss=1.0 / (step + 1)):
    ...         break
    ::metric {"loss": 1.0, "step": 0}
    ::metric {"loss": 0.3333333333333333, "step": 2}
    """

    def __init__(self, every: int = 1) -> None:
        self._every = every

    def __call__(self, step: int, **metrics: Any) -> bool:
        """Reports metrics, tensors included, at every so many steps; true when the trial is to end."""
        if step % self._every == 0:
            report(metrics, step=step)
        return should_stop()


def lightning_callback() -> Any:
    """A callback of Lightning that reports what is logged, after each epoch, and stops when asked."""
    try:
        from lightning.pytorch import Callback
    except ImportError:
        from pytorch_lightning import Callback  # type: ignore[assignment, unused-ignore]

    class LightningReport(Callback):  # type: ignore[misc, unused-ignore]
        def on_train_epoch_end(self, trainer: Any, pl_module: Any) -> None:
            if trainer.is_global_zero and trainer.callback_metrics:
                report(trainer.callback_metrics, step=trainer.current_epoch)
            if should_stop():
                trainer.should_stop = True

    return LightningReport()
