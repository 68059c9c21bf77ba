"""The measures of the benchmark of cells: mixing is 1 for batches at random, whatever the sizes of batches."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.cell_limits import CORRECTIONS, shuffled_batches
from benchmarks.cell_measures import mixing
from benchmarks.cell_sets import Cells
from benchmarks.counterfactual_cells import spread_by_chance


def _drawn(sizes, seed, columns=5):
    """Cells of types with ``sizes`` (batches, types), which differ in nothing between batches."""
    rng = np.random.default_rng(seed)
    batch = np.repeat(np.arange(sizes.shape[0]), sizes.sum(axis=1))
    label = np.concatenate([np.repeat(np.arange(sizes.shape[1]), row) for row in sizes])
    return Cells("drawn", rng.normal(size=(len(batch), columns)) + 20.0 * label[:, None], batch, label)


@pytest.mark.parametrize(
    "sizes", [[(30, 30), (30, 30)], [(8, 25), (60, 40)], [(3, 10), (40, 20), (9, 6)]], ids=["equal", "two", "three"]
)
def test_mixing_of_random_batches_is_one_in_expectation(sizes):
    """A row is never its own neighbour: with n_b / n in the place of (n_b - 1) / (n - 1) it would be 1.02."""
    cells = _drawn(np.array(sizes), 0)
    found = [mixing(cells.X, shuffled_batches(cells, seed).batch, cells.label) for seed in range(100)]
    assert abs(np.mean(found) - 1.0) < 4 * np.std(found) / np.sqrt(len(found))
    assert np.std(found) / np.sqrt(len(found)) < 0.004  # so that 1.017 would be told from 1


def test_mixing_is_that_of_a_slow_count():
    cells = _drawn(np.array([(20, 35), (25, 0), (10, 30)]), 1)
    seen = chance = 0.0
    for which in (0, 1):
        rows = np.flatnonzero(cells.label == which)
        for i in rows:
            others = rows[rows != i]
            near = others[np.argsort(np.linalg.norm(cells.X[others] - cells.X[i], axis=1))[:15]]
            seen += np.mean(cells.batch[near] != cells.batch[i])
            chance += np.mean(cells.batch[others] != cells.batch[i])
    assert mixing(cells.X, cells.batch, cells.label) == pytest.approx(seen / chance)


def test_corrections_with_the_types_known_mix_what_they_describe():
    cells = _drawn(np.array([(120, 90), (80, 150)]), 2)
    X = cells.X.copy()
    first = (cells.batch == 0) & (cells.label == 0)
    X[cells.batch == 0] += np.array([3.0, 0.0, 0.0, 0.0, 0.0])
    X[first, 1] += 4.0  # an effect of one type only
    turned = cells.label == 1
    X[turned & (cells.batch == 1), 2] *= 4.0  # another spread
    cells = Cells("drawn", X, cells.batch, cells.label)
    found = {name: mixing(correct(cells), cells.batch, cells.label) for name, correct in CORRECTIONS.items()}
    assert found["components"] < 0.4 < found["types' offsets"] < found["types' columns"]
    assert found["one offset"] < found["types' offsets"]
    assert 0.95 < found["types' columns"] < 1.1
    assert 0.95 < found["types' Gaussians"] < 1.1


def test_spread_by_chance_is_that_of_draws_with_replacement():
    """Beside a plain loop, and an oracle of the same cells is about 1 whatever the sizes."""
    rng = np.random.default_rng(0)
    made, real = 0.5 * rng.normal(size=(12, 4)) + 3.0, rng.normal(size=(30, 4))
    found = spread_by_chance(made, real)
    slow = []
    for _ in range(1500):
        drawn = (rows[rng.integers(0, len(rows), len(rows))] for rows in (made, real))
        above, below = (rows.var(axis=0, ddof=1).sum() for rows in drawn)
        slow.append(np.sqrt(above / below))
    np.testing.assert_allclose(
        [found["spread, low"], found["spread, high"]], np.quantile(slow, [0.05, 0.95]), rtol=0.04
    )
    assert found["oracle, low"] < 1.0 < found["oracle, high"]
    assert 0.0 < found["oracle outside the bar"] < 0.5
    many = spread_by_chance(np.tile(made, (30, 1)), np.tile(real, (30, 1)))
    assert many["oracle outside the bar"] == 0.0
    assert many["spread, high"] - many["spread, low"] < found["spread, high"] - found["spread, low"]
