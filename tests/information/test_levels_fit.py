"""Fits by levels: when they are chosen, what they keep, and that they say what they cannot do."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist, pdist
from scipy.stats import spearmanr
from sklearn.exceptions import ConvergenceWarning

from sidelight import Annealing, KernelInformationEmbedding, KernelOptions
from sidelight.datasets import s_curve
from sidelight.evaluate import neighbour_hit
from sidelight.information import _multilevel


def clusters(n: int, d: int = 8, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 5, n)
    return 6.0 * rng.standard_normal((5, d))[labels] + rng.standard_normal((n, d)), labels


@pytest.fixture(scope="module")
def sheet():
    data = s_curve(2100, random_state=0)
    return data, KernelInformationEmbedding().fit(data.X)


def test_many_rows_are_fitted_by_levels_and_few_along_the_path(sheet):
    _, model = sheet
    assert (model.solver_, model.latent_kernel_) == ("multilevel", "gaussian")
    few = KernelInformationEmbedding(max_iter=5, tol=1e-2).fit(clusters(60)[0])
    assert (few.solver_, few.latent_kernel_) == ("annealed", "gaussian")


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_kinds_in_groups_that_can_be_compared_become_islands():
    """Rows of a batch have counterparts in the other, so that from 500 rows on the map is fitted by levels."""
    X, batch = clusters(520)[0], np.arange(520) % 2
    X = X + 4.0 * batch[:, None]
    known = {"batch": np.where(batch, "b", "a")}

    def fitted(q=2, given=known, rows=slice(None), **options):
        some = {name: column[rows] for name, column in given.items()}
        return KernelInformationEmbedding(q, max_iter=5, tol=1e-2, **options).fit(X[rows], given=some)

    model = fitted()
    assert (model.solver_, model.latent_kernel_) == ("multilevel", "student")
    assert model.represented_ is not None
    assert model.embedding_.tobytes() == fitted(solver="multilevel").embedding_.tobytes()
    few, wide = fitted(rows=slice(0, 499)), fitted(q=4)
    with_numbers = fitted(given=known | {"score": np.random.default_rng(1).normal(size=520)})
    asked = fitted(regularization=Annealing(0.1, decay=0.6))
    assert [m.solver_ for m in (few, with_numbers, asked)] == ["annealed"] * 3
    assert (wide.solver_, wide.latent_kernel_) == ("multilevel", "student")
    assert fitted(q=X.shape[1]).solver_ == "annealed"  # no column is left out


def test_a_sheet_keeps_its_shape(sheet):
    data, model = sheet
    rows = np.arange(0, 2100, 5)
    truth = np.column_stack(list(data.factors.values()))[rows]
    assert spearmanr(pdist(model.embedding_[rows]), pdist(truth)).statistic > 0.98
    assert 1.5 < model.dimension_ < 2.5


def test_a_sheet_goes_there_and_back(sheet):
    data, model = sheet
    assert model.score(data.X[::7]) > 0.98
    assert model.sum_error_ < 1e-3
    assert model.path_.shape == (len(model.regularization_path_), 2100, 2)


@pytest.mark.thorough
def test_data_of_more_dimensions_than_the_map_gets_heavy_tails_and_keeps_its_clusters():
    X, labels = clusters(600)
    model = KernelInformationEmbedding(solver="multilevel").fit(X)
    assert model.latent_kernel_ == "student"
    assert model.dimension_ > 4
    D = cdist(model.embedding_, model.embedding_)
    np.fill_diagonal(D, np.inf)
    assert (labels[D.argmin(axis=1)] == labels).mean() > 0.99


@pytest.mark.thorough
def test_the_same_bytes_with_one_and_two_threads_and_any_seed():
    """Bytes may be compared: fixed tiles, each on one BLAS thread, are added in the order of the tiles."""
    X, _ = clusters(500)
    one, two = (KernelInformationEmbedding(solver="multilevel", n_jobs=j, random_state=j).fit(X) for j in (1, 2))
    assert one.embedding_.tobytes() == two.embedding_.tobytes()


@pytest.mark.thorough
def test_several_levels_end_where_one_level_does_not_do_better(monkeypatch):
    monkeypatch.setattr(_multilevel, "_COARSEST", 200)
    X, _ = clusters(800, seed=1)
    levels = KernelInformationEmbedding(solver="multilevel").fit(X)
    one = KernelInformationEmbedding(solver="multilevel", init=3.0 * X[:, :2]).fit(X)
    assert len(levels.regularization_path_) == 6  # four stages on the coarsest level, two on the other
    assert len(one.regularization_path_) == 1
    assert levels.history_[-1]["objective"] <= one.history_[-1]["objective"] + 0.02


def test_a_callback_sees_all_rows_on_every_level_and_stops_the_fit(monkeypatch):
    monkeypatch.setattr(_multilevel, "_COARSEST", 200)
    X, _ = clusters(800)
    seen = []

    def callback(state):
        seen.append(state.point.shape)
        return len(seen) == 3

    model = KernelInformationEmbedding(solver="multilevel", callback=callback).fit(X)
    assert seen == [(800, 2)] * 3
    assert model.embedding_.shape == (800, 2)


@pytest.mark.thorough
def test_distances_alone_are_embedded_by_levels():
    X, labels = clusters(400)
    model = KernelInformationEmbedding(solver="multilevel", metric="precomputed").fit(cdist(X, X))
    D = cdist(model.embedding_, model.embedding_)
    np.fill_diagonal(D, np.inf)
    assert (labels[D.argmin(axis=1)] == labels).mean() > 0.99


@pytest.mark.parametrize("init", ["spectral", "pca", "random"])
def test_every_start_finds_the_clusters(init):
    X, labels = clusters(400)
    model = KernelInformationEmbedding(solver="multilevel", init=init, random_state=0).fit(X)
    D = cdist(model.embedding_, model.embedding_)
    np.fill_diagonal(D, np.inf)
    assert (labels[D.argmin(axis=1)] == labels).mean() > 0.99


@pytest.mark.parametrize(
    ("name", "value"),
    [("bandwidth", 2.0), ("penalty", "l2"), ("latent_kernel", "quartic")],
)
def test_what_has_no_place_in_levels_is_refused_or_takes_the_path(name, value):
    X, _ = clusters(50)
    with pytest.raises(ValueError, match=f"{name}=.*multilevel"):
        KernelInformationEmbedding(solver="multilevel", **{name: value}).fit(X)
    model = KernelInformationEmbedding(**{name: value})
    assert model.estimate_cost(5000, 10).seconds > 0


def test_the_cost_of_levels_grows_about_as_the_rows():
    small, large = (KernelInformationEmbedding().estimate_cost(n, 50) for n in (20_000, 200_000))
    assert 5 < large.seconds / small.seconds < 15
    assert large.bytes < 20 * small.bytes


@pytest.mark.thorough
def test_a_fit_by_levels_says_what_its_lists_leave_out():
    X, _ = clusters(400)
    short, long = (KernelInformationEmbedding(solver="multilevel", perplexity=p, max_iter=2) for p in (5, 60))
    with pytest.warns(ConvergenceWarning):
        lost = [model.fit(X).kernel_error_["left_out"] for model in (short, long)]
    assert all(0 < share < 0.9 for share in lost)


@pytest.mark.parametrize(("old", "new"), [("path", "annealed"), ("levels", "multilevel")])
def test_the_first_names_of_the_solvers_are_understood_and_said_to_go(old, new):
    X, _ = clusters(60)
    with pytest.warns(FutureWarning, match=rf"solver='?{old}'? has another name\. Write solver='{new}'"):
        first = KernelInformationEmbedding(solver=old, max_iter=5, tol=1e-2).fit(X)
    assert first.solver_ == new
    again = KernelInformationEmbedding(solver=new, max_iter=5, tol=1e-2).fit(X)
    np.testing.assert_array_equal(first.embedding_, again.embedding_)


@pytest.mark.thorough
def test_many_columns_are_compared_along_those_that_tell_neighbours_and_maps_use_all():
    rng = np.random.default_rng(0)
    kind = rng.integers(6, size=400)
    X = 0.3 * rng.normal(size=(6, 120))[kind] + rng.normal(size=(400, 120))
    fits = {
        columns: KernelInformationEmbedding(
            solver="multilevel", kernel=KernelOptions(columns=columns), random_state=0
        ).fit(X)
        for columns in ("auto", "all")
    }
    hits = {columns: neighbour_hit(model.embedding_, kind, n_neighbors=10) for columns, model in fits.items()}
    assert hits["auto"] > hits["all"]
    widths = {columns: np.median(model.bandwidth_) for columns, model in fits.items()}
    assert 1.0 <= widths["auto"] / widths["all"] < 1.6  # of distances in all columns, of which 32 have a third
    assert fits["auto"].inverse_transform(fits["auto"].embedding_[:3]).shape == (3, 120)
    same = KernelInformationEmbedding(solver="multilevel", random_state=0).fit(X)
    np.testing.assert_array_equal(same.embedding_, fits["auto"].embedding_)
    with pytest.raises(ValueError, match=r"kernel\.columns"):
        KernelInformationEmbedding(kernel=KernelOptions(columns="few")).fit(X)
