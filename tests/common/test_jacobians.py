"""Derivatives of both maps, for every estimator that has them, against differences of the maps themselves."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from registry import METRICS, MIXTURES, VARIANT_OF, VARIANTS, blobs, fitted
from scipy import sparse
from sklearn.decomposition import PCA, FactorAnalysis, KernelPCA
from sklearn.manifold import Isomap
from sklearn.mixture import GaussianMixture

from sidelight import (
    BernoulliMixture,
    Conditioning,
    CoordinatedCCA,
    CoordinatedMixture,
    EquivalenceMetric,
    HybridEmbedding,
    KernelInformationEmbedding,
    PPCAMixture,
    ProbabilisticPCA,
    SemidefiniteEmbedding,
    TwoWayEmbedding,
)
from sidelight.base.capabilities import capabilities
from sidelight.maps.effect import Effect
from sidelight.maps.frame_jacobians import effect_slopes
from sidelight.objectives.spectral import reconstruction_slopes

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
STEP = 2e-5
WITHOUT = {"bernoulli-mixture", "bernoulli-mixture-auto"}
"""Variants whose ``transform`` has no derivative in closed form."""
MODELS = VARIANTS | {name: make for name, make in MIXTURES.items() if name not in WITHOUT}


def differences(function, Q: np.ndarray, step: float = STEP) -> tuple[np.ndarray, np.ndarray]:
    """Central differences of fourth order (m, r, p), and which rows (m,) have no kink or jump within the step.

    Differences to the right and to the left differ by the step times the curvature; at a kink by as much with half the
    step.
    """
    columns, bends = [], []
    middle = function(Q)
    for k in range(Q.shape[1]):
        e = step * np.eye(Q.shape[1])[k]
        values = [function(Q + j * e) for j in (-2, -1, 1, 2)]
        columns.append((8 * (values[2] - values[1]) - (values[3] - values[0])) / (12 * step))
        bends.append([(values[3] + values[0] - 2 * middle) / 4, values[2] + values[1] - 2 * middle])
    found = np.stack(columns, axis=2)
    off = [np.abs(whole - half).max(axis=1) / step for whole, half in bends]  # 0 but for fourth derivatives
    return found, np.max(off, axis=0) <= 1e-6 * np.abs(found).max()


def assert_derivative(J, function, Q, step: float = STEP, tolerance: float = 1e-8, kinks: int = 0) -> None:
    """All rows but those with a kink, at most so many, agree."""
    expected, smooth = differences(lambda rows: np.asarray(function(rows)), Q, step)
    assert J.shape == expected.shape
    assert smooth.sum() >= len(Q) - kinks
    assert np.abs(J - expected)[smooth].max() <= tolerance * np.abs(expected).max()


def new_rows(m: int = 8, d: int = 5, seed: int = 7) -> np.ndarray:
    """Rows beside training rows, and some of these."""
    X = blobs(90, d)[:m].copy()
    X[2:] += 0.05 * np.random.default_rng(seed).normal(size=(m - 2, d))
    return X


def latent_points(model, m: int = 8) -> np.ndarray:
    Z = np.asarray(model.transform(blobs(90, 5)))
    return Z[:m] + 0.01 * Z.std(axis=0) * np.random.default_rng(3).normal(size=(m, Z.shape[1]))


@pytest.mark.parametrize("make", [make for name, make in MODELS.items() if name not in WITHOUT])
def test_jacobian_is_the_derivative_of_transform(make):
    model = fitted(make)
    kinks = 4 if VARIANT_OF[make] in ("hybrid", "two-way-isomap") else 0  # paths have many
    assert_derivative(model.jacobian(new_rows()), model.transform, new_rows(), kinks=kinks)


@pytest.mark.parametrize("make", VARIANTS.values())
def test_inverse_jacobian_is_the_derivative_of_inverse_transform(make):
    model = fitted(make)
    Z = latent_points(model)
    spread = float(np.std(model.transform(blobs(90, 5))))
    assert_derivative(model.inverse_jacobian(Z), model.inverse_transform, Z, STEP * spread)


@pytest.mark.parametrize("name", METRICS)
def test_derivatives_of_metrics(name):
    model = METRICS[name]().fit(blobs(40, 5), np.arange(40) % 3)
    assert_derivative(model.jacobian(new_rows()), model.transform, new_rows())
    assert capabilities(model).has_inverse_jacobian == (model.kernel is None)
    if model.kernel is None:
        Z = model.transform(new_rows())
        assert_derivative(model.inverse_jacobian(Z), model.inverse_transform, Z)


GIVEN = {
    "categories": (np.arange(90) % 3, "auto"),
    "numbers": (np.linspace(0.0, 1.0, 90) ** 2, "auto"),
    "product": (np.arange(90) % 2, "product"),
    "product of numbers": (np.linspace(0.0, 1.0, 90), Conditioning("product")),
}


@pytest.mark.parametrize("name", GIVEN)
def test_derivatives_with_given_held(name):
    given, conditioning = GIVEN[name]
    X = blobs(90, 5) + np.outer(given == given.max(), [1.0, 0, 2, 0, 0])
    model = KernelInformationEmbedding(max_iter=20, conditioning=conditioning).fit(X, given=given)
    Q, known = new_rows(), given[:8]
    assert_derivative(model.jacobian(Q, given=known), lambda rows: model.transform(rows, given=known), Q)
    assert_derivative(model.jacobian(Q), model.transform, Q)
    Z = latent_points(model)
    assert_derivative(model.inverse_jacobian(Z, given=known), lambda z: model.inverse_transform(z, given=known), Z)
    assert_derivative(model.inverse_jacobian(Z), model.inverse_transform, Z)


def parts_with_other_effects(n: int = 400) -> tuple[np.ndarray, np.ndarray]:
    """Two kinds of rows that a treatment moves in different directions."""
    rng = np.random.default_rng(0)
    treated, kind = np.arange(n) % 2, np.arange(n) // (n // 2)
    X = 0.4 * rng.normal(size=(n, 4)) + 8.0 * kind[:, None] * [1, 0, 0, 0]
    return X + treated[:, None] * np.where(kind[:, None] == 1, [0.0, 2.0, 0, 0], [0.0, 0, -2.0, 0]), treated


@pytest.mark.thorough
def test_derivatives_where_the_effect_of_given_depends_on_the_row():
    X, treated = parts_with_other_effects()
    model = KernelInformationEmbedding(max_iter=10, random_state=0).fit(X, given=treated)
    assert model.effect_.local is not None  # else this says nothing
    Q = X[190:210] + 3.0 * np.random.default_rng(1).normal(size=(20, 4))  # also between the parts
    assert_derivative(model.jacobian(Q, given=1), lambda rows: model.transform(rows, given=1), Q)
    Z = np.asarray(model.embedding_[190:210]) + 0.1
    assert_derivative(model.inverse_jacobian(Z, given=1), lambda z: model.inverse_transform(z, given=1), Z)


FURTHER = {
    "pca": lambda: TwoWayEmbedding(PCA(2, whiten=True)),
    "factors": lambda: TwoWayEmbedding(FactorAnalysis(2)),
    "isomap": lambda: TwoWayEmbedding(Isomap(n_neighbors=8, eigen_solver="dense")),
    **{
        f"kernel pca {kernel}": lambda kernel=kernel: TwoWayEmbedding(KernelPCA(2, kernel=kernel, eigen_solver="dense"))
        for kernel in ("linear", "rbf", "poly", "sigmoid", "cosine")
    },
    "gaussian charts": lambda: CoordinatedMixture(mixture=GaussianMixture(2, random_state=0)),
    "bernoulli charts": lambda: CoordinatedMixture(n_charts=2, n_local=2, mixture=BernoulliMixture(2, binarize=None)),
    "two views": lambda: CoordinatedCCA(n_charts=2, views=[[0, 1, 2], [3, 4]]),
    "euclidean without locality": lambda: HybridEmbedding(metric="euclidean", alpha=0.0),
    "geodesic with heat": lambda: HybridEmbedding(heat=1.0),
}


@pytest.mark.parametrize("name", FURTHER)
def test_derivatives_of_further_maps(name):
    X = blobs(90, 5)
    if name == "bernoulli charts":
        X = (X.mean(axis=0) < X).astype(float)
    model = FURTHER[name]().fit(X)
    Q = X[:8] + 0.05 * np.random.default_rng(7).normal(size=(8, 5))
    assert_derivative(model.jacobian(Q), model.transform, Q, kinks=4 if name in ("isomap", "geodesic with heat") else 0)
    Z = np.asarray(model.transform(Q))
    assert_derivative(model.inverse_jacobian(Z), model.inverse_transform, Z, STEP * float(Z.std()))


def test_jacobian_of_a_view_that_is_missing_is_zero():
    model = CoordinatedCCA(n_charts=2, views=[[0, 1, 2], [3, 4]]).fit(blobs(90, 5))
    Q = new_rows()
    Q[:, 3:] = np.nan
    J = model.jacobian(Q)
    assert (J[:, :, 3:] == 0).all()
    assert np.abs(J[:, :, :3]).max() > 0


def sparse_rows(n: int = 120, d: int = 40) -> sparse.csr_array:
    rng = np.random.default_rng(0)
    kinds = rng.uniform(size=(3, d)) < 0.3
    return sparse.csr_array(rng.poisson(0.2 + 3.0 * kinds[np.arange(n) % 3]).astype(float))


@pytest.mark.parametrize("make", [lambda: KernelInformationEmbedding(max_iter=10), TwoWayEmbedding, ProbabilisticPCA])
def test_derivatives_of_models_of_sparse_rows_are_by_the_columns_of_the_data(make):
    X = sparse_rows()
    model = make().fit(X)
    Q = X[:4].toarray()
    J = model.jacobian(X[:4])
    assert_derivative(J, model.transform, Q, 1e-4)
    assert np.array_equal(model.jacobian(X[:4], columns=[7, 3]), J[:, :, [7, 3]])
    Z = np.asarray(model.transform(X[:4]))
    back = model.inverse_jacobian(Z)
    assert_derivative(back, model.inverse_transform, Z, STEP * float(Z.std()))
    assert np.allclose(model.inverse_jacobian(Z, columns=[7, 3]), back[:, [7, 3]], rtol=1e-12, atol=1e-15)


def test_responsibilities_of_sparse_rows_are_differentiated_by_the_columns_of_the_data():
    model = PPCAMixture(2, 2, n_init=1).fit(sparse_rows())
    Q = sparse_rows()[:4].toarray()
    assert_derivative(model.jacobian(Q), model.transform, Q, 1e-4, 1e-6)  # in 50 columns some slopes are tiny


@pytest.mark.parametrize("make", [VARIANTS[name] for name in ("kie", "kie-fixed-l4", "hybrid", "coordinated", "ppca")])
def test_jacobian_one_by_one_equals_batch(make):
    model = fitted(make)
    Q = new_rows()
    together, Z = model.jacobian(Q), np.asarray(model.transform(Q))
    alone = np.concatenate([model.jacobian(row[None]) for row in Q])
    assert np.abs(together - alone).max() <= 1e-12 * np.abs(together).max()
    back = model.inverse_jacobian(Z)
    alone = np.concatenate([model.inverse_jacobian(point[None]) for point in Z])
    assert np.abs(back - alone).max() <= 1e-12 * np.abs(back).max()


def test_jacobian_of_float32_rows_is_float32_and_columns_are_chosen_by_name():
    X = pd.DataFrame(blobs(60, 4), columns=list("abcd"))
    model = TwoWayEmbedding().fit(X)
    assert model.jacobian(X.astype(np.float32)).dtype == np.float32
    assert np.array_equal(model.jacobian(X, columns=["d", "a"]), model.jacobian(X)[:, :, [3, 0]])
    assert np.array_equal(model.inverse_jacobian(model.embedding_, columns="b")[0, 0], model.linear_.to_data[:, 1])


def one_chart(X):
    """Charts of a user's own."""

    class Chart:
        def responsibilities(self, X):
            return np.ones((len(X), 1))

        def features(self, X, chart):
            return np.tanh(X[:, :2])

        def reconstruction(self, F, chart):
            return np.column_stack([F, np.zeros((len(F), X.shape[1] - 2))])

        n_charts, n_local = 1, (2,)

    return Chart()


