"""Every parameter of every estimator, and every option of one, changes what is fitted, or has a reason why it does not.

A parameter that is neither in ``parameter_cases.CASES`` nor in ``REASONS`` fails: whoever adds one says what it does.
"""

from __future__ import annotations

import dataclasses
import inspect

import numpy as np
import pytest
from optional_torch import gated
from parameter_cases import CASES, FITS, TABLE, WALK, WIDE, To, X, to
from registry import blobs, public_estimators
from sklearn.base import BaseEstimator

import sidelight
from sidelight.base.alias import option_kinds

REASONS = {
    "n_jobs": "threads: the result does not depend on them (test_contracts.py)",
    "verbose": "a progress bar (test_progress.py)",
    "callback": "is told of the fit, and ends it (test_progress.py)",
    "device": "where it is computed",
    "checkpoint": "a file to go on from (gated/test_checkpoints.py)",
}
DISTANCES = {
    "TangentDistance": (
        {"transformation": "shift"},
        {
            "transformation": to("rotate", image_shape=(4, 4)),
            "image_shape": (4, 4),
            "step": 2.0,
            "size": to(5, transformation="local"),
            "smoothing": to(2.0, image_shape=(4, 4)),
            "paths": True,
            "parameters": to([-1, 1], paths=True),
            "n_neighbors": to(3, paths=True),
        },
    ),
    "ReconstructionDistance": (
        {},
        {
            "transformation": "local",
            "image_shape": (4, 4),
            "parameters": [-2, 2],
            "n_neighbors": 3,
            "size": to(5, transformation="local"),
        },
    ),
}
"""Distance objects: their parameters without others, and the setting of each."""
_FITTED = {}


def every_class():
    found = [getattr(gated, name) for name in gated.__all__]
    return [*public_estimators(), *(one for one in found if inspect.isclass(one) and issubclass(one, BaseEstimator))]


CLASSES = {kind.__name__: kind for kind in every_class()}
TRIED = [(name, parameter) for name, case in CASES.items() for parameter in case.settings]


def answers(model):
    """What a fitted model says: its map or its parameters, its history, and what it makes of rows."""
    found = {"n_iter": getattr(model, "n_iter_", 0)}
    if hasattr(model, "blocks_"):
        return {"transform": model.transform(TABLE)}
    if hasattr(model, "held_out_"):
        return {
            "draw": model.draws(TABLE.assign(size=TABLE["size"].where(np.arange(len(TABLE)) % 3 > 0)), 1)[0]["size"]
        }
    found["history"] = [record["objective"] for record in getattr(model, "history_", [])]
    if hasattr(model, "parameters_"):
        return found | model.parameters_
    rows = {WALK.shape[1]: WALK, WIDE.shape[1]: WIDE}.get(model.n_features_in_, X)
    rows = np.abs(rows) if hasattr(model, "shares_") else rows  # of counts
    if hasattr(model, "refinements") or hasattr(model, "residuals"):  # of rows with gaps
        rows = np.where(np.arange(rows.shape[1]) == 1, np.nan, rows)
    for name in ("embedding_", "weights_", "means_"):
        if hasattr(model, name):
            found[name] = getattr(model, name)
    for name in ("transform", "predict", "impute", "score_samples", "denoise"):
        if hasattr(model, name):
            found[name] = getattr(model, name)(rows)
    if hasattr(model, "inverse_transform"):
        found["inverse_transform"] = model.inverse_transform(found["transform"])
    if hasattr(model, "sample"):
        found["sample"] = model.sample(3)
    return found


def told(name, on, parameters):
    """The answers of a model of the class ``name`` with these parameters, fitted ``on`` some data, each once."""
    key = (name, on, repr(parameters))
    if key not in _FITTED:
        _FITTED[key] = answers(FITS[on](CLASSES[name](**parameters)))
    return _FITTED[key]


def same(a, b):
    if a.keys() != b.keys():
        return False
    pairs = [(np.asarray(a[key], dtype=np.float64), np.asarray(b[key], dtype=np.float64)) for key in a]
    return all(
        one.shape == other.shape and np.allclose(one, other, rtol=1e-9, atol=1e-12, equal_nan=True)
        for one, other in pairs
    )


def with_setting(name, parameters, parameter, value):
    """The parameters with one more, which may be an option of another (``kernel.storage``).

    A value with options keeps those that are not set, also where its parameter is set to a name or a number.
    """
    place, _, option = parameter.partition(".")
    kind = option_kinds(CLASSES[name]).get(place)
    if kind is not None:
        before = kind.of(parameters.get(place, inspect.signature(CLASSES[name]).parameters[place].default))
        value = dataclasses.replace(before, **{option or dataclasses.fields(kind)[0].name: value})
    return parameters | {place: value}


def options_of(kind):
    """Dotted names of the options of a class's parameters."""
    found = option_kinds(kind).items()
    return {f"{parameter}.{field.name}" for parameter, of in found for field in dataclasses.fields(of)[1:]}


def setting_of(name, parameter):
    found = CASES[name].settings[parameter]
    return found if isinstance(found, To) else To(found)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(("name", "parameter"), TRIED, ids=[" ".join(pair) for pair in TRIED])
def test_a_parameter_changes_what_is_fitted(name, parameter):
    case, setting = CASES[name], setting_of(name, parameter)
    on, base = setting.on or case.on, case.base
    assert parameter not in setting.beside
    for other, value in setting.beside.items():
        base = with_setting(name, base, other, value)
    changed = told(name, on, with_setting(name, base, parameter, setting.value))
    if setting.refused:
        with pytest.raises(ValueError, match=rf"^{name}: "):
            told(name, on, base)
    else:
        assert not same(told(name, on, base), changed)


@pytest.mark.parametrize("name", CLASSES)
def test_every_parameter_is_tried_or_has_a_reason(name):
    known = {*inspect.signature(CLASSES[name]).parameters, *options_of(CLASSES[name])}
    tried = set(CASES[name].settings)
    assert tried <= known
    assert not tried & set(REASONS), "a parameter with a reason is not tried"
    missing = known - tried - set(REASONS)
    assert not missing, f"say in CASES[{name!r}] what {sorted(missing)} changes, or in REASONS why it changes nothing"


@pytest.mark.parametrize("name", CLASSES)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_same_fit_twice_says_the_same(name):
    """What the comparison rests on."""
    case = CASES[name]
    assert same(told(name, case.on, case.base), answers(FITS[case.on](CLASSES[name](**case.base))))


@pytest.mark.parametrize("name", DISTANCES)
def test_every_parameter_of_a_distance_changes_it(name):
    kind, (base, settings), rows = getattr(sidelight, name), DISTANCES[name], blobs(24, 16)
    assert set(settings) == set(inspect.signature(kind).parameters) - set(REASONS)
    for parameter, found in settings.items():
        setting = found if isinstance(found, To) else To(found)
        without = base | setting.beside
        first, second = (kind(**options)(rows) for options in (without, without | {parameter: setting.value}))
        assert not np.allclose(first, second, rtol=1e-9, atol=1e-12), parameter
