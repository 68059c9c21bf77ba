"""A fit that will take minutes says so before it begins: once, in words, and not for short fits."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sidelight import KernelInformationEmbedding, PPCAMixture, ProbabilisticPCA, TwoWayEmbedding
from sidelight.base import cost as cost_module
from sidelight.base.cost import Cost
from sidelight.base.warnings import CostWarning

X = np.random.default_rng(0).normal(size=(60, 4))


@pytest.fixture(autouse=True)
def nothing_told(monkeypatch):
    monkeypatch.setattr(cost_module, "_told", {})


def slow(monkeypatch, kind, seconds=600.0):
    monkeypatch.setattr(kind, "estimate_cost", lambda *_, **__: Cost(1, seconds))


def notices(fit):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fit()
    return [str(one.message) for one in caught if issubclass(one.category, CostWarning)]


def test_a_fit_of_minutes_says_so_and_what_to_do(monkeypatch):
    slow(monkeypatch, ProbabilisticPCA)
    with pytest.warns(CostWarning, match=r"ProbabilisticPCA: X=60 rows will take about 10 minutes .* random sample"):
        ProbabilisticPCA().fit(X)


def test_the_notice_points_at_the_line_of_the_user(monkeypatch):
    slow(monkeypatch, ProbabilisticPCA)
    with pytest.warns(CostWarning) as caught:
        make_pipeline(StandardScaler(), ProbabilisticPCA()).fit(X)
    assert caught[0].filename == __file__


@pytest.mark.parametrize("kind", [ProbabilisticPCA, PPCAMixture, KernelInformationEmbedding])
def test_a_short_fit_says_nothing(kind):
    assert notices(lambda: kind().fit(X)) == []


def test_the_folds_of_a_search_say_it_once(monkeypatch):
    slow(monkeypatch, ProbabilisticPCA)
    assert len(notices(lambda: cross_val_score(ProbabilisticPCA(), X, cv=5))) == 1


def test_a_much_longer_fit_says_it_again(monkeypatch):
    slow(monkeypatch, ProbabilisticPCA, 200.0)
    assert len(notices(lambda: [ProbabilisticPCA().fit(X) for _ in range(3)])) == 1
    slow(monkeypatch, ProbabilisticPCA, 20_000.0)
    (message,) = notices(lambda: ProbabilisticPCA().fit(X))
    assert "5.6 hours" in message


def test_a_fit_inside_a_fit_does_not_say_it_again(monkeypatch):
    slow(monkeypatch, TwoWayEmbedding)
    slow(monkeypatch, ProbabilisticPCA)
    assert len(notices(lambda: TwoWayEmbedding(ProbabilisticPCA()).fit(X))) == 1


def test_after_a_fit_the_next_one_speaks_for_itself(monkeypatch):
    slow(monkeypatch, TwoWayEmbedding)
    slow(monkeypatch, ProbabilisticPCA)
    fits = notices(lambda: [TwoWayEmbedding().fit(X), ProbabilisticPCA().fit(X)])
    assert [one.split(":")[0] for one in fits] == ["TwoWayEmbedding", "ProbabilisticPCA"]


def test_a_fit_that_fails_leaves_the_next_notice_whole(monkeypatch):
    def fail(*_, **__):
        raise ZeroDivisionError

    slow(monkeypatch, TwoWayEmbedding)
    slow(monkeypatch, ProbabilisticPCA)
    monkeypatch.setattr(TwoWayEmbedding, "_embedded", fail)
    with pytest.warns(CostWarning), pytest.raises(ZeroDivisionError):
        TwoWayEmbedding().fit(X)
    with pytest.warns(CostWarning, match="ProbabilisticPCA"):
        ProbabilisticPCA().fit(X)
