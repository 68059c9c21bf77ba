"""``Annealing(limit=r)``: the power of the latent points as a constraint instead of a penalty."""

import numpy as np
import pytest

from sidelight import Annealing, JointInformationEmbedding, KernelInformationEmbedding, UnsupervisedKernelRegression
from sidelight.datasets import s_curve
from sidelight.objectives.limited_power import power

X = s_curve(60, random_state=0).X
EXACT = {"penalty": "l2", "tol": 1e-11, "max_iter": 2000}


@pytest.mark.parametrize("kind", [KernelInformationEmbedding, JointInformationEmbedding])
def test_power_is_the_limit_and_the_multiplier_is_the_weight_of_the_same_penalty(kind):
    model = kind(regularization=Annealing(1e-3, start=1.0, limit=2.0), **EXACT).fit(X)
    assert power(model.embedding_) == pytest.approx(2.0, rel=1e-9)
    weight = float(model.regularization_path_[-1])
    again = kind(regularization=Annealing(weight, start=weight), init=model.embedding_, **EXACT).fit(X)
    np.testing.assert_allclose(again.embedding_, model.embedding_, atol=1e-3)


def test_power_is_the_limit_where_given_is_factored_out():
    model = KernelInformationEmbedding(regularization=Annealing(1e-3, limit=2.0), penalty="l2")
    assert power(model.fit(X, given=np.arange(60) % 2).embedding_) == pytest.approx(2.0, rel=1e-9)


@pytest.mark.thorough
def test_a_limit_that_the_minimum_does_not_reach_has_no_multiplier():
    """The error of kernel regression is least at a finite size, other than information, which grows with it."""
    model = UnsupervisedKernelRegression(regularization=Annealing(1e-6, limit=1e6), **EXACT).fit(X)
    assert power(model.embedding_) < 1e5
    assert model.regularization_path_[-1] == 0.0


def test_equal_rows_stay_finite():
    model = KernelInformationEmbedding(regularization=Annealing(0.01, limit=2.0), penalty="l2")
    assert np.isfinite(model.fit(np.ones((12, 3))).embedding_).all()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"penalty": "stretch"}, r"limit=2\.0 bounds the power of the latent points, and the penalty is 'stretch'"),
        ({"penalty": "l2", "bandwidth": "learned"}, r"limit=2\.0 is not for a learned bandwidth"),
    ],
)
def test_a_limit_that_does_not_apply_is_refused(options, words):
    with pytest.raises(ValueError, match=words):
        KernelInformationEmbedding(regularization=Annealing(0.1, limit=2.0), **options).fit(X)


def test_a_limit_of_0_is_refused():
    with pytest.raises(ValueError, match=r"regularization\.limit=0"):
        KernelInformationEmbedding(regularization=Annealing(0.1, limit=0), penalty="l2").fit(X)
