"""The defaults, nothing tuned: sheets are not torn or bent, clusters stay apart, raw and standardised alike."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.preprocessing import StandardScaler

from sidelight import KernelInformationEmbedding, datasets, evaluate

SHEETS = {"s_curve": datasets.s_curve, "swiss_roll": datasets.swiss_roll}


def check_sheet(name: str, seed: int, standardise: bool) -> None:
    data = SHEETS[name](1000, random_state=seed)
    X = StandardScaler().fit_transform(data.X) if standardise else data.X
    Z = KernelInformationEmbedding(random_state=seed).fit_transform(X)
    assert evaluate.sheet_correlation(Z, data.factors) >= 0.9
    assert evaluate.trustworthiness(X, Z) >= 0.995


@pytest.mark.parametrize(
    ("name", "seed", "standardise"),
    [("s_curve", 3, False), ("swiss_roll", 5, True)],  # others are slow, below
)
@pytest.mark.thorough
def test_a_sheet_is_neither_torn_nor_bent(name, seed, standardise):
    check_sheet(name, seed, standardise)


@pytest.mark.slow
@pytest.mark.parametrize("standardise", [False, True])
@pytest.mark.parametrize("seed", [*range(10), *range(100, 110)])  # the defaults were chosen looking at 0 to 9
@pytest.mark.parametrize("name", SHEETS)
def test_a_sheet_is_neither_torn_nor_bent_for_any_of_twenty_seeds(name, seed, standardise):
    check_sheet(name, seed, standardise)


@pytest.mark.data
@pytest.mark.parametrize("standardise", [False, pytest.param(True, marks=pytest.mark.slow)])
@pytest.mark.thorough
def test_oil_flow_keeps_its_classes_apart(standardise):
    data = datasets.load_oil_flow()
    X = StandardScaler().fit_transform(data.X) if standardise else data.X
    Z = KernelInformationEmbedding().fit_transform(X)
    labels = next(v for v in data.factors.values() if v.ndim == 1 and len(np.unique(v)) == 3)
    assert evaluate.neighbour_hit(Z, labels, n_neighbors=1) >= 0.98


@pytest.mark.thorough
def test_digits_are_as_well_separated_as_by_opentsne():
    opentsne = pytest.importorskip("openTSNE", reason="the rival is installed by the test extra")
    data = datasets.load_digits().take(slice(0, 600))  # all of them: python -m benchmarks defaults
    labels = next(iter(data.factors.values()))
    ours = KernelInformationEmbedding().fit_transform(data.X)
    theirs = np.asarray(opentsne.TSNE(random_state=0, n_jobs=1).fit(data.X))
    assert evaluate.neighbour_hit(ours, labels) >= evaluate.neighbour_hit(theirs, labels) - 0.02


@pytest.mark.thorough
def test_every_seed_gives_the_same_map():
    X = datasets.s_curve(400, random_state=0).X
    first, second = (KernelInformationEmbedding(random_state=seed).fit_transform(X) for seed in (0, 1))
    np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("init", ["mds", "spectral", "pca"])
def test_every_start_gives_the_same_sheet(init):
    data = datasets.s_curve(500, random_state=1)
    Z = KernelInformationEmbedding(init=init).fit_transform(data.X)
    assert evaluate.sheet_correlation(Z, data.factors) >= 0.98


@pytest.mark.thorough
def test_new_rows_land_where_their_neighbours_are():
    data = datasets.s_curve(1200, random_state=2)
    model = KernelInformationEmbedding().fit(data.X[:1000])
    Z = model.transform(data.X[1000:])
    together = np.concatenate([model.embedding_, Z])
    assert evaluate.sheet_correlation(together, data.factors, sample=1200) >= 0.98
    assert model.score(data.X[1000:]) >= 0.99
