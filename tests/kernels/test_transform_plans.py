from __future__ import annotations

import numpy as np
import pytest

from sidelight.kernels import transform_plans
from sidelight.kernels.gauss_transform import FastSums, modes_of
from sidelight.kernels.profiles import GAUSSIAN, STUDENT
from sidelight.kernels.transform_plans import Plans

pytest.importorskip("finufft", reason="no wheel for this machine: exact tiles are used")


@pytest.fixture
def made(monkeypatch):
    """The grids of all plans that are made."""
    grids, new_plan = [], transform_plans._new_plan

    def counted(grid, kind, count):
        grids.append(grid)
        return new_plan(grid, kind, count)

    monkeypatch.setattr(transform_plans, "_new_plan", counted)
    return grids


def points(n, extent, seed):
    return extent * np.random.default_rng(seed).random((n, 2))


def sums_of(Z, plans, profile=GAUSSIAN, n_jobs=1):
    modes = modes_of(profile, len(Z), np.array([10.0, 10.0]))
    return FastSums(Z, profile, modes, n_jobs, plans)


@pytest.mark.parametrize("profile", [GAUSSIAN, STUDENT], ids=["gaussian", "student"])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_kept_plans_give_the_bytes_of_new_ones(profile, n_jobs):
    """Bytes may be compared: a plan has no memory but its points."""
    plans = Plans()
    for seed in range(4):
        Z, W = points(3000, 10.0, seed), np.random.default_rng(9).random((3000, 5))
        kept, new = sums_of(Z, plans, profile, n_jobs), sums_of(Z, None, profile, n_jobs)
        assert kept.sums(W).tobytes() == new.sums(W).tobytes()
        assert kept.pulls(W).tobytes() == new.pulls(W).tobytes()


def test_points_that_move_on_the_same_grid_need_no_new_plan(made):
    plans, ones = Plans(), np.ones((400, 1))
    for seed in range(5):
        transform = sums_of(points(400, 10.0, seed), plans)
        transform.sums(ones)
        transform.pulls(ones)
    assert len(made) == 2  # points to modes, and modes to points


def test_few_modes_are_kept_for_other_points(made, monkeypatch):
    monkeypatch.setattr(transform_plans, "_MOST", 3 * sums_of(points(400, 10.0, 0), None).modes.count)
    plans, ones = Plans(), np.ones((400, 1))
    for extent in (10.0, 9.0, 8.0, 10.0):
        Z = points(400, extent, 0)
        FastSums(Z, GAUSSIAN, modes_of(GAUSSIAN, 400, np.ptp(Z, axis=0)), 1, plans).sums(ones)
        assert len(plans._kept) <= 4
    assert len(made) == 8  # the first two were let go


def test_the_present_points_keep_their_plans_however_large(made, monkeypatch):
    monkeypatch.setattr(transform_plans, "_MOST", 0)
    transform, ones = sums_of(points(400, 10.0, 0), None), np.ones((400, 1))
    transform.sums(ones)
    transform.pulls(ones)
    assert len(made) == 2
