"""H(Z) by transform, and by tiles that are not kept."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from scipy.sparse import eye_array

from sidelight import KernelInformationEmbedding
from sidelight.datasets import s_curve
from sidelight.kernels import gauss_transform
from sidelight.kernels.matrices import dense_kernel
from sidelight.kernels.profiles import GAUSSIAN, QUARTIC, profile
from sidelight.objectives import entropy
from sidelight.objectives.entropy import Entropy, EntropySum, information

fast_only = pytest.mark.skipif(gauss_transform.library() is None, reason="no finufft for this machine")
EXTENTS = {1: [0.01, 3.0, 200.0], 2: [0.01, 3.0, 30.0], 3: [0.01, 3.0]}
CASES = [(q, extent) for q, extents in EXTENTS.items() for extent in extents]


@pytest.fixture
def always(monkeypatch):
    """The transform wherever there is one; the number of evaluations that took it."""
    taken = []
    original = entropy.fast_entropy
    monkeypatch.setattr(gauss_transform, "is_faster", lambda profile, n, *modes: True)
    monkeypatch.setattr(gauss_transform, "_PLAN", 0.0)
    monkeypatch.setattr(entropy, "fast_entropy", lambda *args: taken.append(1) or original(*args))
    return taken


def cloud(kind, n, q, extent):
    rng = np.random.default_rng(q)
    if kind == "clumps":
        return extent * rng.integers(0, 2, size=(n, q)) + 1e-3 * rng.standard_normal((n, q))
    Z = extent * rng.random((n, q))
    if kind == "outliers":
        Z[: n // 2] = 0.3 * extent + 1e-3 * rng.standard_normal((n // 2, q))
    return Z


@fast_only
@pytest.mark.parametrize(("q", "extent"), CASES)
@pytest.mark.parametrize("kind", ["uniform", "clumps", "outliers"])
@pytest.mark.parametrize("name", ["gaussian", "student"])
def test_value_and_gradient_are_those_of_exact_pairs(name, kind, q, extent, always):
    Z = cloud(kind, 700, q, extent)
    fast = EntropySum([Entropy("H(Z)", -2.0)], profile(name)).value_and_grad(Z)
    assert always
    exact = EntropySum([Entropy("H(Z)", -2.0)], profile(name), dtype=np.float64).value_and_grad(Z)
    assert len(always) == 1
    assert fast.value == pytest.approx(exact.value, abs=1e-7)
    assert fast.terms["H(Z)"] == pytest.approx(exact.terms["H(Z)"], abs=1e-7)
    assert np.linalg.norm(fast.gradient - exact.gradient) <= 5e-6 * np.linalg.norm(exact.gradient)


@fast_only
@pytest.mark.parametrize("name", ["gaussian", "student"])
def test_the_gradient_is_that_of_the_value_for_tight_clumps_far_apart(name, always):
    Z = cloud("clumps", 500, 2, 30.0)
    objective = EntropySum([Entropy("H(Z)", 1.0)], profile(name))
    move = 1e-3 * np.random.default_rng(0).standard_normal(Z.shape)
    step = 1e-1  # a tenth of the clumps' size
    ahead, behind = (objective.value_and_grad(Z + s * step * move).value for s in (1, -1))
    slope = float(np.vdot(objective.value_and_grad(Z).gradient, move))
    assert slope == pytest.approx((ahead - behind) / (2 * step), rel=1e-4)
    assert len(always) == 3


@fast_only
def test_one_and_two_threads_give_the_same_bytes(always):
    """Bytes may be compared: each transform of finufft runs on one thread, and they are added in order."""
    Z = cloud("outliers", 3000, 2, 20.0)
    one, two = (EntropySum([Entropy("H(Z)", 1.0)], GAUSSIAN, n_jobs=jobs).value_and_grad(Z) for jobs in (1, 2))
    assert len(always) == 2
    assert one.value == two.value
    assert one.gradient.tobytes() == two.gradient.tobytes()


@fast_only
def test_beside_a_sparse_kernel_the_transform_is_taken_and_beside_a_dense_one_the_tiles(always):
    Z = cloud("uniform", 600, 2, 5.0)
    sparse, dense = eye_array(600, format="csr"), dense_kernel(Z, 1.0, GAUSSIAN)
    for kernel, taken in ((sparse, 1), (dense, 1)):
        fast = EntropySum(information(kernel), GAUSSIAN).value_and_grad(Z)
        assert len(always) == taken
        exact = EntropySum(information(kernel), GAUSSIAN, dtype=np.float64).value_and_grad(Z)
        assert fast.value == pytest.approx(exact.value, abs=1e-5)
        assert np.linalg.norm(fast.gradient - exact.gradient) <= 1e-5 * np.linalg.norm(exact.gradient)


@fast_only
def test_a_fit_converges_to_the_same_place_across_a_switch_of_method(monkeypatch):
    X = s_curve(250, random_state=0).X
    exact = KernelInformationEmbedding().fit(X)
    ways = []

    def rule(profile, n, modes):
        ways.append(modes.count < 900)
        return ways[-1]

    monkeypatch.setattr(gauss_transform, "is_faster", rule)
    monkeypatch.setattr(gauss_transform, "_PLAN", 0.0)
    mixed = KernelInformationEmbedding().fit(X)
    switches = np.count_nonzero(np.diff(ways))
    assert switches >= 3
    assert mixed.history_[-1]["objective"] == pytest.approx(exact.history_[-1]["objective"], rel=1e-4)
    assert len(mixed.history_) <= 1.5 * len(exact.history_)
    distance = np.linalg.norm(mixed.embedding_ - exact.embedding_) / np.linalg.norm(exact.embedding_)
    assert distance < 0.05


@pytest.mark.parametrize("kind", ["plain", "dense"])
@pytest.mark.parametrize("name", ["gaussian", "student", "quartic"])
def test_tiles_that_are_not_kept_give_the_same_bytes(name, kind, monkeypatch):
    """Bytes may be compared: a tile is computed again by the same calls, and added in the same order."""
    Z = cloud("uniform", 1100, 2, 30.0)
    terms = [Entropy("H(Z)", 1.0)] if kind == "plain" else information(dense_kernel(Z, 1.0, GAUSSIAN))
    kept = EntropySum(terms, profile(name)).value_and_grad(Z)
    monkeypatch.setattr(entropy, "_KEPT", 0)
    monkeypatch.setattr(entropy, "_STRIPS", 2)
    computed_again = EntropySum(terms, profile(name)).value_and_grad(Z)
    assert computed_again.value == kept.value
    assert computed_again.gradient.tobytes() == kept.gradient.tobytes()


@pytest.mark.thorough
def test_twenty_thousand_rows_without_a_transform_stay_in_bounded_memory():
    Z = 50 * np.random.default_rng(0).random((20_000, 1))
    objective = EntropySum([Entropy("H(Z)", 1.0)], QUARTIC)
    tracemalloc.start()
    try:
        found = objective.value_and_grad(Z)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert np.isfinite(found.value)
    assert peak < 60e6  # the kernel's upper half would take 800 million bytes


@fast_only
def test_twenty_thousand_rows_by_transform_take_the_memory_of_their_modes():
    Z = 30 * np.random.default_rng(0).random((20_000, 2))
    objective = EntropySum([Entropy("H(Z)", 1.0)], GAUSSIAN)
    objective.value_and_grad(Z)
    assert not objective.latent.kept


@pytest.mark.thorough
def test_no_library_means_exact_tiles_and_no_error(monkeypatch):
    monkeypatch.setattr(gauss_transform, "library", lambda: None)
    Z = cloud("uniform", 3000, 1, 30.0)
    found = EntropySum([Entropy("H(Z)", 1.0)], GAUSSIAN).value_and_grad(Z)
    R = (Z - Z.T) ** 2
    assert found.value == pytest.approx(-np.log(np.exp(-R).sum(axis=1)).mean(), rel=1e-6)