def unsmooth():
    X = blobs(60, 5)
    D = np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=2))
    return {
        "distances": lambda: KernelInformationEmbedding(metric="precomputed", max_iter=5).fit(D),
        "measured": lambda: SemidefiniteEmbedding(metric="cityblock", gap=0.3, tol=0.05, n_landmarks=20).fit(X),
        "binary": lambda: BernoulliMixture(2, n_init=1).fit(X),
        "function": lambda: EquivalenceMetric(kernel=lambda A, B: A @ B.T).fit(X, np.arange(60) % 2),
        "charts": lambda: CoordinatedMixture(mixture=one_chart(X)).fit(X),
    }


@pytest.mark.parametrize("name", ["distances", "measured", "binary", "function", "charts"])
def test_a_map_without_slopes_has_no_jacobian_and_says_why(name):
    model = unsmooth()[name]()
    assert not capabilities(model).has_jacobian
    with pytest.raises(AttributeError) as refused:
        model.jacobian(blobs(3, 5))
    assert type(model).__name__ in str(refused.value.__cause__)


@pytest.mark.parametrize("make", [lambda: ProbabilisticPCA(2), lambda: PPCAMixture(2, 2, n_init=1)])
def test_missing_entries_have_no_derivative(make):
    Q = new_rows()
    Q[0, 0] = np.nan
    with pytest.raises(ValueError, match="missing"):
        make().fit(blobs(90, 5)).jacobian(Q)


