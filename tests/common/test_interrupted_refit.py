"""A refit that is refused, fails or is interrupted leaves the old model or a new one, never parts of both."""

from __future__ import annotations

import copy
import functools
import zlib

import numpy as np
import pytest
from refit_cases import CASES, NEW, OLD, params_of
from registry import CHECKED, MIXTURES, VARIANTS, blobs

from sidelight import CoordinatedCCA, CoordinatedMixture, KernelInformationEmbedding, Relation, TwoWayEmbedding
from sidelight.base.fitting import is_fitted_name
from sidelight.rows import ArrayRows

every = pytest.mark.parametrize("name", params_of(CASES))
CLOSED_FORM = {"ppca", "ppca-auto", "ppca-standardized-3d", "distance", "distance-identity", "distance-rbf-2d"} | {
    "coordinated-gaussian-3d"
}
"""Those that have a callback and nothing to ask it here."""
watched = pytest.mark.parametrize(
    "name", params_of(name for name in CASES if CASES[name].is_watched and name not in CLOSED_FORM)
)
pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore:.*(relations|charts|places|alpha)=:UserWarning"),
]


class NoMore(Exception):
    """What goes wrong in these tests."""


def is_as_before(model, before):
    return vars(model).keys() == before.keys() and all(vars(model)[name] is value for name, value in before.items())


def at(number, exception):
    """A callback that raises at that call, counted from 1."""
    calls = []

    def callback(state):
        calls.append(state)
        if len(calls) == number:
            raise exception

    return callback, calls


@functools.cache
def fresh(name):
    """A model of the second data that has seen nothing else, how often it asks its callback and sets an attribute."""
    case, (callback, calls) = CASES[name], at(0, NoMore)
    model, names = failing(case.watched(case.new(), callback) if case.is_watched else case.new(), 0, NoMore)
    return case.fit(model, NEW), len(calls), len(names)


def drawn(name, most):
    """A number from 1 to ``most`` that depends on the name alone."""
    return 1 + zlib.crc32(name.encode()) % most


@functools.cache
def answers(name):
    return CASES[name].bytes(CASES[name].fitted(), OLD)


def refuses(name, model, exception):
    """Fitting the second data raises, and the model is as before."""
    case, before = CASES[name], dict(vars(model))
    with pytest.raises(exception):
        case.fit(model, NEW)
    assert is_as_before(model, before)
    assert case.bytes(model, OLD) == answers(name)


def failing(model, number, exception):
    """The model as one of a class that raises when a fit sets its attribute of that number; and what was set."""
    names = []

    def setattr_(self, name, value):
        if is_fitted_name(name):
            names.append(name)
            if len(names) == number:
                raise exception
        object.__setattr__(self, name, value)

    kind = type(type(model).__name__, (type(model),), {"__setattr__": setattr_, "__module__": type(model).__module__})
    other = object.__new__(kind)
    other.__dict__ = dict(vars(model))
    return other, names


@pytest.mark.thorough
@every
def test_a_second_fit_of_another_width_is_a_fresh_fit(name):
    case, (other, *_) = CASES[name], fresh(name)
    model = case.fit(case.fitted(), NEW)
    assert vars(model).keys() == vars(other).keys()
    assert case.bytes(model, NEW) == case.bytes(other, NEW)


LOOKED_AT = sorted(CASES.keys() - {"two-way-embedded"})  # whose estimator is not looked at


@pytest.mark.parametrize("name", params_of(LOOKED_AT))
def test_a_refused_parameter_leaves_the_model(name):
    case, model = CASES[name], CASES[name].fitted()
    parameters = model.get_params(deep=False)
    model.set_params(**case.refused)
    before = dict(vars(model))
    with pytest.raises((ValueError, TypeError)):
        case.fit(model, NEW)
    assert is_as_before(model, before)
    assert case.bytes(model.set_params(**parameters), OLD) == answers(name)


@every
def test_refused_data_leaves_the_model(name):
    case = CASES[name]
    model, (args, kwargs) = case.fitted(), case.data(**NEW)
    before, bad = dict(vars(model)), np.array(args[0])
    bad[0, 0] = np.inf
    for wrong in (bad, bad[:1], bad[:0], "text"):
        with pytest.raises((ValueError, TypeError)):
            model.fit(wrong, *args[1:], **kwargs)
        assert is_as_before(model, before)


REFUSED = {
    "kie": {"same": [[0, 1]]},
    "kie-given": {"given": np.full(26, None)},
    "kie-hints": {"same": [[0, 99]]},
    "joint": {"y": np.zeros((3, 1))},
    "cca": {"y": np.full(26, np.inf)},
    "two-way": {"embedding": np.zeros((3, 2))},
    "relational": {"relations": {"class": Relation.from_labels([0, 1, 0])}},
    "action-respecting": {"pairs": [[0, 1]], "distances": [1e9]},
    "action-respecting-acted": {"actions": ["left", "right"]},
    "equivalence": {"same": [[0, 1]], "different": [[0, 1]]},
    "multi-attribute": {"same": [[0, 1]]},
    "distance-measured": {"distances": [-1.0]},
}
"""Side information that is refused when the rows have been looked at already."""


