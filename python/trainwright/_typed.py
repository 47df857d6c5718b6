"""Answers of the native module as dataclasses."""

from __future__ import annotations

import dataclasses
import functools
import types
import typing
from typing import Any, TypeVar

T = TypeVar("T")


def typed(cls: type[T], answer: dict[str, Any]) -> T:
    """An answer as a dataclass; keys that the class does not have are left out."""
    values = {}
    for field, kind in _fields(typing.cast(Any, cls)):
        if field.name in answer:
            values[field.name] = _value(kind, answer[field.name])
    return cls(**values)


@functools.cache
def _fields(cls: Any) -> list[tuple[dataclasses.Field[Any], Any]]:
    hints = typing.get_type_hints(cls)
    return [(field, hints[field.name]) for field in dataclasses.fields(cls) if field.init]


def _value(kind: Any, value: Any) -> Any:
    if value is None:
        return None
    origin = typing.get_origin(kind)
    if origin is list:
        (item,) = typing.get_args(kind)
        return [_value(item, own) for own in value]
    if origin in (typing.Union, types.UnionType):
        kinds = [own for own in typing.get_args(kind) if own is not type(None)]
        return _value(kinds[0], value) if len(kinds) == 1 else value
    if dataclasses.is_dataclass(kind) and isinstance(value, dict):
        return typed(typing.cast(type, kind), value)
    return value
