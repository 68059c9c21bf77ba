"""Reliability of rows: damaged maps are found out, noise is not believed, rows are judged one by one."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.manifold import Isomap
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import StandardScaler

from sidelight import (
    CoordinatedMixture,
    HybridEmbedding,
    KernelInformationEmbedding,
    KernelOptions,
    MultipleRelationalEmbedding,
    PPCAMixture,
    ProbabilisticPCA,
    TwoWayEmbedding,
    explain,
)
from sidelight.explain._resampled_maps import _places_of_all
from sidelight.explain._row_parts import MappedRows, row_parts, surroundings
from sidelight.neighbours.search import nearest
from sidelight.pipeline import make_pipeline

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
PARTS = ["kept", "true", "returns", "stays"]


def sheet(n: int = 250, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Rows on a curved sheet, and their places on it."""
    T = np.random.default_rng(seed).uniform(size=(n, 2))
    return np.column_stack([T, 0.3 * np.sin(4.0 * T[:, 0])]), T


def of_map(X: np.ndarray, Z: np.ndarray):
    return explain.reliability(TwoWayEmbedding().fit(X, embedding=Z))


def test_a_good_map_is_believed():
    X, T = sheet()
    table = of_map(X, T)
    assert list(table.columns) == ["row", "reliability", *PARTS]
    assert (table.reliability > 0.9).mean() > 0.95
    assert (table[PARTS].median() > 0.9).all()
    assert table.row.tolist() == list(range(250))


def test_rows_along_a_tear_lose_neighbours_and_would_not_stay():
    X, T = sheet()
    Z = T + np.where(T[:, :1] > 0.5, 4.0, 0.0)
    table, near = of_map(X, Z), np.abs(T[:, 0] - 0.5) < 0.03
    far = np.abs(T[:, 0] - 0.5) > 0.2
    assert table.kept[near].mean() < 0.8
    assert table.stays[near].mean() < table.stays[far].mean() - 0.2
    assert table.true[near].mean() > 0.9
    assert table.reliability[near].mean() < 0.7
    assert table.reliability[far].mean() > 0.9


def test_rows_of_a_fold_have_false_neighbours_and_do_not_come_back():
    X, T = sheet()
    Z = np.column_stack([0.7 - np.abs(T[:, 0] - 0.7), T[:, 1]])
    table, folded = of_map(X, Z), T[:, 0] > 0.85
    assert table.true[folded].mean() < 0.8
    assert table.returns[folded].mean() < table.returns[T[:, 0] < 0.3].mean() - 0.01
    assert table.reliability[folded].mean() < 0.6
    assert table.reliability[T[:, 0] < 0.3].mean() > 0.9


def test_misplaced_rows_are_found():
    X, T = sheet()
    rng = np.random.default_rng(1)
    wrong = rng.choice(250, size=25, replace=False)
    Z = T.copy()
    Z[wrong] = T[rng.permutation(wrong)]
    moved = np.linalg.norm(Z - T, axis=1) > 0.2
    assert roc_auc_score(~moved, of_map(X, Z).reliability) > 0.97


@pytest.mark.parametrize("d", [15, 60])
def test_maps_of_noise_are_not_believed(d):
    X = np.random.default_rng(0).normal(size=(250, d))
    table = explain.reliability(TwoWayEmbedding(PCA(2), maps="kernel").fit(X))
    assert (table.reliability >= 0.8).mean() <= 0.01
    assert table.reliability.mean() < 0.3
    assert "noise" in explain.in_words(table)[0]


def test_equal_rows_and_equal_places_say_nothing():
    X, _ = sheet(60)
    rows = MappedRows(X, np.zeros((60, 2)))
    parts = row_parts(surroundings(rows, None, 1), np.random.RandomState(0), 1)
    assert not parts.kept.any()
    assert not parts.true.any()
    same = row_parts(surroundings(MappedRows(np.ones((60, 3)), X[:, :2]), None, 1), np.random.RandomState(0), 1)
    assert not same.kept.any()


def test_one_rank_more_or_less_does_not_matter():
    X, T = sheet()
    before = of_map(X, T)
    moved = of_map(X, T + 1e-4 * np.random.default_rng(0).normal(size=T.shape))
    assert (before.reliability - moved.reliability).abs().max() < 0.02


def test_training_rows_are_judged_alike_alone_together_and_by_default():
    X, T = sheet(150)
    model = TwoWayEmbedding().fit(X, embedding=T)
    every = explain.reliability(model)
    assert explain.reliability(model, X).equals(every)
    some = explain.reliability(model, X[20:30])
    np.testing.assert_allclose(some[PARTS], every[PARTS][20:30], atol=1e-9)
    one = explain.reliability(model, X[25:26])
    np.testing.assert_allclose(one[PARTS], some[PARTS][5:6], atol=1e-9)


def test_new_rows_are_judged_among_the_training_rows():
    X, T = sheet(300)
    new, _ = sheet(20, seed=5)
    table = explain.reliability(TwoWayEmbedding().fit(X, embedding=T), new)
    assert len(table) == 20
    assert table.reliability.median() > 0.9


