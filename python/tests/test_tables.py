"""Trials in other libraries, by the Arrow PyCapsule interface."""

from __future__ import annotations

import gc
from pathlib import Path

import pytest

import trainwright as tw


@pytest.fixture
def trials(tmp_path: Path) -> tw.Trials:
    study = tw.Study.build(
        "told",
        factors={"x": {"range": {"from": -1.0, "to": 1.0}}, "kind": ["é", "b"], "on": [True, False]},
        metrics={"loss": {"objective": "minimize"}, "other": {}},
        search={"method": "sobol", "budget": {"trials": 9}},
        folder=tmp_path,
    )
    while asked := study.ask().trials:
        own = asked[0]
        if own.trial == 4:
            study.tell(own.trial, failed="no reason")
        else:
            study.tell(own.trial, loss=own.configuration["x"], other=own.trial)
    return study.trials()


def test_columns_have_names_kinds_and_gaps(trials: tw.Trials) -> None:
    assert trials.columns == ["trial", "row", "replicate", "state", "attempts", "x", "kind", "on", "loss", "other"]
    assert len(trials) == 9
    assert trials["trial"] == list(range(1, 10))
    assert trials["row"] == [None] * 9
    assert trials["state"][3] == "failed" and trials["loss"][3] is None
    assert set(trials["kind"]) == {"é", "b"} and set(trials["on"]) == {True, False}
    assert next(iter(trials))["other"] == 1.0
    with pytest.raises(KeyError, match="no column `z`"):
        trials["z"]


def test_pyarrow_polars_and_pandas_read_the_same(trials: tw.Trials) -> None:
    pytest.importorskip("pyarrow")
    pytest.importorskip("polars")
    pytest.importorskip("pandas")
    arrow, polars, pandas = trials.to_arrow(), trials.to_polars(), trials.to_pandas()
    arrow.validate(full=True)
    for name in trials.columns:
        assert arrow[name].to_pylist() == trials[name], name
        assert polars[name].to_list() == trials[name], name
    assert list(pandas["loss"].dropna()) == [own for own in trials["loss"] if own is not None]
    assert [str(arrow.schema.field(name).type) for name in ("trial", "x", "kind", "on")] == [
        "int64",
        "double",
        "large_string",
        "bool",
    ]


def test_pyarrow_takes_the_memory_over_without_copying(trials: tw.Trials) -> None:
    pytest.importorskip("pyarrow")
    first, second = trials.to_arrow(), trials.to_arrow()
    address = [table["x"].chunk(0).buffers()[1].address for table in (first, second)]
    assert address[0] == address[1]


def test_columns_outlive_the_table_and_each_other(trials: tw.Trials) -> None:
    pytest.importorskip("pyarrow")
    column = trials.to_arrow()["kind"]
    expected = trials["kind"]
    del trials
    gc.collect()
    assert column.to_pylist() == expected


def test_a_capsule_that_nobody_takes_is_freed(trials: tw.Trials) -> None:
    for _ in range(1000):
        trials.__arrow_c_stream__()
        trials.__arrow_c_schema__()
    gc.collect()


def test_the_schema_alone_is_given_too(trials: tw.Trials) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    assert pyarrow.schema(trials).names == trials.columns
