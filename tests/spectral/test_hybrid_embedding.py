from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.manifold import Isomap
from sklearn.preprocessing import StandardScaler

import sidelight.spectral.hybrid_embedding as module
from sidelight import HybridEmbedding, ReconstructionDistance
from sidelight.datasets import s_curve, shifted_digits, swiss_roll
from sidelight.evaluate import neighbour_hit, sheet_correlation
from sidelight.neighbours.search import nearest
from sidelight.objectives.spectral import (
    centred_kernel,
    edge_weights,
    laplacian,
    lle_matrix,
    neighbour_graph,
    reconstruction_weights,
)
from sidelight.solvers.spectral import Eigenpairs

X = s_curve(150, random_state=0).X
SQUARES = ((X[:, None] - X[None]) ** 2).sum(axis=2)


def up_to_sign(A, B):
    return np.minimum(np.abs(A - B).max(axis=0), np.abs(A + B).max(axis=0)).max() / np.abs(B).max()


def locality(kind):
    near = nearest(X, k=12)
    if kind == "lle":
        return lle_matrix(reconstruction_weights(X, near.index), near.index).toarray()
    return laplacian(edge_weights(neighbour_graph(X, near)))[0].toarray()


def test_alpha_0_with_straight_distances_is_pca():
    assert up_to_sign(HybridEmbedding(metric="euclidean", alpha=0).fit_transform(X), PCA(2).fit_transform(X)) < 1e-9


def test_alpha_0_along_the_graph_is_isomap():
    ours = HybridEmbedding(alpha=0, graph="union", n_neighbors=8)
    theirs = Isomap(n_neighbors=8, eigen_solver="dense").fit(X)
    assert up_to_sign(ours.fit_transform(X), theirs.embedding_) < 1e-9


def test_alpha_0_along_a_graph_of_radius_is_isomap():
    ours = HybridEmbedding(alpha=0, radius=1.0)
    theirs = Isomap(n_neighbors=None, radius=1.0, eigen_solver="dense").fit(X)
    assert up_to_sign(ours.fit_transform(X), theirs.embedding_) < 1e-9


@pytest.mark.parametrize("kind", ["laplacian", "lle"])
def test_a_radius_gives_rows_and_their_distances_the_same_map(kind):
    by_rows = HybridEmbedding(metric="euclidean", locality=kind, radius=0.9).fit_transform(X)
    by_distances = HybridEmbedding(metric="precomputed", locality=kind, radius=0.9).fit_transform(np.sqrt(SQUARES))
    assert up_to_sign(by_distances, by_rows) < 1e-6


@pytest.mark.parametrize("kind", ["laplacian", "lle"])
def test_new_rows_land_among_the_rows_within_the_radius(kind):
    train, new = s_curve(300, random_state=1), s_curve(100, random_state=2)
    model = HybridEmbedding(locality=kind, radius=0.9).fit(train.X)
    both = {key: np.r_[train.factors[key], new.factors[key]] for key in train.factors}
    assert sheet_correlation(np.concatenate([model.embedding_, model.transform(new.X)]), both) > 0.98


def test_a_radius_that_joins_more_pairs_than_memory_holds_is_refused(monkeypatch):
    monkeypatch.setattr("sidelight.base.cost.available_memory", lambda: 2**28)
    rows = s_curve(3000, random_state=0).X
    with pytest.raises(MemoryError, match=r"HybridEmbedding: X=3000 rows needs about 1\.0 GiB"):
        HybridEmbedding(metric="euclidean", radius=100.0).fit(rows)


@pytest.mark.parametrize("kind", ["laplacian", "lle"])
def test_alpha_1_is_the_locality_alone(kind):
    Z = HybridEmbedding(metric="euclidean", locality=kind, alpha=1.0).fit_transform(X)
    vectors = np.linalg.eigh(locality(kind))[1][:, 1:3]
    cosines = np.abs((Z * vectors).sum(axis=0)) / np.linalg.norm(Z, axis=0)
    np.testing.assert_allclose(cosines, 1, atol=1e-6)


