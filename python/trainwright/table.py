"""The trials of a study as a table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ._native import TrialTable

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow


class Trials:
    """One row a trial: number, state, factors and metrics.

    Libraries that know the Arrow PyCapsule interface take it as it is, without copying:
    `polars.DataFrame(trials)`, `pyarrow.table(trials)`, `duckdb.from_arrow(trials)`.
    """

    def __init__(self, table: TrialTable) -> None:
        self._table = table

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""
        return self._table.columns

    def __len__(self) -> int:
        return len(self._table)

    def __getitem__(self, column: str) -> list[Any]:
        """One column as a list; None where a trial has nothing there."""
        return self._table.column(column)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """The trials one by one, as dictionaries."""
        names = self.columns
        for cells in zip(*(self[name] for name in names)):
            yield dict(zip(names, cells))

    def __arrow_c_schema__(self) -> object:
        return self._table.__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._table.__arrow_c_stream__(requested_schema)

    def to_arrow(self) -> pyarrow.Table:
        """A table of pyarrow, on the same memory."""
        import pyarrow

        return pyarrow.table(self)

    def to_pandas(self) -> pandas.DataFrame:
        """A data frame of pandas."""
        return self.to_arrow().to_pandas()

    def to_polars(self) -> polars.DataFrame:
        """A data frame of polars, on the same memory."""
        import polars

        return polars.DataFrame(self)

    def __repr__(self) -> str:
        return f"<{len(self)} trials: {', '.join(self.columns)}>"

    def _repr_html_(self) -> str:
        from html import escape

        shown = 20
        head = "".join(f"<th>{escape(name)}</th>" for name in self.columns)
        rows = []
        for place, row in enumerate(self):
            if place == shown:
                break
            cells = ("" if cell is None else escape(str(cell)) for cell in row.values())
            rows.append("<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>")
        more = f"<p>{len(self) - shown} more</p>" if len(self) > shown else ""
        return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>{more}"
