from __future__ import annotations

import math

import numpy as np
import pytest

from sidelight.base.result import Status
from sidelight.datasets import noisy_s
from sidelight.information._learned_bandwidth import learn_bandwidth
from sidelight.kernels.bandwidths import LeaveOneOut, leave_one_out_bandwidth
from sidelight.kernels.data_kernel import perplexity_kernel
from sidelight.kernels.profiles import GAUSSIAN
from sidelight.objectives.leave_one_out import LatentRows, LeaveOneOutLikelihood, pack, unpack
from sidelight.objectives.penalties import Power, Stretch
from sidelight.solvers.anneal import geometric
from sidelight.solvers.eigen import graph_spectrum


def naive(X, Z, h):
    """Each row's log-density given its latent point, told by the others one at a time."""
    n, d = X.shape
    total = 0.0
    for i in range(n):
        joint = latent = 0.0
        for j in range(n):
            if j != i:
                k = math.exp(-sum((Z[i] - Z[j]) ** 2))
                latent += k
                joint += k * math.exp(-sum((X[i] - X[j]) ** 2) / h)
        total += math.log(joint / latent) - 0.5 * d * math.log(math.pi * h)
    return -total / n


def points(n=14, d=4, q=2, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) + 5, 0.8 * rng.normal(size=(n, q)) - 3


@pytest.mark.parametrize("u", [-2.0, 0.3, 3.0])
def test_value_is_that_of_loops_over_pairs(u):
    X, Z = points()
    assert LeaveOneOutLikelihood(X, dtype=np.float64).evaluate(Z, u)[0] == pytest.approx(naive(X, Z, math.exp(u)))


@pytest.mark.parametrize("q", [1, 2, 5])
@pytest.mark.parametrize("u", [-2.0, 0.3, 3.0])
def test_gradient_by_points_and_bandwidth_agrees_with_finite_differences(q, u):
    X, Z = points(q=q)
    objective, point, step = LeaveOneOutLikelihood(X, dtype=np.float64), pack(Z, u), 1e-5
    gradient = objective.value_and_grad(point).gradient
    numeric = np.zeros_like(point)
    for place in [*np.ndindex(*Z.shape), (len(Z), 0)]:
        move = np.zeros_like(point)
        move[place] = step
        ahead, behind = (objective.value_and_grad(point + s * move).value for s in (1, -1))
        numeric[place] = (ahead - behind) / (2 * step)
    assert np.linalg.norm(gradient - numeric) <= 1e-7 * np.linalg.norm(numeric)


def test_gradient_over_several_tiles_agrees_with_finite_differences(monkeypatch):
    monkeypatch.setattr("sidelight.objectives.leave_one_out._BUDGET", 4000)
    X, Z = points(n=210)
    objective = LeaveOneOutLikelihood(X, dtype=np.float64)
    assert len(objective.parts) > 5
    point, move = pack(Z, 0.5), pack(np.random.default_rng(1).normal(size=Z.shape), 1.0)
    ahead, behind = (objective.value_and_grad(point + s * 1e-5 * move).value for s in (1, -1))
    slope = float(np.vdot(objective.value_and_grad(point).gradient, move))
    assert slope == pytest.approx((ahead - behind) / 2e-5, rel=1e-6)


def test_single_precision_agrees_with_double():
    X, Z = points(n=300)
    single, double = (
        LeaveOneOutLikelihood(X, dtype=dtype).value_and_grad(pack(Z, -1.0)) for dtype in (np.float32, np.float64)
    )
    assert single.value == pytest.approx(double.value, rel=1e-5)
    assert np.abs(single.gradient - double.gradient).max() < 1e-4 * np.abs(double.gradient).max()


def test_without_latent_differences_it_is_the_leave_one_out_likelihood_of_the_data():
    X, _ = points(n=30)
    for h in (0.3, 2.0):
        found = LeaveOneOutLikelihood(X, dtype=np.float64).evaluate(np.zeros((30, 2)), math.log(h))[0]
        assert found == pytest.approx(-LeaveOneOut(X, GAUSSIAN)(h), rel=1e-10)


def test_nothing_underflows_where_the_kernel_of_a_pair_would():
    X, Z = points(n=40, d=3)
    for u, size in ((-12.0, 1.0), (0.0, 100.0), (-12.0, 100.0)):
        value, gradient, slope = LeaveOneOutLikelihood(X).evaluate(size * Z, u)
        assert np.isfinite([value, slope]).all()
        assert np.isfinite(gradient).all()


def test_columns_that_do_not_vary_do_not_count_as_dimensions():
    X, Z = points()
    padded = np.column_stack([X, np.ones((len(X), 3)), X @ np.ones((X.shape[1], 2))])
    assert LeaveOneOutLikelihood(X).rank == LeaveOneOutLikelihood(padded).rank == 4
    assert unpack(pack(Z, 1.5))[1] == 1.5


def test_nearest_neighbours_at_growing_scale_approach_the_bound_that_makes_the_penalty_needed():
    X = np.random.default_rng(3).normal(size=(40, 2))
    objective, u = LeaveOneOutLikelihood(X, dtype=np.float64), -2.0
    values = [objective.evaluate(size * X, u)[0] for size in (1, 3, 10, 30)]
    R = objective.R + np.diag(np.full(40, np.inf))
    bound = R.min(axis=1).mean() / math.exp(u) + math.log(math.pi) + u
    assert (np.diff(values) < 0).all()
    assert values[-1] == pytest.approx(bound, rel=1e-2)


def test_a_penalty_sees_the_latent_rows_alone():
    _, Z = points()
    found = LatentRows(Power(2)).value_and_grad(pack(Z, 9.0))
    assert found.value == Power(2).value_and_grad(Z).value
    assert unpack(found.gradient)[1] == 0.0


@pytest.mark.parametrize("seed", range(3))
def test_points_and_bandwidth_are_learned_together_from_a_smooth_start(seed):
    data = noisy_s(120, random_state=seed)
    kernel = perplexity_kernel(data.X, 15.0, 15).matrix
    start = graph_spectrum(kernel, 1).coordinates(1)
    path, bandwidths = learn_bandwidth(data.X, Stretch(kernel), start, geometric(3.0, 0.1, 0.5))
    assert path.status is Status.CONVERGED
    assert len(bandwidths) == len(path.stages)
    assert path.point.shape == (120, 1)
    ranks = [np.argsort(np.argsort(values)) for values in (path.point[:, 0], data.factors["position"])]
    assert abs(np.corrcoef(*ranks)[0, 1]) > 0.98
    unconditional = leave_one_out_bandwidth(data.X, GAUSSIAN, typical=1.0)
    assert 0.3 * unconditional < bandwidths[-1] < unconditional


def test_a_callback_sees_the_latent_points_and_stops_the_search():
    seen = []

    def stop(state):
        seen.append((state.embedding.shape, state.terms["log bandwidth"]))
        return len(seen) == 5

    start = np.linspace(-1, 1, 60)[:, None]
    path, _ = learn_bandwidth(noisy_s(60, random_state=1).X, Power(2), start, [1.0, 0.1], callback=stop)
    assert path.status is Status.STOPPED
    assert len(seen) == 5
    assert seen[0][0] == (60, 1)
