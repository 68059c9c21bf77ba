"""Intervals of every model that has them: coverage, shapes, files, threads, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import sidelight
from sidelight import (
    CoordinatedCCA,
    CoordinatedMixture,
    HybridEmbedding,
    JointInformationEmbedding,
    KernelInformationEmbedding,
    MultipleRelationalEmbedding,
    ProbabilisticPCA,
    TwoWayEmbedding,
    UnsupervisedKernelRegression,
)
from sidelight.base.capabilities import capabilities
from sidelight.base.chain import as_chain
from sidelight.pipeline import make_pipeline as informed_pipeline

RNG = np.random.default_rng(0)


def sheet(n: int, seed: int) -> np.ndarray:
    """Rows of five columns around a curved sheet, with noise."""
    rng = np.random.default_rng(seed)
    u, v = rng.uniform(-1, 1, size=(2, n))
    return np.column_stack([u, v, u**2, u * v, np.sin(2 * v)]) + 0.1 * rng.normal(size=(n, 5))


X, NEW = sheet(200, 0), sheet(400, 1)
QUICKEST = ("information", "linear", "ppca")
QUICK = {"max_iter": 40, "tol": 1e-3, "n_jobs": 1}
MODELS = {
    "information": lambda: KernelInformationEmbedding(**QUICK),
    "one bandwidth": lambda: KernelInformationEmbedding(bandwidth="loo", **QUICK),
    "linear": lambda: TwoWayEmbedding(n_jobs=1),
    "kernel": lambda: TwoWayEmbedding(maps="kernel", n_jobs=1),
    "hybrid": lambda: HybridEmbedding(n_jobs=1),
    "ppca": lambda: ProbabilisticPCA(2, n_jobs=1),
    "charts": lambda: CoordinatedMixture(2, n_charts=6, n_jobs=1, random_state=0),
    "regression": lambda: UnsupervisedKernelRegression(**QUICK),
    "relational": lambda: MultipleRelationalEmbedding(2, **QUICK),
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    "name", [name if name in QUICKEST else pytest.param(name, marks=pytest.mark.thorough) for name in MODELS]
)
def test_nine_of_ten_new_entries_are_within(name):
    model = MODELS[name]().fit(X)
    found = model.inverse_transform_interval(model.transform(NEW), level=0.9)
    assert 0.86 < found.holds(NEW).mean() < 0.95
    assert found.level == 0.9
    narrow = model.inverse_transform_interval(model.transform(NEW[:50]), level=0.5)
    assert 0.4 < narrow.holds(NEW[:50]).mean() < 0.62


@pytest.fixture(scope="module")
def informed():
    group = np.random.default_rng(2).integers(2, size=200)
    return KernelInformationEmbedding(max_iter=40, tol=1e-2, n_jobs=1).fit(X + 2.0 * group[:, None], given=group)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_with_given_rows_are_placed_and_taken_back_with_it(informed):
    group = np.random.default_rng(3).integers(2, size=400)
    rows = NEW + 2.0 * group[:, None]
    known = informed.inverse_transform_interval(informed.transform(rows, given=group), given=group)
    unknown = informed.inverse_transform_interval(informed.transform(rows))
    assert 0.86 < known.holds(rows).mean() < 0.96
    assert 0.84 < unknown.holds(rows).mean() < 0.97
    assert (known.upper - known.lower).mean() < (unknown.upper - unknown.lower).mean()
    half = np.where(np.arange(400) < 200, group, np.nan)
    mixed = informed.inverse_transform_interval(informed.transform(rows, given=half), given=half)
    assert np.allclose(mixed.lower[:200], known.lower[:200])
    assert np.allclose(mixed.lower[200:], unknown.lower[200:])


def test_counterfactual_intervals_are_around_the_counterfactual(informed):
    rows, group = NEW[:60], np.zeros(60, dtype=int)
    for now in (None, group):
        found = informed.counterfactual_interval(rows, given=1, given_now=now, level=0.9)
        made = informed.counterfactual(rows, given=1, given_now=now)
        assert np.allclose((found.lower + found.upper) / 2, made)
    twins = NEW[:60] + 2.0 + 0.1 * RNG.normal(size=(60, 5))
    assert found.holds(twins).mean() > 0.85
    assert not hasattr(KernelInformationEmbedding(**QUICK).fit(X), "counterfactual_interval")


@pytest.mark.parametrize("name", [pytest.param("information", marks=pytest.mark.thorough), "linear", "ppca"])
def test_intervals_are_row_by_row_the_same_in_two_threads_and_after_a_file(name, tmp_path):
    model = MODELS[name]().fit(X)
    Z = model.transform(NEW[:30])
    whole = model.inverse_transform_interval(Z)
    parts = [model.inverse_transform_interval(Z[i : i + 1]) for i in range(30)]
    assert np.allclose(whole.lower, np.concatenate([one.lower for one in parts]), rtol=1e-12, atol=1e-12)
    sidelight.save(model, tmp_path / "model.sidelight")
    loaded = sidelight.load(tmp_path / "model.sidelight")
    assert np.array_equal(loaded.inverse_transform_interval(Z).upper, whole.upper)
    assert np.array_equal(MODELS[name]().set_params(n_jobs=2).fit(X).inverse_transform_interval(Z).upper, whole.upper)


@pytest.mark.thorough
def test_places_of_left_out_rows_are_within_their_intervals():
    both = KernelInformationEmbedding(**QUICK).fit(np.concatenate([X, NEW])).embedding_
    model = TwoWayEmbedding(n_jobs=1).fit(X, embedding=both[:200])
    truth, places = both[200:], model.transform(NEW)
    assert 0.84 < model.transform_interval(NEW, level=0.9).holds(truth).mean() < 0.96
    away = np.linalg.norm(truth - places, axis=1)
    assert 0.84 < (away <= model.transform_radius(NEW, level=0.9)).mean() < 0.96
    assert model.transform_radius(NEW, level=0.5).mean() < model.transform_radius(NEW, level=0.95).mean()


@pytest.mark.parametrize("flat", [True, pytest.param(False, marks=pytest.mark.thorough)])
@pytest.mark.parametrize(
    "make", [lambda: JointInformationEmbedding(**QUICK), lambda: CoordinatedCCA(n_charts=3, random_state=0)]
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_predicted_views_are_within(make, flat):
    pick = (lambda rows: rows[:, 4]) if flat else (lambda rows: rows[:, 2:])
    y = pick(X).copy()
    y[150:] = np.nan
    model = make().fit(X[:, :2], y)
    found = model.predict_interval(NEW[:, :2], level=0.9)
    assert found.lower.shape == model.predict(NEW[:, :2]).shape
    assert 0.82 < found.holds(pick(NEW)).mean() < 0.97
    assert not capabilities(make().fit(X[:, :2])).has_predict_interval


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(lambda: KernelInformationEmbedding(missing="impute", **QUICK), marks=pytest.mark.thorough),
        ProbabilisticPCA,
    ],
)
def test_missing_entries_are_within_and_observed_ones_have_no_width(make):
    gone = np.random.default_rng(5).random((600, 5)) < 0.2
    gone[gone.all(axis=1)] = False
    rows = np.where(gone, np.nan, np.concatenate([X, NEW]))
    model = make().fit(rows[:200])
    found = model.impute_interval(rows[200:], level=0.9)
    gone = gone[200:]
    assert 0.85 < found.holds(NEW)[gone].mean() < 0.95
    assert np.array_equal(found.lower[~gone], NEW[~gone])
    assert np.array_equal(found.upper[~gone], NEW[~gone])


def test_columns_are_chosen_and_types_kept():
    model = TwoWayEmbedding(n_jobs=1).fit(X.astype(np.float32))
    Z = model.transform(NEW[:5].astype(np.float32))
    some, whole = model.inverse_transform_interval(Z, columns=[3, 1]), model.inverse_transform_interval(Z)
    assert np.array_equal(some.lower, whole.lower[:, [3, 1]])
    assert whole.upper.dtype == np.float32


def test_pipelines_give_intervals_in_the_units_of_the_data():
    rows = 100.0 * X + 7.0
    pipeline = informed_pipeline(StandardScaler(), TwoWayEmbedding(n_jobs=1)).fit(rows)
    new = 100.0 * NEW + 7.0
    found = pipeline.inverse_transform_interval(pipeline.transform(new), level=0.9)
    assert 0.86 < found.holds(new).mean() < 0.95
    assert pipeline.transform_interval(new).lower.shape == (400, 2)
    assert pipeline.is_novel([[1e6, 0, 0, 0, 0]]).tolist() == [True]
    turned = as_chain(make_pipeline(TwoWayEmbedding(), TwoWayEmbedding()).fit(X))
    assert not capabilities(turned).has_row_interval  # a step before it mixes columns


def test_pipelines_predict_with_intervals_in_the_units_of_y():
    model = informed_pipeline(StandardScaler(), CoordinatedCCA(n_charts=2, n_jobs=1, random_state=0))
    model.fit(100.0 * X[:, :2] + 7.0, X[:, 4])
    rows = 100.0 * NEW[:, :2] + 7.0
    found = model.predict_interval(rows, level=0.9)
    assert np.allclose((found.lower + found.upper) / 2, model.predict(rows))
    assert 0.82 < found.holds(NEW[:, 4]).mean() < 0.97
    assert not hasattr(informed_pipeline(StandardScaler(), ProbabilisticPCA(2)).fit(X), "predict_interval")


def test_pipelines_impute_with_intervals_in_the_units_of_the_data():
    gone = np.random.default_rng(5).random((600, 5)) < 0.2
    gone[gone.all(axis=1)] = False
    rows = np.where(gone, np.nan, -100.0 * np.concatenate([X, NEW]) + 7.0)
    model = informed_pipeline(StandardScaler(), ProbabilisticPCA(n_jobs=1)).fit(rows[:200])
    rows, gone = rows[200:], gone[200:]
    filled, found = model.impute(rows), model.impute_interval(rows, level=0.9)
    assert np.array_equal(filled[~gone], rows[~gone])
    assert np.array_equal(found.lower[~gone], rows[~gone])
    assert np.allclose((found.lower + found.upper) / 2, filled)
    assert 0.85 < found.holds(-100.0 * NEW + 7.0)[gone].mean() < 0.95
    mixed = informed_pipeline(PCA(3), ProbabilisticPCA(2)).fit(X)
    assert not hasattr(mixed, "impute_interval")  # a step before it mixes columns


def test_what_cannot_be_said_is_refused_or_not_there():
    model = TwoWayEmbedding().fit(X)
    with pytest.raises(ValueError, match=r"TwoWayEmbedding: level=1\.5 is not a number in range"):
        model.inverse_transform_interval(model.embedding_[:2], level=1.5)
    few = TwoWayEmbedding().fit(X[:12])
    with pytest.raises(ValueError, match="training rows=12 is less than the 20"):
        few.inverse_transform_interval(few.embedding_[:2])
    D = np.linalg.norm(X[:40, None] - X[None, :40], axis=2)
    distances = KernelInformationEmbedding(metric="precomputed", **QUICK).fit(D)
    assert not hasattr(distances, "transform_interval")
    sparse = KernelInformationEmbedding(**QUICK).fit(csr_array(np.where(X > 0, X, 0.0)))
    assert not hasattr(sparse, "inverse_transform_interval")
    assert sparse.transform_interval(csr_array(np.where(NEW > 0, NEW, 0.0))[:3]).lower.shape == (3, 2)
    streamed = ProbabilisticPCA(2).partial_fit(X)
    assert not hasattr(streamed, "inverse_transform_interval")
    assert not hasattr(streamed, "impute_interval")
