"""Embedding rows in batches: wherever they come from and however they are cut, the same places; what is refused."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sidelight import CoordinatedMixture, KernelInformationEmbedding, embed_rows
from sidelight.datasets import s_curve
from sidelight.evaluate import trustworthiness
from sidelight.maps import nearby

X = np.asarray(s_curve(1500, random_state=0).X)


def small(**settings):
    return KernelInformationEmbedding(2, solver="multilevel", max_iter=60, random_state=0, **settings)


@pytest.fixture(scope="module")
def fitted():
    return small().fit(X[:400])


def cut(size=130):
    return lambda: (X[start : start + size] for start in range(0, len(X), size))


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("rows")
    np.save(folder / "rows.npy", X)
    table = pa.table({f"c{k}": X[:, k] for k in range(3)})
    parquet.write_table(table, folder / "rows.parquet", row_group_size=700)
    return folder


SOURCES = {
    "callable": lambda _: cut(),
    "list": lambda _: list(cut()()),
    "memory map": lambda files: np.load(files / "rows.npy", mmap_mode="r"),
    "npy": lambda files: str(files / "rows.npy"),
    "parquet": lambda files: files / "rows.parquet",
}


@pytest.fixture(scope="module")
def reference():
    model = small()
    return model, embed_rows(X, model=model, sample=300, random_state=3)


@pytest.mark.parametrize("name", SOURCES)
def test_places_do_not_depend_on_where_rows_come_from(name, files, reference, tmp_path):
    out = tmp_path / "places.npy"
    found = embed_rows(SOURCES[name](files), out, model=small(), sample=300, random_state=3)
    np.testing.assert_array_equal(found, reference[1])
    np.testing.assert_array_equal(np.load(out), reference[1])


def test_sampled_rows_are_where_the_fit_put_them(reference):
    model, Z = reference
    inside = {place.tobytes() for place in Z}
    assert len(model.embedding_) == 300
    assert all(place.tobytes() in inside for place in model.embedding_)


@pytest.mark.parametrize("refine", [True, False])
def test_places_do_not_depend_on_the_batch_bit_by_bit(fitted, refine):
    whole = embed_rows(X, model=fitted, refine=refine)
    for size, rows in ((1, X[:10]), (7, X[:100]), (512, X)):
        np.testing.assert_array_equal(
            embed_rows(rows, model=fitted, refine=refine, batch_size=size), whole[: len(rows)]
        )


@pytest.mark.parametrize("columns", [3, 10])
def test_places_among_many_rows_do_not_depend_on_batch_or_threads(columns, monkeypatch):
    """Beyond ``MANY`` rows neighbours are found in a tree, or in cells."""
    monkeypatch.setattr(nearby, "MANY", 300)
    rows = np.random.default_rng(2).normal(size=(900, columns)).cumsum(axis=1)
    model = small().fit(rows[:400])
    whole = embed_rows(rows, model=model, refine=True)
    for n_jobs, size in ((1, 37), (2, 100)):
        cut = embed_rows(rows, model=model.set_params(n_jobs=n_jobs), batch_size=size)
        np.testing.assert_array_equal(cut, whole)


def test_unrefined_places_are_those_of_transform(fitted):
    np.testing.assert_array_equal(embed_rows(X, model=fitted, refine=False), fitted.transform(X))


def test_single_numbers_stay_single(fitted, tmp_path):
    np.save(tmp_path / "rows.npy", X.astype(np.float32))
    found = embed_rows(tmp_path / "rows.npy", tmp_path / "places.npy", model=fitted)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, embed_rows(X, model=fitted), atol=2e-2)


def test_refining_keeps_more_neighbours_than_the_mean():
    rng = np.random.default_rng(1)
    centres = 0.6 * rng.normal(size=(12, 10))
    rows = centres[rng.integers(0, 12, size=1400)] + 0.4 * rng.normal(size=(1400, 10))
    model = small().fit(rows[:700])
    trust = [
        trustworthiness(rows[700:], embed_rows(rows[700:], model=model, refine=refine), n_neighbors=10)
        for refine in (False, True)
    ]
    assert trust[1] > trust[0] + 0.005


def test_fewer_rows_than_the_sample_are_all_fitted():
    model = small()
    np.testing.assert_array_equal(embed_rows(X[:200], model=model), model.embedding_)


def test_the_last_step_of_a_pipeline_is_refined():
    columns = np.array([1.0, 100.0, 1e-3])
    model = make_pipeline(StandardScaler(), small())
    found = embed_rows(X * columns, model=model, sample=300, refine=True)
    scaled = model[0].transform(X * columns)
    np.testing.assert_allclose(found, embed_rows(scaled, model=small(), sample=300), atol=1e-6)


def test_a_model_without_refinement_places_by_its_own_map():
    model = CoordinatedMixture(1, n_charts=3, random_state=0)
    found = embed_rows(cut(), model=model, sample=400)
    assert found.shape == (len(X), 1)
    with pytest.raises(ValueError, match="is no multilevel kernel information embedding"):
        embed_rows(cut(), model=model, refine=True)


@pytest.mark.thorough
def test_memory_does_not_grow_with_the_rows(fitted, tmp_path):
    def walk(n):
        return lambda: (np.random.default_rng(k).normal(size=(500, 3)) for k in range(n // 500))

    peaks = []
    for n in (1_000, 4_000):
        tracemalloc.start()
        embed_rows(walk(n), tmp_path / "places.npy", model=fitted, batch_size=500)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.1 * peaks[0]


def test_a_failure_on_the_way_leaves_the_file_as_it_was(fitted, tmp_path):
    out = tmp_path / "places.npy"
    np.save(out, np.arange(3))

    def broken():
        yield X[:1000]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        embed_rows(broken, out, model=fitted, batch_size=100)
    np.testing.assert_array_equal(np.load(out), np.arange(3))
    assert [path.name for path in tmp_path.iterdir()] == ["places.npy"]


def holed():
    yield X[:100]
    yield np.full((10, 3), np.nan)


REFUSED = {
    "NaN": (holed, "NaN or infinite"),
    "width": (lambda: iter([X[:100], X[:100, :2]]), "3 columns like the first batch"),
    "text": (lambda: iter([np.array([["a", "b", "c"]])]), "is not all numbers"),
    "shape": (np.zeros((4, 2, 2)), "Reshape it"),
    "once": (iter([X]), "read more than once"),
    "empty": (lambda: iter([]), "has no rows"),
    "missing": ("nowhere.npy", "does not exist"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_source_that_cannot_be_embedded_is_refused(name, fitted, tmp_path):
    source, sentence = REFUSED[name]
    with pytest.raises((TypeError, ValueError, FileNotFoundError), match=sentence):
        embed_rows(source, tmp_path / "places.npy", model=fitted)
    assert not list(tmp_path.iterdir())


@pytest.fixture(scope="module")
def informed():
    return KernelInformationEmbedding(2, solver="multilevel", max_iter=10, random_state=0).fit(
        X[:120], given=KNOWN[:120]
    )


KNOWN = (np.arange(len(X)) % 3).astype(float)
KNOWN[7::40] = np.nan


@pytest.mark.parametrize("refine", [True, False])
def test_places_with_given_do_not_depend_on_the_batch(informed, refine):
    rows, known = X[:300], KNOWN[:300]
    whole = embed_rows(rows, given=known, model=informed, refine=refine)
    np.testing.assert_array_equal(embed_rows(rows, given=known, model=informed, refine=refine, batch_size=37), whole)
    if not refine:
        np.testing.assert_array_equal(whole, informed.transform(rows, given=known))
    unknown = np.isnan(known)
    np.testing.assert_array_equal(whole[unknown], informed.transform(rows[unknown]))


def test_given_that_does_not_fit_the_rows_or_the_model_is_refused(fitted, informed):
    with pytest.raises(ValueError, match=r"transform\(X, given"):
        embed_rows(X, model=informed)
    with pytest.raises(ValueError, match="was fitted without given"):
        embed_rows(X, given=KNOWN, model=fitted)
    with pytest.raises(ValueError, match=r"given=1500 rows does not match the 200 rows"):
        embed_rows(X[:200], given=KNOWN, model=informed)
    with pytest.raises(ValueError, match=r"200 entries .* does not match the 1500 rows"):
        embed_rows(X, given=KNOWN[:200], model=informed)


def test_a_place_that_cannot_be_written_is_refused_before_any_work(files, tmp_path):
    with pytest.raises(ValueError, match="is the source itself"):
        embed_rows(files / "rows.npy", files / "rows.npy")
    with pytest.raises(ValueError, match=r"end with \.npy"):
        embed_rows(X, tmp_path / "places.csv")
    with pytest.raises(FileNotFoundError, match="Make the folder"):
        embed_rows(X, tmp_path / "nowhere" / "places.npy")


def test_verbose_says_how_far_it_is(fitted, capsys):
    embed_rows(X, model=fitted, verbose=1)
    assert "1,500 rows placed in" in capsys.readouterr().err