def test_missing_entries_of_a_model_that_fills_them_have_no_derivative():
    model = KernelInformationEmbedding(max_iter=5, missing="impute").fit(blobs(60, 5))
    Q = new_rows()
    assert model.jacobian(Q).shape == (8, 2, 5)
    Q[0, 0] = np.nan
    with pytest.raises(ValueError, match="missing"):
        model.jacobian(Q)


MOVED = {
    "number": ({"dose": np.linspace(0.0, 1.0, 90) ** 2}, "auto"),
    "angle and number": ({"hour": 3.5 * (np.arange(90) % 6), "dose": 0.1 + 0.3 * (np.arange(90) % 5)}, {"hour": 24.0}),
    "category and number": (
        {"batch": np.array(["a", "b", "c"])[np.arange(90) % 3], "dose": np.sin(np.arange(90.0))},
        "auto",
    ),
    "product of numbers": ({"dose": np.linspace(0.0, 1.0, 90)}, Conditioning("product")),
}


def moved(given, rows, steps):
    """``given`` of some rows with its numbers moved by steps (m, g)."""
    table = pd.DataFrame(given).iloc[:rows].reset_index(drop=True)
    numbers = [name for name in table.columns if name != "batch"]
    return table.assign(**{name: table[name] + steps[:, k] for k, name in enumerate(numbers)})


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.thorough] * (" and " in name)) for name in MOVED]
)
def test_derivatives_with_given_moved(name):
    given, how = MOVED[name]
    conditioning = Conditioning(types={"hour": 24.0}) if isinstance(how, dict) else how
    push = np.column_stack([np.asarray(values, dtype=float) for key, values in given.items() if key != "batch"])
    X = blobs(90, 5) + push @ np.random.default_rng(2).normal(size=(push.shape[1], 5))
    model = KernelInformationEmbedding(max_iter=20, conditioning=conditioning).fit(X, given=pd.DataFrame(given))
    Q, still = X[:8] + new_rows() - blobs(90, 5)[:8], np.zeros((8, push.shape[1]))
    found = model.jacobian(Q, given=moved(given, 8, still), wrt="given")
    assert np.abs(found).max() > 0
    assert_derivative(found, lambda steps: model.transform(Q, given=moved(given, 8, steps)), still)
    Z = latent_points(model)
    found = model.inverse_jacobian(Z, given=moved(given, 8, still), wrt="given")
    assert_derivative(found, lambda steps: model.inverse_transform(Z, given=moved(given, 8, steps)), still)
    some = model.inverse_jacobian(Z, given=moved(given, 8, still), wrt="given", columns=[3, 0])
    np.testing.assert_allclose(some, found[:, [3, 0]], rtol=1e-12)


