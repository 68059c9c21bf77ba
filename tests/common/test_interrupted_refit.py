"""A refit that is interrupted leaves the old model or a new one, never parts of both."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from registry import MIXTURES, VARIANTS, blobs

from sidelight import CoordinatedCCA, CoordinatedMixture
from sidelight.rows import ArrayRows

MODELS = {
    **{name: VARIANTS[name] for name in ("coordinated", "coordinated-parallel-smooth", "coordinated-automatic", "cca")},
    "cca-views": lambda: CoordinatedCCA(1, views=[[0, 1], slice(2, None)], n_charts=2),
    **{name: MIXTURES[name] for name in ("bernoulli-mixture", "ppca-mixture", "ppca-mixture-auto")},
    **{name: VARIANTS[name] for name in ("ppca", "ppca-standardized-3d")},
}
every = pytest.mark.parametrize("make", MODELS.values(), ids=MODELS.keys())
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
NEW = blobs(60, d=4, seed=1)


def interrupt_walk(monkeypatch, number):
    """Ctrl-C in the walk over the rows of that number, counted from 0; returns how many there were."""
    walks, total = [], ArrayRows.total

    def walk(self, statistic):
        walks.append(statistic)
        if len(walks) == number + 1:
            raise KeyboardInterrupt
        return total(self, statistic)

    monkeypatch.setattr(ArrayRows, "total", walk)
    return walks


def is_as_before(model, before):
    return vars(model).keys() == before.keys() and all(vars(model)[name] is value for name, value in before.items())


def is_a_whole_fit(model, X):
    answers = (model.transform(X), model.score_samples(X), model.sample(3, random_state=0))
    return model.n_features_in_ == X.shape[1] and all(np.isfinite(part).all() for part in answers)


@every
def test_ctrl_c_in_any_walk_leaves_the_old_model_or_a_new_one(make, monkeypatch):
    fitted = make().set_params(max_iter=5).fit(blobs())
    counted = interrupt_walk(monkeypatch, -1)
    copy.deepcopy(fitted).fit(NEW)
    walks = len(counted)
    old = 0
    for number in sorted({0, 1, walks // 2, walks - 1}):
        monkeypatch.undo()
        model = copy.deepcopy(fitted)
        before = dict(vars(model))
        interrupt_walk(monkeypatch, number)
        with pytest.raises(KeyboardInterrupt):
            model.fit(NEW)
        old += is_as_before(model, before)
        assert is_as_before(model, before) or is_a_whole_fit(model, NEW)
    assert old >= 1  # the survey of the rows has nothing to keep


@every
def test_a_refit_that_is_refused_leaves_the_old_model(make):
    model = make().set_params(max_iter=5).fit(blobs())
    before = dict(vars(model))
    with pytest.raises(ValueError, match="infinity"):
        model.fit(np.where(np.arange(4) == 1, np.inf, NEW))
    assert is_as_before(model, before)
    model.set_params(tol=-1.0)
    before = dict(vars(model))
    with pytest.raises(ValueError, match="tol"):
        model.fit(NEW)
    assert is_as_before(model, before)


@pytest.mark.parametrize("name", ["coordinated", "cca-views", "bernoulli-mixture"])
def test_ctrl_c_while_batches_are_read_leaves_the_old_model(name):
    model = MODELS[name]().set_params(max_iter=5).fit(blobs())
    before = dict(vars(model))

    def batches():
        yield NEW[:30]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        model.fit_batches(batches)
    assert is_as_before(model, before)


def test_ctrl_c_while_charts_are_glued_leaves_the_old_model(monkeypatch):
    model = CoordinatedMixture(n_charts=2).fit(blobs())
    before = dict(vars(model))

    def interrupted(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr("sidelight._coordination_fit.coordinated", interrupted)
    with pytest.raises(KeyboardInterrupt):
        model.fit(NEW)
    assert is_as_before(model, before)
