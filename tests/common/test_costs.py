"""Estimated seconds grow as the algorithms do, and are near what was measured (docs/decisions/0040-costs.md)."""

from __future__ import annotations

import pytest

from sidelight import (
    CoordinatedMixture,
    HybridEmbedding,
    Imputer,
    KernelInformationEmbedding,
    MultipleRelationalEmbedding,
    PPCAMixture,
    ProbabilisticPCA,
    SemidefiniteEmbedding,
    SmootherEmbedding,
    TwoWayEmbedding,
    UnsupervisedKernelRegression,
)
from sidelight.base.cost import LONG
from sidelight.neighbours.search import EXACT_SECONDS, exact_seconds, neighbour_seconds


def seconds(model, n, d, **options):
    return model.estimate_cost(n, d, **options).seconds


# model, twice as many rows or columns from (n, d) on, and by what the time then grows
GROWTH = [
    pytest.param(KernelInformationEmbedding(), (200_000, 50), "rows", 2.0, id="levels are linear in rows"),
    pytest.param(KernelInformationEmbedding(latent_kernel="quartic"), (40_000, 50), "rows", 4.0, id="pairs of rows"),
    pytest.param(UnsupervisedKernelRegression(), (20_000, 50), "rows", 4.0, id="ukr visits pairs"),
    pytest.param(SmootherEmbedding(), (50_000, 20), "rows", 4.0, id="smoother visits pairs"),
    pytest.param(TwoWayEmbedding(), (100_000, 50), "rows", 2.0, id="maps are linear in rows"),
    pytest.param(ProbabilisticPCA(), (500_000, 200), "rows", 2.0, id="moments are linear in rows"),
    pytest.param(ProbabilisticPCA(), (500_000, 200), "columns", 4.0, id="moments are pairs of columns"),
    pytest.param(ProbabilisticPCA(3), (100_000, 40), "columns", 2.0, id="gaps are linear in columns"),
    pytest.param(PPCAMixture(10, 2), (500_000, 20), "rows", 2.0, id="EM is linear in rows"),
    pytest.param(CoordinatedMixture(n_charts=10), (500_000, 20), "rows", 2.0, id="charts are linear in rows"),
    pytest.param(SemidefiniteEmbedding(), (800, 10), "rows", 2.6, id="unfolding, rows ** 1.4"),
    pytest.param(HybridEmbedding(n_landmarks=None), (5000, 10), "rows", 4.0, id="all paths"),
    pytest.param(MultipleRelationalEmbedding(), (200_000, 50), "rows", 2.0, id="relations are linear in rows"),
    pytest.param(Imputer(), (500, 1000), "columns", 2.0, id="imputers of many columns are without trees"),
]


@pytest.mark.parametrize(("model", "shape", "what", "factor"), GROWTH)
def test_the_estimate_grows_as_the_algorithm(model, shape, what, factor):
    n, d = shape
    options = {"missing": True} if isinstance(model, ProbabilisticPCA) and model.n_components == 3 else {}
    larger = (2 * n, d) if what == "rows" else (n, 2 * d)
    assert seconds(model, *larger, **options) / seconds(model, n, d, **options) == pytest.approx(factor, rel=0.15)


def test_neighbours_are_counted_as_they_are_searched():
    assert neighbour_seconds(2000, 50) == exact_seconds(2000, 50) < EXACT_SECONDS
    assert neighbour_seconds(140_000, 784) == pytest.approx(2 * neighbour_seconds(70_000, 784))


def test_a_wide_table_to_be_filled_does_not_cry_wolf():
    assert seconds(Imputer(), 50, 2000) < LONG  # it takes less than ten seconds: docs/decisions/0040-costs.md


def test_a_map_of_seventy_thousand_pictures_does_not_cry_wolf():
    assert seconds(KernelInformationEmbedding(), 70_000, 784) < LONG  # it takes half a minute: docs/performance.md


def test_gaps_are_counted_where_they_cost():
    whole, gaps = (seconds(ProbabilisticPCA(), 10_000, 100, missing=missing) for missing in (False, True))
    assert gaps > 10 * whole
    assert seconds(PPCAMixture(), 2000, 20, missing=True) > 2 * seconds(PPCAMixture(), 2000, 20)