@pytest.mark.thorough
@pytest.mark.parametrize("how", ["filled", "residual", "by levels"])
def test_derivatives_with_given_moved_of_other_fits(how):
    n, d = (2_100, 12) if how == "by levels" else (300, 8)
    rng = np.random.default_rng(0)
    dose = rng.uniform(size=n)
    X = rng.normal(size=(n, 3)) @ rng.normal(size=(3, d)) + np.outer(np.sin(3 * dose), rng.normal(size=d))
    learned = np.where(rng.random(X.shape) < 0.05, np.nan, X) if how == "filled" else X
    options = {"filled": {"missing": "impute"}, "residual": {"conditioning": "residual"}, "by levels": {}}[how]
    model = KernelInformationEmbedding(max_iter=20, **options).fit(learned, given=dose)
    Q, Z, at = X[:8] + 0.01 * rng.normal(size=(8, d)), model.embedding_[:8], dose[:8, None]
    found = model.jacobian(Q, given=at, wrt="given")
    assert_derivative(found, lambda given: model.transform(Q, given=given), at, step=1e-4, kinks=2)
    found = model.inverse_jacobian(Z, given=at, wrt="given")
    assert_derivative(found, lambda given: model.inverse_transform(Z, given=given), at, step=1e-4)


def test_what_cannot_be_moved_is_refused_with_a_way_out():
    X, kind = blobs(40, 5), np.array(["a", "b"])[np.arange(40) % 2]
    model = KernelInformationEmbedding(max_iter=5).fit(X, given=kind)
    with pytest.raises(ValueError, match=r"no slope by categories.*counterfactual"):
        model.jacobian(X, given=kind, wrt="given")
    with pytest.raises(ValueError, match="'X' or 'given'"):
        model.inverse_jacobian(model.embedding_, wrt="z")
    numbers = KernelInformationEmbedding(max_iter=5).fit(X, given=np.linspace(0.0, 1.0, 40))
    with pytest.raises(ValueError, match="is missing, so there is no value to differentiate at"):
        numbers.jacobian(X, wrt="given")
    with pytest.raises(ValueError, match="fitted with given"):
        KernelInformationEmbedding(max_iter=5).fit(X).jacobian(X, wrt="given")


