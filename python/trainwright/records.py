"""Pictures out of TFRecord shards or folders, as batches of numpy arrays.

Reading, decoding, shuffling and augmenting happen on threads of the native module while Python
works on the batch before.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from ._native import PictureBatches

if TYPE_CHECKING:
    import numpy


class Batch(NamedTuple):
    """Pictures of one size with their labels."""

    images: numpy.ndarray[Any, Any]
    """Picture, row, column, channel: bytes from 0 to 255, or floats from 0 to 1."""
    labels: numpy.ndarray[Any, Any]
    """The class of each picture."""


@dataclass(frozen=True)
class _Wishes:
    path: str
    part: str | None
    size: int
    batch: int
    shuffle: int
    seed: int
    threads: int
    prefetch: int
    drop_last: bool
    cache: bool
    flip: bool
    crop: int | None
    floats: bool
    replica: int
    replicas: int


class Pictures:
    """Labelled pictures, an epoch at a time.

    `path` is a folder of `*.tfrecord` files, one such file, or a pattern; with `part="train"` or
    `part="test"` it is what `trainwright data prepare --split` wrote, or a folder of picture files
    with a folder a class, which become squares of `size`. The order depends on `seed` and epoch
    alone, and batches are the same for any number of threads.

    >>> for images, labels in Pictures("shards", batch=64):     # doctest: +SKIP
    ...     train(images, labels)
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        batch: int = 32,
        part: str | None = None,
        size: int = 224,
        shuffle: int = 1024,
        seed: int = 1,
        threads: int | None = None,
        prefetch: int = 2,
        drop_last: bool = False,
        cache: bool = False,
        flip: bool = False,
        crop: int | None = None,
        dtype: str = "float32",
        replica: int = 0,
        replicas: int = 1,
    ) -> None:
        if dtype not in ("float32", "uint8"):
            from .errors import InputError

            raise InputError(f"pictures are read as `float32` or `uint8`, not as `{dtype}`")
        self._dtype = dtype
        wishes = _Wishes(
            path=os.fspath(path),
            part=part,
            size=size,
            batch=batch,
            shuffle=shuffle,
            seed=seed,
            threads=threads or os.cpu_count() or 1,
            prefetch=prefetch,
            drop_last=drop_last,
            cache=cache,
            flip=flip,
            crop=crop,
            floats=dtype == "float32",
            replica=replica,
            replicas=replicas,
        )
        self._native = PictureBatches(wishes)
        self._next_epoch = 0

    def __len__(self) -> int:
        """Pictures in all, those of other replicas included."""
        return self._native.records

    @property
    def shape(self) -> tuple[int, int, int]:
        """Rows, columns and channels of a picture before any change."""
        return self._native.shape()

    def epoch(self, number: int) -> Iterator[Batch]:
        """The batches of an epoch."""
        import numpy

        for pixels, labels, shape in self._native.epoch(number):
            images = numpy.frombuffer(pixels, dtype=self._dtype).reshape(shape)
            yield Batch(images, numpy.frombuffer(labels, dtype=numpy.int64))

    def __iter__(self) -> Iterator[Batch]:
        """The batches of the next epoch."""
        epoch = self._next_epoch
        self._next_epoch += 1
        return self.epoch(epoch)