@pytest.mark.parametrize("name", REFUSED)
def test_refused_side_information_leaves_the_model(name):
    case, model = CASES[name], CASES[name].fitted()
    before = dict(vars(model))
    with pytest.raises((ValueError, TypeError)):
        case.fit(model, NEW, **REFUSED[name])
    assert is_as_before(model, before)
    assert case.bytes(model, OLD) == answers(name)


@every
def test_an_error_at_the_last_attribute_leaves_the_model(name):
    model, _ = failing(CASES[name].fitted(), fresh(name)[2], NoMore)
    refuses(name, model, NoMore)


@every
def test_ctrl_c_at_any_attribute_leaves_the_model(name):
    most = sum(map(is_fitted_name, vars(fresh(name)[0])))
    model, _ = failing(CASES[name].fitted(), drawn(name, most), KeyboardInterrupt)
    refuses(name, model, KeyboardInterrupt)


@watched
def test_an_error_in_the_callback_leaves_the_model(name):
    case, calls = CASES[name], fresh(name)[1]
    for number in sorted({1, (calls + 1) // 2, calls}):
        refuses(name, case.watched(case.fitted(), at(number, NoMore)[0]), NoMore)


@watched
def test_ctrl_c_in_any_iteration_keeps_a_whole_new_model(name):
    case, (other, calls, _) = CASES[name], fresh(name)
    model = case.watched(case.fitted(), at(drawn(name, calls), KeyboardInterrupt)[0])
    with pytest.raises(KeyboardInterrupt):
        case.fit(model, NEW)
    assert vars(model).keys() == vars(other).keys()
    answer = case.ask(model, case.data(**NEW))
    assert all(np.isfinite(part).all() for part in (answer if isinstance(answer, list) else [answer]))


WALKED = {
    **{name: VARIANTS[name] for name in ("coordinated", "coordinated-parallel-smooth", "coordinated-automatic")},
    "cca": CHECKED["cca"],
    "cca-views": lambda: CoordinatedCCA(1, views=[[0, 1], slice(2, None)], n_charts=2),
    **{name: MIXTURES[name] for name in ("bernoulli-mixture", "ppca-mixture", "ppca-mixture-auto")},
    **{name: VARIANTS[name] for name in ("ppca", "ppca-standardized-3d")},
}
ROWS = blobs(60, d=4, seed=1)


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


def is_a_whole_fit(model, X):
    answers = (model.transform(X), model.score_samples(X), model.sample(3, random_state=0))
    return model.n_features_in_ == X.shape[1] and all(np.isfinite(part).all() for part in answers)


@pytest.mark.parametrize("make", WALKED.values(), ids=WALKED.keys())
def test_ctrl_c_in_any_walk_leaves_the_old_model_or_a_new_one(make, monkeypatch):
    fitted = make().set_params(max_iter=5).fit(blobs())
    counted = interrupt_walk(monkeypatch, -1)
    copy.deepcopy(fitted).fit(ROWS)
    walks = len(counted)
    old = 0
    for number in sorted({0, 1, walks // 2, walks - 1}):
        monkeypatch.undo()
        model = copy.deepcopy(fitted)
        before = dict(vars(model))
        interrupt_walk(monkeypatch, number)
        with pytest.raises(KeyboardInterrupt):
            model.fit(ROWS)
        old += is_as_before(model, before)
        assert is_as_before(model, before) or is_a_whole_fit(model, ROWS)
    assert old >= 1  # the survey of the rows has nothing to keep


@pytest.mark.parametrize("name", ["coordinated", "cca-views", "bernoulli-mixture"])
def test_ctrl_c_while_batches_are_read_leaves_the_old_model(name):
    model = WALKED[name]().set_params(max_iter=5).fit(blobs())
    before = dict(vars(model))

    def batches():
        yield ROWS[:30]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        model.fit_batches(batches)
    assert is_as_before(model, before)


def test_ctrl_c_while_charts_are_glued_leaves_the_old_model(monkeypatch):
    model = CoordinatedMixture(n_charts=2).fit(blobs())
    before = dict(vars(model))

    def interrupted(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr("sidelight.coordinated._coordination_fit.coordinated", interrupted)
    with pytest.raises(KeyboardInterrupt):
        model.fit(ROWS)
    assert is_as_before(model, before)


def test_ctrl_c_in_a_model_inside_leaves_the_old_one_outside():
    """The embedding inside keeps its best iterate, the maps around it are not made yet."""
    model = TwoWayEmbedding(KernelInformationEmbedding(max_iter=3)).fit(blobs(30))
    model.set_params(estimator=KernelInformationEmbedding(callback=at(4, KeyboardInterrupt)[0]))
    before = dict(vars(model))
    with pytest.raises(KeyboardInterrupt):
        model.fit(ROWS)
    assert is_as_before(model, before)
