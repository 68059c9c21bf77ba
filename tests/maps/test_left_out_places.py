"""Places of training rows by the map without them: every row at once as one by one."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.decomposition import PCA

from sidelight import KernelInformationEmbedding, TwoWayEmbedding
from sidelight.maps.interpolation import anchor_shares
from sidelight.maps.left_out_places import left_out_places
from sidelight.maps.without_rows import backward_without

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
KINDS = ["sheet", "noise", "repeated rows"]


def rows_of(kind: str) -> np.ndarray:
    rng = np.random.default_rng(0)
    if kind == "noise":
        return rng.normal(size=(90, 6))
    T = rng.uniform(size=(120, 2))
    X = np.column_stack([T, 0.3 * np.sin(4.0 * T[:, 0])])
    return np.vstack([X, X[:4]]) if kind == "repeated rows" else X


def slow_place(mapped, i: int) -> np.ndarray:
    """The formula of the module, term by term."""
    weights, V = mapped.weights, mapped.outputs
    X = weights.inputs

    def squares(row: int, listed: np.ndarray) -> np.ndarray:
        return ((X[listed] - X[row]) ** 2).sum(axis=1)

    listed = np.asarray(weights.lists[i], dtype=int)
    near = listed[np.argsort(squares(i, listed), kind="stable")[:5]]
    distance = np.sqrt(squares(i, near))
    place = np.zeros(V.shape[1])
    for a, share, away in zip(near, anchor_shares(distance[None])[0], distance, strict=False):
        if share == 0:
            continue
        others = [j for j in weights.lists[a] if j != i][: weights.lists.shape[1] - 1]
        candidates = np.array([a, *others])
        here, there = (weights.weigh_squares(squares(row, candidates)[None])[0] @ V[candidates] for row in (i, a))
        held = np.exp(-mapped.correction.falloff[a] * away**2)
        place += share * (here + held * (V[a] - there))
    return place


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "model", [TwoWayEmbedding(PCA(2), maps="kernel"), KernelInformationEmbedding(solver="multilevel", max_iter=5)]
)
def test_every_row_at_once_as_term_by_term(model, kind):
    mapped = model.fit(rows_of(kind)).backward_
    expected = [slow_place(mapped, i) for i in range(len(mapped.outputs))]
    np.testing.assert_allclose(left_out_places(mapped, 1), expected, rtol=0, atol=1e-9 * np.abs(mapped.outputs).max())


@pytest.mark.parametrize("kind", ["sheet", "repeated rows"])
def test_it_is_the_map_without_the_row(kind):
    mapped = TwoWayEmbedding(PCA(2), maps="kernel").fit(rows_of(kind)).backward_
    inputs, every = mapped.weights.inputs, np.arange(len(mapped.outputs))
    one_by_one = [backward_without(mapped, every[every != i], inputs[i : i + 1])(inputs[i : i + 1])[0] for i in every]
    scale = np.abs(mapped.outputs).max()
    np.testing.assert_allclose(left_out_places(mapped, 1), one_by_one, rtol=0, atol=1e-6 * scale)


@pytest.mark.parametrize("kind", ["sheet", "clusters", "far apart"])
def test_many_rows_in_float32_as_few_rows(kind, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2_100, 12)) + 6.0 * rng.normal(size=(5, 12))[np.arange(2_100) % 5]
    if kind == "sheet":
        T = rng.uniform(size=(2_100, 2))
        X = np.column_stack([T, np.sin(4.0 * T[:, 0])])
    Z = PCA(2).fit_transform(X)
    if kind == "far apart":
        X[0] += 1e9  # in float32 all others would be at one place
    mapped = TwoWayEmbedding(maps="kernel").fit(X, embedding=Z).backward_
    quick = left_out_places(mapped, 1)
    monkeypatch.setattr("sidelight.maps.left_out_places._EXACT", len(X))
    exact = left_out_places(mapped, 1)
    moved = np.abs(exact - mapped.outputs)[1:].max()
    np.testing.assert_allclose(quick[1:], exact[1:], rtol=0, atol=1e-4 * moved)


def test_threads_do_not_change_a_bit_and_other_maps_have_none():
    X = np.random.default_rng(0).normal(size=(600, 4))
    mapped = TwoWayEmbedding(PCA(2), maps="kernel").fit(X).backward_
    assert left_out_places(mapped, 1).tobytes() == left_out_places(mapped, 2).tobytes()
    assert left_out_places(KernelInformationEmbedding(bandwidth=1.0, max_iter=3).fit(X[:40]).backward_) is None
