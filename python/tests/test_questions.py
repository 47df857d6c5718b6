"""Designs, statistical tests, searches in memory and records."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy
import pytest

import trainwright as tw


def test_statistics_agree_with_scipy() -> None:
    scipy = pytest.importorskip("scipy.stats")
    random = numpy.random.default_rng(5)
    a, b, c = random.normal(0, 1, 30), random.normal(0.8, 2, 30), random.exponential(1, 30)
    pairs = [
        (tw.stats.shapiro_wilk(c).p, scipy.shapiro(c).pvalue),
        (tw.stats.welch_t(a, b).p, scipy.ttest_ind(a, b, equal_var=False).pvalue),
        (tw.stats.anova(a, b, c).p, scipy.f_oneway(a, b, c).pvalue),
        (tw.stats.kruskal(a, b, c).statistic, scipy.kruskal(a, b, c).statistic),
        (tw.stats.bartlett(a, b, c).p, scipy.bartlett(a, b, c).pvalue),
        (tw.stats.levene(a, b).p, scipy.levene(a, b, center="mean").pvalue),
        (tw.stats.brown_forsythe(a, b).p, scipy.levene(a, b, center="median").pvalue),
        (tw.stats.pearson(a, b).p, scipy.pearsonr(a, b).pvalue),
        (tw.stats.spearman(a, b).rho, scipy.spearmanr(a, b).statistic),
        (tw.stats.kendall(a, b).tau, scipy.kendalltau(a, b).statistic),
        (tw.stats.paired_t(a, b).p, scipy.ttest_rel(a, b).pvalue),
    ]
    for ours, theirs in pairs:
        assert ours == pytest.approx(theirs, rel=1e-6)


def test_every_test_by_name_has_a_function() -> None:
    for name in tw.stats.names():
        assert callable(getattr(tw.stats, name.replace("-", "_"))), name


def test_missing_values_are_left_out_and_words_say_what_it_means() -> None:
    result = tw.stats.pearson([1, 2, None, 4, 5.0], [2, 4, 5, float("nan"), 5])
    assert result.figures["n"] == 3
    assert result.meaning and str(result)
    with pytest.raises(AttributeError, match="no figure `nothing`"):
        result.nothing


def test_a_test_that_cannot_be_made_says_why() -> None:
    with pytest.raises(tw.InputError, match="cannot make the test"):
        tw.stats.shapiro_wilk([1.0, 1.0])
    with pytest.raises(tw.InputError, match="`second` has 2 values where `first` has 1"):
        tw.stats.pearson([1.0], [1.0, 2.0])
    with pytest.raises(tw.InputError, match="holm"):
        tw.stats.p_adjust([0.5], method="magic")


@pytest.mark.parametrize(
    ("kind", "options", "rows"),
    [
        ("full", {"factors": 3}, 8),
        ("full", {"factors": 3, "blocks": 2}, 8),
        ("fractional", {"factors": 6, "generators": ["F=ABCDE"]}, 32),
        ("foldover", {"factors": 5, "runs": 8}, 16),
        ("plackett-burman", {"factors": 11, "runs": 12}, 12),
        ("central-composite", {"factors": 2, "center": [0, 5]}, 13),
        ("box-behnken", {"factors": 3}, 15),
        ("latin-hypercube", {"factors": 2, "runs": 7, "seed": 1, "maximin": True}, 7),
        ("sobol", {"factors": 2, "runs": 16}, 16),
        ("mixed", {"levels": [2, 3, 3]}, None),
        ("d-optimal", {"levels": [3, 3], "runs": 6, "model": "main"}, 6),
    ],
)
def test_every_kind_of_design_has_its_rows(kind: str, options: dict[str, object], rows: int | None) -> None:
    made = tw.design(kind, **options)  # type: ignore[arg-type]
    assert rows is None or len(made) == rows
    assert made.to_numpy().shape == (len(made), len(made.factors))
    assert str(made)


def test_a_design_that_is_not_there_is_an_input_error() -> None:
    with pytest.raises(tw.InputError, match="cannot build design"):
        tw.design("magic", factors=3)
    with pytest.raises(tw.InputError, match="sides"):
        tw.design("full", factors=3, sides=2)
    with pytest.raises(tw.InputError, match="runs=32"):
        tw.design("fractional", factors=3)


def test_a_search_takes_failures_and_batches() -> None:
    search = tw.Search({"x": {"range": {"from": 0.0, "to": 1.0}}}, trials=12, direction="maximize", seed=2)
    first = search.ask_many(4)
    assert len({trial.trial for trial in first}) == 4
    search.tell(first[0], failed="no luck")
    for trial in first[1:]:
        search.tell(trial, trial.configuration["x"])
    while trial := search.ask():
        search.tell(trial, trial.configuration["x"])
    assert search.best is not None and search.best["x"] > 0.95 and "12 trials" in str(search.stopped)
    with pytest.raises(tw.InputError):
        search.tell(first[0], 1.0)


def test_an_exception_of_the_function_is_a_failed_trial() -> None:
    def function(settings: dict[str, int]) -> float:
        if settings["a"] == 1:
            raise RuntimeError("no")
        return settings["a"]

    search = tw.Search({"a": [1, 2, 3]}, trials=3, method="grid")
    assert search.run(function) == {"a": 2}


@pytest.fixture(scope="module")
def shards(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Eight pictures of two classes in two shards."""
    folder = tmp_path_factory.mktemp("pictures")
    for label, name in enumerate(["cats", "dogs"]):
        (folder / "in" / name).mkdir(parents=True)
        for place in range(4):
            pixels = bytes([label * 200 + place] * 12 * 12)
            _write_png(folder / "in" / name / f"{place}.png", pixels, 12)
    command = [str(tw.program()), "data", "prepare", "in", "--out", "out", "--size", "8", "--shards", "2"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    return folder


def _write_png(path: Path, pixels: bytes, side: int) -> None:
    """A grey picture, as the format has it."""
    import struct
    import zlib

    def part(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    lines = b"".join(b"\0" + pixels[row * side : (row + 1) * side] for row in range(side))
    head = struct.pack(">IIBBBBB", side, side, 8, 0, 0, 0, 0)
    path.write_bytes(
        b"\x89PNG\r\n\x1a\n" + part(b"IHDR", head) + part(b"IDAT", zlib.compress(lines)) + part(b"IEND", b"")
    )


def test_records_are_batches_of_numpy(shards: Path) -> None:
    pictures = tw.records.Pictures(shards / "out", batch=3, seed=4)
    assert len(pictures) == 8 and pictures.shape[:2] == (8, 8)
    batches = list(pictures)
    assert [len(batch.labels) for batch in batches] == [3, 3, 2]
    assert batches[0].images.dtype == numpy.float32 and batches[0].images.flags.writeable
    assert sorted(label for batch in batches for label in batch.labels) == [0] * 4 + [1] * 4
    for images, labels in batches:
        assert ((images.mean(axis=(1, 2, 3)) > 0.4) == (labels == labels.max())).all() or len(set(labels)) == 1
    other = list(tw.records.Pictures(shards / "out", batch=3, seed=4, threads=3))
    assert all((a.images == b.images).all() for a, b in zip(batches, other))


def test_replicas_share_the_records_and_bytes_stay_bytes(shards: Path) -> None:
    shares = [
        tw.records.Pictures(shards / "out", batch=8, replica=own, replicas=2, dtype="uint8") for own in (0, 1)
    ]
    counts = [sum(len(batch.labels) for batch in share) for share in shares]
    assert sum(counts) == 8
    assert next(iter(shares[0])).images.dtype == numpy.uint8


def test_a_folder_of_pictures_is_read_as_parts(shards: Path) -> None:
    train = tw.records.Pictures(shards / "in", part="train", size=8, batch=2)
    test = tw.records.Pictures(shards / "in", part="test", size=8, batch=2)
    assert len(train) + len(test) == 8


def test_records_that_are_not_there_are_named(tmp_path: Path) -> None:
    with pytest.raises(tw.TrainwrightError, match="nowhere"):
        tw.records.Pictures(tmp_path / "nowhere")
    with pytest.raises(tw.InputError, match="float16"):
        tw.records.Pictures(tmp_path, dtype="float16")