@pytest.mark.parametrize("kind", ["laplacian", "lle"])
@pytest.mark.parametrize("alpha", [0.3, 0.8])
def test_embedding_minimises_the_objective(kind, alpha):
    model = HybridEmbedding(metric="euclidean", locality=kind, alpha=alpha, negative="clip").fit(X)
    M, L = centred_kernel(SQUARES), locality(kind)
    scale = np.linalg.norm(L, 2) / np.linalg.norm(M, 2)

    def objective(Y):
        return (1 - alpha) * ((scale * M - Y @ Y.T) ** 2).sum() + alpha * np.trace(Y.T @ L @ Y)

    Y = np.sqrt(scale) * model.embedding_
    best = objective(Y)
    rng = np.random.default_rng(0)
    for size in (1e-3, 1e-2, 0.1):
        assert objective(Y + size * rng.normal(size=Y.shape)) > best
    for factor in (0.99, 1.01):
        assert objective(factor * Y) > best


def test_shifted_eigenvalues_are_those_of_the_sum_of_two_kernels():
    alpha = 0.6
    Z = HybridEmbedding(metric="euclidean", alpha=alpha, negative="shift").fit_transform(X)
    M, L = centred_kernel(SQUARES), locality("laplacian")
    norm = np.linalg.norm(L, 2)
    scale = norm / np.linalg.norm(M, 2)
    H = np.eye(150) - 1 / 150
    K = H @ ((1 - alpha) * scale * M + 0.5 * alpha * (norm * np.eye(150) - L)) @ H / (1 - alpha / 2) / scale
    np.testing.assert_allclose((Z**2).sum(axis=0), np.linalg.eigvalsh(K)[:-3:-1], rtol=1e-8)


def test_training_rows_return_to_their_places():
    for distance in ("euclidean", "geodesic"):
        model = HybridEmbedding(metric=distance).fit(X)
        np.testing.assert_allclose(model.transform(X), model.embedding_, atol=1e-9 * np.abs(model.embedding_).max())


@pytest.mark.parametrize("kind", ["laplacian", "lle"])
def test_new_rows_land_among_their_neighbours(kind):
    train, new = (s_curve(300, random_state=seed) for seed in (1, 2))
    model = HybridEmbedding(locality=kind).fit(train.X)
    both = {key: np.r_[train.factors[key], new.factors[key]] for key in train.factors}
    Z = np.concatenate([model.embedding_, model.transform(new.X)])
    assert sheet_correlation(Z, both) > 0.99
    assert model.score(new.X) > 0.98


@pytest.mark.thorough
def test_landmarks_come_close_to_all_rows():
    data = swiss_roll(601, random_state=0)
    whole, few = (HybridEmbedding(n_landmarks=count).fit(data.X) for count in (None, 120))
    assert up_to_sign(few.embedding_, whole.embedding_) < 0.05
    assert few.nystrom_.paths.shape == (120, 601)
    assert sheet_correlation(few.embedding_, data.factors) > 0.99


def test_few_landmarks_are_taken_only_of_many_rows(monkeypatch):
    monkeypatch.setattr(module, "_EXACT", 100)
    monkeypatch.setattr(module, "_LANDMARKS", 40)
    assert HybridEmbedding().fit(X).nystrom_.paths.shape == (40, 150)
    assert HybridEmbedding().fit(X[:90]).nystrom_.paths.shape == (90, 90)


def test_a_matrix_a_transformer_and_a_callable_say_the_same_distance():
    scaler = StandardScaler().fit(X)
    D = np.linalg.norm(scaler.transform(X)[:, None] - scaler.transform(X)[None], axis=2)
    by = [HybridEmbedding(metric=d, alpha=0.3).fit_transform(X) for d in (scaler, D, lambda rows: D)]
    assert up_to_sign(by[1], by[0]) < 1e-7
    assert up_to_sign(by[2], by[1]) < 1e-12


@pytest.mark.parametrize("kind", ["laplacian", "lle"])
def test_distances_alone_give_the_same_map_as_rows(kind):
    D = np.sqrt(SQUARES)
    rows = HybridEmbedding(metric="euclidean", locality=kind).fit_transform(X)
    model = HybridEmbedding(metric="precomputed", locality=kind).fit(D)
    assert up_to_sign(model.embedding_, rows) < 1e-6
    assert not hasattr(model, "inverse_transform")
    assert np.abs(model.transform(D[:5]) - model.embedding_[:5]).max() < 0.3 * model.embedding_.std()


def test_a_known_transformation_shows_digit_and_shift_where_locality_shows_the_shift_alone():
    data = shifted_digits(n_shifts=9, step=2)
    digit = data.factors["digit"]
    distance = ReconstructionDistance("shift", image_shape=data.image_shape, parameters=(-2, 2))
    hybrid = HybridEmbedding(metric=distance, n_neighbors=5, alpha=0.75, graph="union").fit_transform(data.X)
    plain = HybridEmbedding(alpha=1.0, n_neighbors=5, graph="union").fit_transform(data.X)
    assert neighbour_hit(hybrid, digit, n_neighbors=1) == 1.0
    assert neighbour_hit(plain, digit, n_neighbors=1) < 0.7


