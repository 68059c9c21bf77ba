"""The joint entropy with a data kernel of few factors and near pairs: beside dense pairs of that same kernel."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from sidelight.kernels import gauss_transform
from sidelight.kernels.low_rank import LowRankKernel, low_rank_kernel
from sidelight.kernels.matrices import SymmetricTiles
from sidelight.kernels.profiles import GAUSSIAN, profile
from sidelight.objectives.entropy import Entropy, EntropySum, conditional_information, information

fast_only = pytest.mark.skipif(gauss_transform.library() is None, reason="no finufft for this machine")
N = 700


@pytest.fixture(scope="module")
def kernel():
    X = np.random.default_rng(0).standard_normal((N, 8))
    return low_rank_kernel(X, 25.0, GAUSSIAN, most=37, tolerance=0.0)[0]


@pytest.fixture
def way(monkeypatch):
    """Choose the transform or the tiles, whatever costs less."""
    return lambda fast: monkeypatch.setattr(gauss_transform, "factors_are_faster", lambda *_: fast)


def places(q, n=N):
    return {1: 4.0, 2: 3.0}.get(q, 0.7) * np.random.default_rng(1).standard_normal((n, q))


def joint(kernel, latent, **options):
    return EntropySum([Entropy("H(X,Z)", 1.5, (kernel,))], profile(latent), **options)


CASES = [("gaussian", q, True) for q in (1, 2, 3)] + [("student", q, True) for q in (1, 2)]
CASES += [(name, q, False) for name in ("gaussian", "student", "quartic") for q in (2, 5)]


@fast_only
@pytest.mark.parametrize(("latent", "q", "fast"), CASES)
def test_value_and_gradient_are_those_of_the_same_kernel_held_densely(latent, q, fast, kernel, way):
    way(fast)
    Z = places(q)
    objective = joint(kernel, latent)
    assert (objective._factored(Z) is not None) == fast
    found = objective.value_and_grad(Z)
    dense = joint(SymmetricTiles.from_dense(kernel.to_dense(), np.float64), latent, dtype=np.float64).value_and_grad(Z)
    assert found.value == pytest.approx(dense.value, rel=1e-6)
    assert found.terms["H(X,Z)"] == pytest.approx(dense.terms["H(X,Z)"], rel=1e-6)
    assert np.linalg.norm(found.gradient - dense.gradient) <= 1e-5 * np.linalg.norm(dense.gradient)


def test_in_double_precision_tiles_are_exact(kernel):
    Z = places(2)
    found = joint(kernel, "gaussian", dtype=np.float64).value_and_grad(Z)
    D = ((Z[:, None] - Z[None]) ** 2).sum(axis=-1)
    sums = (kernel.to_dense() * np.exp(-D)).sum(axis=1)
    assert found.value == pytest.approx(-1.5 * np.log(sums).mean(), rel=1e-12)


@fast_only
@pytest.mark.parametrize("fast", [True, False], ids=["transform", "tiles"])
def test_the_gradient_is_that_of_the_value(fast, kernel, way):
    way(fast)
    objective = EntropySum(information(kernel), GAUSSIAN, dtype=np.float32 if fast else np.float64)
    Z = places(2)
    G = objective.value_and_grad(Z).gradient
    step = 0.1 / np.linalg.norm(G)
    ahead, behind = (objective.value_and_grad(Z + sign * step * G).value for sign in (1, -1))
    assert (ahead - behind) / (2 * step) == pytest.approx(float(np.vdot(G, G)), rel=1e-4)


@fast_only
def test_one_and_two_threads_give_the_same_bytes(kernel, way):
    """Bytes may be compared: fixed tiles, each on one BLAS thread, are added in the order of the tiles."""
    way(True)
    one, two = (joint(kernel, "gaussian", n_jobs=jobs).value_and_grad(places(2)) for jobs in (1, 2))
    assert one.value == two.value
    assert one.gradient.tobytes() == two.gradient.tobytes()


@fast_only
@pytest.mark.parametrize("fast", [True, False], ids=["transform", "tiles"])
def test_a_row_whose_factors_make_its_sum_negative_counts_half_of_itself_and_does_not_move(fast, way):
    way(fast)
    F = np.ones((4, 1))
    F[0] = -3.0
    near = csr_array(np.diag(1.0 - F[:, 0] ** 2))
    Z = np.array([[0.0, 0.0], [0.1, 0.0], [0.0, 0.1], [0.1, 0.1]])
    found = joint(LowRankKernel(F, near), "gaussian").value_and_grad(Z)
    others = [
        1 + sum((1 if j else -3) * np.exp(-((Z[i] - Z[j]) ** 2).sum()) for j in range(4) if j != i) for i in (1, 2, 3)
    ]
    assert all(total < 0.5 for total in others)
    assert found.value == pytest.approx(-1.5 * np.log(0.5), rel=1e-6)
    assert not found.gradient.any()


def test_it_is_not_multiplied_with_another_kernel(kernel):
    other = csr_array(np.eye(N))
    with pytest.raises(ValueError, match="cannot be multiplied with another kernel"):
        EntropySum(conditional_information(kernel, other), GAUSSIAN)


@fast_only
def test_tiles_are_taken_where_pairs_are_few_and_transforms_where_they_are_many(kernel):
    assert joint(kernel, "gaussian")._factored(places(2)) is None
    many = LowRankKernel(np.ones((20_000, 37)), csr_array((20_000, 20_000)))
    assert joint(many, "gaussian")._factored(places(2, 20_000)) is not None
    assert joint(many, "gaussian")._factored(places(4, 20_000)) is None