def test_rows_are_compared_after_the_effect_of_given():
    X, _ = sheet(160)
    group = np.arange(160) % 2
    shifted = X + 5.0 * group[:, None]
    model = KernelInformationEmbedding(max_iter=50).fit(shifted, given=group)
    table = explain.reliability(model)
    assert table.reliability.median() > 0.9
    again = explain.reliability(model, shifted[:30], given=group[:30])
    np.testing.assert_allclose(again[PARTS], table[PARTS][:30], atol=1e-6)
    with pytest.raises(ValueError, match="Give the values of these rows"):
        explain.reliability(model, shifted[:30])
    plain = TwoWayEmbedding().fit(shifted, embedding=model.embedding_)
    assert explain.reliability(plain).kept.mean() < table.kept.mean() + 1e-9


def wide_sheet(n: int = 250) -> tuple[np.ndarray, np.ndarray]:
    """A sheet in 3 of 100 columns of noise, and its places."""
    X, T = sheet(n)
    return np.column_stack([X, np.zeros((n, 97))]) + 0.04 * np.random.default_rng(1).normal(size=(n, 100)), T


def test_columns_of_noise_do_not_blur_who_is_near():
    """The true map of a sheet in 300 noisy columns is believed more than by distances in all of them."""
    rng = np.random.default_rng(0)
    T = rng.uniform(-1, 1, size=(500, 2))
    signal = np.column_stack([1.5 * T, 0.5 * np.sin(2.0 * T @ rng.normal(size=(2, 6)))])
    X = signal @ rng.normal(size=(8, 300)) / np.sqrt(8) + 0.6 * rng.normal(size=(500, 300))
    near = [surroundings(MappedRows(X, T, None, whole), None, 1) for whole in (False, True)]
    np.testing.assert_array_equal(near[1].in_data.index, nearest(X, k=30).index)
    reduced, whole = (row_parts(found, np.random.RandomState(0), 1) for found in near)
    assert reduced.kept.mean() > whole.kept.mean() + 0.02
    assert reduced.true.mean() > whole.true.mean() + 0.02


def test_rows_of_many_columns_are_judged_alike_alone_together_and_by_default():
    X, T = wide_sheet()
    model = TwoWayEmbedding().fit(X, embedding=T)
    every = explain.reliability(model)
    some = explain.reliability(model, X[20:30])
    np.testing.assert_allclose(some[PARTS], every[PARTS][20:30], atol=1e-5)
    np.testing.assert_allclose(explain.reliability(model, X[25:26])[PARTS], some[PARTS][5:6], atol=1e-5)


def test_the_lists_of_a_fit_spare_the_search(monkeypatch):
    """Rows of many columns are compared in the space of the multilevel fit, whose lists are then in order."""
    X, _ = wide_sheet()
    model = KernelInformationEmbedding(solver="multilevel", max_iter=5).fit(X)
    expected = explain.reliability(model)

    def refuse(*args, **kwargs):
        raise AssertionError("a search of neighbours that the model knows")

    monkeypatch.setattr("sidelight.explain._row_parts.nearest", refuse)
    assert explain.reliability(model).equals(expected)


def test_all_columns_count_if_the_fit_was_told_so(monkeypatch):
    X, _ = wide_sheet()
    model = KernelInformationEmbedding(solver="multilevel", kernel=KernelOptions(columns="all"), max_iter=5).fit(X)

    def refuse(*args, **kwargs):
        raise AssertionError("fewer columns")

    monkeypatch.setattr("sidelight.explain._row_parts.neighbour_space", refuse)
    assert len(explain.reliability(model)) == 250


def test_pipelines_look_at_rows_after_their_steps():
    X, _ = sheet(120)
    wide = X * [1.0, 100.0, 1.0]
    model = make_pipeline(StandardScaler(), TwoWayEmbedding(PCA(2), maps="kernel")).fit(wide)
    assert explain.reliability(model, wide).equals(explain.reliability(model))


@pytest.mark.parametrize(
    "model",
    [ProbabilisticPCA(2), PCA(2), CoordinatedMixture(n_charts=3, random_state=0)],
    ids=lambda m: type(m).__name__,
)
def test_models_that_keep_no_rows_need_them(model):
    X, _ = sheet(120)
    model.fit(X)
    assert explain.reliability(model, X).kept.mean() > 0.7
    with pytest.raises(ValueError, match="keeps no rows"):
        explain.reliability(model)


@pytest.mark.parametrize("model", [HybridEmbedding(), MultipleRelationalEmbedding(), TwoWayEmbedding(Isomap())])
def test_models_that_keep_rows_need_nothing(model):
    X, _ = sheet(90)
    assert explain.reliability(model.fit(X)).kept.mean() > 0.8


