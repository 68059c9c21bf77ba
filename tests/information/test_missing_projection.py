"""Missing entries filled by the model's own maps, and tied to adjacent rows of a trajectory."""

from __future__ import annotations

import numpy as np
import pytest

import sidelight
from sidelight import KernelInformationEmbedding, Missing
from sidelight.datasets import load_cmu_walk

RNG = np.random.default_rng(3)
TIME = np.linspace(0, 4 * np.pi, 120)
CIRCLE = np.column_stack([np.cos(TIME), np.sin(TIME), np.cos(2 * TIME), np.sin(TIME) * np.cos(TIME)])
GONE = (RNG.random(CIRCLE.shape) < 0.3) & ~(np.arange(4) == RNG.integers(0, 4, len(TIME))[:, None])
GAPS = np.where(GONE, np.nan, CIRCLE)
QUICK = {"max_iter": 40, "tol": 1e-3, "perplexity": 12.0}


def error(filled, mask=GONE, X=CIRCLE):
    return float(np.sqrt(((filled - X)[mask] ** 2).mean()))


def embedding(missing="project", **options):
    return KernelInformationEmbedding(missing=missing, **QUICK, **options)


@pytest.fixture(scope="module")
def projected():
    return embedding(Missing("project", rounds=2)).fit(GAPS)


@pytest.mark.thorough
def test_entries_are_filled_by_fill_embed_project_repeat(projected):
    filled = embedding("impute").fit(GAPS).filled_
    for _ in range(2):
        filled = np.where(GONE, embedding("refuse").fit(filled).denoise(filled), CIRCLE)
    np.testing.assert_allclose(projected.filled_, filled, rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(projected.embedding_, embedding("refuse").fit(projected.filled_).embedding_)


@pytest.mark.thorough
def test_the_maps_decide_what_is_filled():
    smooth = embedding(regularization=5.0).fit(GAPS).filled_
    assert np.abs(smooth - embedding().fit(GAPS).filled_)[GONE].max() > 0.01  # "impute" would not see λ


@pytest.mark.thorough
def test_given_conditions_the_projection():
    groups = np.arange(len(GAPS)) % 2
    shift = 3.0 * groups[:, None] * np.array([1, 0, 0, 0])
    often = Missing("project", rounds=6)
    known, unknown = (embedding(often).fit(GAPS + shift, given=given).filled_ for given in (groups, None))
    assert error(known, X=CIRCLE + shift) < 0.95 * error(unknown, X=CIRCLE + shift)


def test_new_rows_are_projected_one_by_one_as_together(projected):
    rows = GAPS[GONE.any(axis=1)][:6]
    together = projected.transform(rows)
    alone = np.vstack([projected.transform(row[None]) for row in rows])
    np.testing.assert_allclose(alone, together, rtol=1e-10, atol=1e-12)
    filled = projected.impute(rows)
    np.testing.assert_allclose(projected.denoise(filled)[np.isnan(rows)], filled[np.isnan(rows)], atol=0.3)
    variance = projected.impute_variance(rows)
    assert (variance[np.isnan(rows)] > 0).all()
    assert (variance[~np.isnan(rows)] == 0).all()


def test_a_saved_model_fills_with_the_same_bytes(projected, tmp_path):
    sidelight.save(projected, tmp_path / "model")
    again = sidelight.load(tmp_path / "model")
    assert again.missing == Missing("project", rounds=2)
    np.testing.assert_array_equal(again.impute(GAPS[:9]), projected.impute(GAPS[:9]))
    np.testing.assert_array_equal(again.filled_variance_, projected.filled_variance_)


def test_one_and_two_threads_fill_with_the_same_bytes():
    one, two = (embedding(n_jobs=n_jobs).fit(GAPS, trajectory=0).filled_ for n_jobs in (1, 2))
    np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("missing", ["impute", "expected", "project"])
@pytest.mark.thorough
def test_a_trajectory_makes_the_filled_entries_better(missing):
    time = np.linspace(0, 8 * np.pi, 240)
    drift = np.cumsum(np.random.default_rng(0).normal(size=(240, 3)) * 0.05, axis=0)
    X = np.column_stack([np.cos(time), np.sin(time), np.cos(3 * time)]) + drift
    gone = np.random.default_rng(1).random(X.shape) < 0.4
    gone[gone.all(axis=1), 0] = False
    gaps = np.where(gone, np.nan, X)
    without, tied = (embedding(missing).fit(gaps, trajectory=order) for order in (None, "walk"))
    assert error(tied.filled_, gone, X) < 0.7 * error(without.filled_, gone, X)
    assert (tied.filled_variance_[gone] <= without.filled_variance_[gone].max()).all()
    np.testing.assert_array_equal(tied.filled_[~gone], X[~gone])


def test_the_source_starts_from_the_nearest_frame_and_projects_once():
    nearest = GAPS.copy()
    for row, column in np.argwhere(GONE):
        seen = np.flatnonzero(~GONE[:, column])
        nearest[row, column] = CIRCLE[seen[np.abs(seen - row).argmin()], column]
    found = embedding(Missing("project", start="nearest")).fit(GAPS, trajectory=0)
    expected = np.where(GONE, embedding("refuse").fit(nearest).denoise(nearest), CIRCLE)
    np.testing.assert_allclose(found.filled_, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    ("missing", "trajectory", "says"),
    [
        ("refuse", 0, "trajectory=something is for filling missing entries"),
        (Missing("project", start="nearest"), None, "missing.start=nearest needs to know which rows follow"),
        ("impute", [0, 1], "trajectory=array of shape"),
        ("impute", [None] * len(GAPS), "the name at row 0 is missing"),
        (Missing("impute", rounds=3), None, "missing.rounds=3 is for the method 'project'"),
        (Missing("project", rounds=0), None, "missing.rounds=0 is not an integer in range"),
        (Missing("project", start="far"), None, "missing.start=far is not an option"),
        (Missing("guess"), None, "missing.method=guess is not an option"),
        ("guess", None, "missing=guess is not an option"),
    ],
)
def test_options_that_cannot_be_are_refused_with_a_sentence(missing, trajectory, says):
    with pytest.raises(ValueError, match=f"KernelInformationEmbedding: .*{says}"):
        embedding(missing).fit(GAPS if missing != "refuse" else CIRCLE, trajectory=trajectory)


def test_cost_counts_the_rounds():
    once, thrice = (embedding(Missing("project", rounds=k)).estimate_cost(1000, 50).seconds for k in (1, 3))
    assert thrice - once == pytest.approx(2 * embedding("refuse").estimate_cost(1000, 50).seconds)


@pytest.mark.data
@pytest.mark.parametrize("missing", ["project", pytest.param("expected", marks=pytest.mark.slow)])
@pytest.mark.thorough
def test_half_of_a_walk_is_filled_better_than_by_interpolation_in_time(missing):
    X = load_cmu_walk().X[:298]
    gone = np.random.default_rng(0).random(X.shape) < 0.5
    gaps, frames = np.where(gone, np.nan, X), np.arange(len(X))
    columns = [np.interp(frames, frames[~out], x[~out]) for x, out in zip(X.T, gone.T, strict=True)]
    found = KernelInformationEmbedding(missing=missing).fit(gaps, trajectory="walk").filled_
    assert error(found, gone, X) < 0.98 * error(np.column_stack(columns), gone, X)
