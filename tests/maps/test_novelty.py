"""Rows unlike the training rows, at a stated rate of false alarms."""

from __future__ import annotations

import numpy as np
import pytest

from sidelight import (
    BernoulliMixture,
    CoordinatedCCA,
    CoordinatedMixture,
    KernelInformationEmbedding,
    PPCAMixture,
    ProbabilisticPCA,
    TwoWayEmbedding,
)
from sidelight.maps.typicality import p_value, view_p_values

RNG = np.random.default_rng(0)
A = RNG.normal(size=(5, 5))
X, NEW = RNG.normal(size=(300, 5)) @ A, RNG.normal(size=(1000, 5)) @ A
MODELS = {
    "information": lambda: KernelInformationEmbedding(max_iter=20, tol=1e-2, n_jobs=1),
    "two-way": lambda: TwoWayEmbedding(n_jobs=1),
    "ppca": lambda: ProbabilisticPCA(2),
    "mixture": lambda: PPCAMixture(2, 2, random_state=0),
    "charts": lambda: CoordinatedMixture(2, n_charts=2, random_state=0),
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    "name", [*list(MODELS)[1:4], pytest.param("information", marks=pytest.mark.thorough), "charts"]
)
def test_false_alarms_are_as_rare_as_said_and_far_rows_are_found(name):
    model = MODELS[name]().fit(X)
    for rate in (0.01, 0.05, 0.1):
        alarms = model.is_novel(NEW, false_alarm=rate).mean()
        assert alarms <= rate + 3 * np.sqrt(rate / 300)  # of 300 training rows, the rate itself varies so much
    assert model.is_novel(100.0 * NEW[:5]).all()
    p, share = model.novelty_p_value(NEW[:50]), model.typicality(NEW[:50])
    assert p.min() >= 1 / 301
    assert (p >= share - 1e-9).all()
    assert p == pytest.approx(share, abs=1 / 100)


def test_a_rate_that_the_training_rows_cannot_tell_is_refused():
    model = TwoWayEmbedding().fit(X)
    with pytest.raises(ValueError, match=r"false_alarm=0.001 is too small for the 300 .* Give 0.0033 or more"):
        model.is_novel(NEW[:2], false_alarm=0.001)
    assert model.is_novel(100 * NEW[:1], false_alarm=1 / 301).all()


def test_the_p_value_of_a_row_like_the_others_is_uniform():
    rng = np.random.default_rng(1)
    found = np.array([p_value(np.sort(rng.normal(size=19)), rng.normal(size=1))[0] for _ in range(4000)])
    for rate in (0.05, 0.1, 0.5):
        assert abs((found <= rate + 1e-9).mean() - rate) < 3 * np.sqrt(rate / 4000)


def test_rows_that_views_see_apart_have_the_smallest_p_value_times_their_number():
    own = np.array([[float(i), np.nan] if i < 20 else [np.nan, float(i)] for i in range(40)])
    assert view_p_values(own, np.array([[-1.0, 25.0]]))[0] == pytest.approx(2 / 21)
    assert view_p_values(own, np.array([[50.0, 50.0]]))[0] == 1.0


def test_models_of_views_and_of_binary_columns_have_it():
    views = CoordinatedCCA(views=[[0, 1], [2, 3, 4]], n_charts=2, random_state=0).fit(X)
    rows = 100.0 * NEW[:3]
    rows[0, :2] = np.nan
    assert views.is_novel(rows, false_alarm=0.01).all()
    assert BernoulliMixture(2, random_state=0).fit(X > 0).is_novel(NEW > 0, false_alarm=0.05).mean() < 0.12