def test_columns_that_locality_alone_would_leave_empty_are_said_or_raised():
    with pytest.warns(
        UserWarning, match=r"alpha=0.9999 leaves \d of 2 eigenvalues above 0, and the other columns at 0"
    ):
        clipped = HybridEmbedding(alpha=0.9999, negative="clip").fit_transform(X)
    assert (clipped == 0).all(axis=0).any()
    assert (HybridEmbedding(alpha=0.9999).fit_transform(X).std(axis=0) > 0.1).all()


def test_nothing_depends_on_the_seed():
    one, two = (HybridEmbedding(random_state=seed).fit_transform(X) for seed in (0, 1))
    np.testing.assert_array_equal(one, two)


def test_separate_pieces_are_joined_and_kept_apart():
    far = np.concatenate([X, X + 100])
    Z = HybridEmbedding(alpha=0.3).fit_transform(far)
    assert neighbour_hit(Z, np.repeat([0, 1], 150)) == 1.0


def test_an_eigenproblem_that_is_not_solved_is_said(monkeypatch):
    blunt = Eigenpairs(np.array([2.0, 1.0]), np.eye(150)[:, :2], converged=False)
    monkeypatch.setattr("sidelight.spectral._hybrid_problem.leading_pairs", lambda *_, **__: blunt)
    with pytest.warns(ConvergenceWarning, match=r"alpha=0.5 makes an eigenproblem that did not converge"):
        HybridEmbedding().fit(X)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("n_components", 0),
        ("metric", "manhattan"),
        ("metric", 3),
        ("locality", "isomap"),
        ("alpha", -0.1),
        ("alpha", 1.5),
        ("n_neighbors", 0),
        ("radius", 0.0),
        ("graph", "full"),
        ("heat", 0.0),
        ("n_landmarks", 1),
        ("n_landmarks", "some"),
        ("negative", "drop"),
    ],
)
def test_a_bad_parameter_is_named_with_its_value_and_a_way_out(name, value):
    with pytest.raises(ValueError, match=rf"^HybridEmbedding: {name}=.* is not .*\. (Give|Choose) .*\.$"):
        HybridEmbedding(**{name: value}).fit(X)


def test_alpha_1_is_refused_where_negative_eigenvalues_are_clipped():
    with pytest.raises(ValueError, match=r"alpha=1 is not a number in range. Give a number between 0 and 1"):
        HybridEmbedding(alpha=1, negative="clip").fit(X)


@pytest.mark.parametrize("D", [np.ones((3, 3)), np.full((150, 150), np.nan), -np.ones((150, 150))])
def test_a_matrix_that_is_none_of_these_rows_is_said(D):
    with pytest.raises(ValueError, match=r"does not give finite distances, 0 or more, of shape \(150, 150\)"):
        HybridEmbedding(metric=D).fit(X)


def test_distances_that_are_none_are_said():
    with pytest.raises(ValueError, match="is not square"):
        HybridEmbedding(metric="precomputed").fit(X)
    with pytest.raises(ValueError, match="is a negative distance"):
        HybridEmbedding(metric="precomputed").fit(-np.sqrt(SQUARES))


def test_cost_is_said_and_landmarks_keep_it_small():
    many = HybridEmbedding().estimate_cost(50_000, 10)
    assert many.bytes < 8 * 50_000**2 / 10
    assert HybridEmbedding(n_landmarks=None).estimate_cost(50_000, 10).bytes > 8 * 50_000**2
    assert HybridEmbedding(metric="euclidean").estimate_cost(50_000, 10).bytes < many.bytes


def test_a_fitted_transformer_with_a_parameter_called_graph_is_a_transformer():
    """Distances between its outputs count; only a callable with a method ``graph`` is asked for one."""
    X = np.random.default_rng(0).normal(size=(40, 4))
    first = HybridEmbedding(3, metric="euclidean", alpha=0).fit(X)
    model = HybridEmbedding(2, metric=first, alpha=0).fit(X)
    D, made = cdist(first.transform(X), first.transform(X)), HybridEmbedding(2, alpha=0)
    np.testing.assert_allclose(model.embedding_, made.set_params(metric=D).fit(X).embedding_, atol=1e-8)