def test_the_slope_of_an_effect_by_a_complex_step():
    """Exact to rounding, unlike differences."""
    rng = np.random.default_rng(0)
    own = Effect(rng.normal(size=(6, 2)), 1.7, rng.normal(size=(7, 4)))
    features = rng.normal(size=(5, 2))

    def value(f):
        squares = np.square(f[:, None] - own.landmarks).sum(axis=2)
        return np.exp(-squares / own.bandwidth) @ own.coefficients[:-1] + own.coefficients[-1]

    steps = [value(features + 1e-30j * np.eye(2)[k]).imag / 1e-30 for k in range(2)]
    np.testing.assert_allclose(effect_slopes(own, features), np.stack(steps, axis=2), rtol=1e-12, atol=1e-14)


def test_slopes_of_weights_that_reconstruct_a_row():
    """Complex steps through the weights of LLE, with a neighbour that is missing."""
    rng = np.random.default_rng(0)
    points, Q, V = rng.normal(size=(9, 3)), rng.normal(size=(2, 3)), rng.normal(size=(9, 2))
    index = np.array([[0, 1, 2, 3, 4], [5, 6, 7, 8, -1]])

    def value(x, row):
        near = index[row][index[row] >= 0]
        D = points[near] - x
        G = D @ D.T
        w = np.linalg.solve(G + 1e-3 * np.trace(G) * np.eye(len(near)), np.ones(len(near)))
        return (w / w.sum()) @ V[near]

    expected = [[value(Q[r] + 1e-30j * np.eye(3)[k], r).imag / 1e-30 for k in range(3)] for r in range(2)]
    found = reconstruction_slopes(points, index, Q, V)
    np.testing.assert_allclose(found, np.transpose(expected, (0, 2, 1)), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("options", [{}, {"metric": "geodesic"}])
def test_jacobian_of_places_by_reconstruction(options):
    X = blobs(90, 5)
    model = HybridEmbedding(locality="lle", n_neighbors=8, alpha=0.6, **options).fit(X)
    Q = new_rows()
    assert_derivative(model.jacobian(Q), model.transform, Q, kinks=4)