def test_what_cannot_be_judged_is_refused_with_a_sentence():
    X, T = sheet(60)
    D = np.linalg.norm(X[:, None] - X[None], axis=2)
    with pytest.raises(ValueError, match="no rows that neighbours could be looked for among"):
        explain.reliability(KernelInformationEmbedding(metric="precomputed", max_iter=20).fit(D))
    with pytest.raises(ValueError, match="mixture without a map"):
        explain.reliability(PPCAMixture(2, 1).fit(X), X)
    with pytest.raises(ValueError, match="fewer rows than the 20"):
        explain.reliability(ProbabilisticPCA(1).fit(X[:12]), X[:12])
    with pytest.raises(ValueError, match="a model that takes none"):
        explain.reliability(ProbabilisticPCA(1).fit(X), X, given=np.zeros(60))
    model = TwoWayEmbedding().fit(X, embedding=T)
    with pytest.raises(ValueError, match="was handed in"):
        explain.reliability(model, X, bootstrap=2)
    with pytest.raises(ValueError, match="Give these as X"):
        explain.reliability(model, bootstrap=2)
    with pytest.raises(ValueError, match="bootstrap=-1"):
        explain.reliability(model, bootstrap=-1)


def test_resampled_maps_say_what_is_stable():
    X, _ = sheet(150)
    model = TwoWayEmbedding(PCA(2)).fit(X)
    table = explain.reliability(model, X, bootstrap=2)
    assert list(table.columns)[-2:] == ["stable", "displaced"]
    assert table.stable.mean() > 0.95
    assert table.displaced.mean() < 0.1
    noise = np.random.default_rng(0).normal(size=(150, 20))
    other = explain.reliability(TwoWayEmbedding(PCA(2)).fit(noise), noise, bootstrap=2)
    assert other.stable.mean() < 0.8
    assert other.displaced.mean() > 0.3


@pytest.mark.parametrize("side", [{}, {"given": np.arange(150) // 3 % 2}], ids=["plain", "given"])
def test_rows_of_a_resampled_fit_keep_their_places_there(side):
    """Only the other rows are placed: that is a quarter of the cost, and the same map."""
    X, _ = sheet(150)
    half = np.arange(0, 150, 2)
    model = KernelInformationEmbedding(max_iter=30).fit(X[half], **{k: v[half] for k, v in side.items()})
    places = _places_of_all(model, X, side, half, 150)
    np.testing.assert_allclose(places, model.transform(X, **side), rtol=0, atol=1e-12 * np.abs(places).max())


def test_training_rows_given_again_are_not_placed_again(monkeypatch):
    X, T = sheet(150)
    model = TwoWayEmbedding().fit(X, embedding=T)
    expected = explain.reliability(model)

    def refuse(self, X):
        raise AssertionError("transform of rows whose places are known")

    monkeypatch.setattr(TwoWayEmbedding, "transform", refuse)
    assert explain.reliability(model, X).equals(expected)


def test_the_table_does_not_depend_on_threads_and_may_be_polars():
    X, T = sheet(200)
    model = TwoWayEmbedding().fit(X, embedding=T)
    assert explain.reliability(model, n_jobs=1).equals(explain.reliability(model, n_jobs=2))
    assert explain.reliability(model, random_state=3).equals(explain.reliability(model, random_state=3))
    pytest.importorskip("polars")
    assert explain.reliability(model, output="polars").columns[:2] == ["row", "reliability"]


def test_words_say_what_is_wrong():
    X, T = sheet()
    good = explain.in_words(of_map(X, T))
    assert good[0].endswith("Neighbours and groups of this map can be read.")
    folded = explain.in_words(of_map(X, np.column_stack([0.6 - np.abs(T[:, 0] - 0.6), T[:, 1]])))
    assert "where rows are reliable only" in folded[0]
    assert "folded" in folded[1]


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["s-curve, noise 0.2", "6 components in 25, 4 apart", "noise in 15"])
def test_rows_called_reliable_are_right_as_often_as_said(name):
    """Sets that the rule was not calibrated on; PCA and our own map, and damaged ones of sheets."""
    sets = pytest.importorskip("benchmarks.reliability_sets")
    said, right = [], []
    for case in sets.cases({name: sets.HELD_OUT[name]}, [3], ["KIE", "PCA", "torn", "folded"]):
        said.append(of_map(case.X, case.Z).reliability.to_numpy())
        right.append(case.right)
    p, r = np.concatenate(said), np.concatenate(right)
    assert abs(p.mean() - r.mean()) < 0.2
    if (p >= 0.8).mean() > 0.05:
        assert r[p >= 0.8].mean() > 0.75


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["breast cancer", "noise"])
def test_left_out_rows_move_as_far_as_real_fits_without_them_say(name):
    reliability = pytest.importorskip("benchmarks.reliability")
    from sklearn.datasets import load_breast_cancer

    rng = np.random.default_rng(0)
    noise = rng.normal(size=(150, 10))
    X = noise if name == "noise" else StandardScaler().fit_transform(load_breast_cancer().data[:150])
    Z = reliability._polished(X, KernelInformationEmbedding().fit(X).embedding_).embedding_
    rows = rng.choice(150, size=12, replace=False)
    moved = row_parts(surroundings(MappedRows(X, Z), None, 1), np.random.RandomState(0), 1).moved[rows]
    true = np.array([reliability._moved_without(X, Z, int(i)) for i in rows])
    assert np.corrcoef(moved.ravel(), true.ravel())[0, 1] > 0.6
