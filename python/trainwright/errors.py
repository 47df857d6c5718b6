"""What goes wrong, as exceptions."""

from __future__ import annotations


class TrainwrightError(Exception):
    """Anything that Trainwright could not do; the message says what to change."""


class InputError(TrainwrightError, ValueError):
    """A study, request or table that does not read or cannot be used."""


class EnvironmentFault(TrainwrightError, RuntimeError):
    """A file, store, program or machine that is not as it must be."""
