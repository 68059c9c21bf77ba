"""What the seven estimators are made of: short lines of classes, one text for shared parameters, networks as values."""

from __future__ import annotations

import dataclasses
import inspect
import pickle
import re
from pathlib import Path

import numpy as np
import pytest

import sidelight
from sidelight import gated
from sidelight.gated import (
    Autoencoder,
    BiasedAutoencoder,
    GatedAutoencoder,
    GatedBoltzmannMachine,
    GatedField,
    Manifield,
    RestrictedBoltzmannMachine,
)
from sidelight.gated._settings import TrainingSettings

ESTIMATORS = [getattr(gated, name) for name in gated.__all__]
TRAINED = [kind for kind in ESTIMATORS if kind not in (GatedField, Manifield)]
SOURCE = Path(gated.__file__).parent

QUICK = {"max_iter": 4, "batch_size": 10, "random_state": 0}
X = np.random.default_rng(0).normal(size=(30, 4))
Y = np.roll(X, 1, axis=1)[:, :3]
WAVES = [np.sin(np.arange(20) / 3), np.cos(np.arange(25) / 3)]
PICTURES = np.random.default_rng(1).normal(size=(2, 9, 10))

# estimator, what it is fitted to, parameters of another network, what it is asked
FITTED = {
    "rbm": (
        lambda: RestrictedBoltzmannMachine(3, **QUICK),
        (X,),
        {"n_components": 5, "visible": "binary", "hidden": "gaussian"},
        lambda model: [model.transform(X), model.inverse_transform(model.transform(X)), model.sample(2)],
    ),
    "gbm": (
        lambda: GatedBoltzmannMachine(3, **QUICK),
        (X, Y),
        {"n_mapping": 5, "n_factors": 4, "visible": "binary", "mapping": "gaussian", "biases": ("y",), "premapping": 2},
        lambda model: [model.infer(X, Y), model.apply(X, model.infer(X, Y)), model.distance(X, Y), model.flow(X, Y)],
    ),
    "autoencoder": (
        lambda: Autoencoder(2, **QUICK),
        (X,),
        {"n_components": 3, "hidden": (5,), "activation": "relu", "loss": "cross-entropy", "tied": True},
        lambda model: [model.transform(X), model.inverse_transform(model.transform(X)), model.denoise(X)],
    ),
    "biased": (
        lambda: BiasedAutoencoder(2, **QUICK),
        (X, Y),
        {"n_components": None, "hidden": (5,), "predictor": (), "loss": "multinomial", "levels": 3},
        lambda model: [model.predict(X), model.guess(X), model.project(Y)],
    ),
    "gated": (
        lambda: GatedAutoencoder(2, predictor=(), **QUICK),
        (X, Y),
        {"n_mapping": 3, "n_factors": 2, "predictor": None, "premapping": 2, "biases": ("y",), "loss": "cross-entropy"},
        lambda model: [model.infer(X, Y), model.apply(X, model.infer(X, Y)), model.predict(X)],
    ),
    "manifield": (
        lambda: Manifield(BiasedAutoencoder(2, **QUICK), 5),
        (WAVES, WAVES),
        {"model": Autoencoder(3), "patch_size": 7, "structure": "grid", "residual": True},
        lambda model: model.predict(WAVES),
    ),
    "field": (
        lambda: GatedField(GatedBoltzmannMachine(2, **QUICK), 3, stride=2),
        (PICTURES, PICTURES[:, ::-1]),
        {"model": None, "patch_size": 5, "stride": 1},
        lambda model: [model.infer(PICTURES, PICTURES), model.reconstruct(PICTURES, PICTURES)],
    ),
}
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
every = pytest.mark.parametrize(("make", "data", "others", "ask"), FITTED.values(), ids=FITTED.keys())


def same(first, second):
    return all(np.array_equal(one, two) for one, two in zip(first, second, strict=True))


@every
def test_parameters_that_are_set_after_a_fit_do_not_change_its_answers(make, data, others, ask, tmp_path):
    model = make().fit(*data)
    before = ask(model)
    model.set_params(**others)
    assert same(ask(model), before)
    sidelight.save(model, tmp_path / "m")
    assert same(ask(sidelight.load(tmp_path / "m")), before)
    assert same(ask(pickle.loads(pickle.dumps(model))), before)


@every
def test_a_model_without_its_architecture_has_that_of_its_parameters(make, data, others, ask):
    """As models are that were saved or pickled before it was kept."""
    model = make().fit(*data)
    before = ask(model)
    for name in ("architecture_", "layout_"):
        vars(model).pop(name, None)
    assert same(ask(model), before)
    assert model.partial_fit(*data).n_iter_ > 0
    assert "architecture_" in vars(model)


@pytest.mark.parametrize("name", [name for name in FITTED if name not in ("manifield", "field")])
def test_another_network_cannot_continue_a_fit(name):
    make, data, others, ask = FITTED[name]
    model = make().fit(*data)
    before = ask(model)
    first = next(iter(others))
    model.set_params(**{first: others[first]})
    with pytest.raises(
        ValueError, match=rf"{first}={others[first]} is not that of the fit, which had .* Set it back, or fit"
    ):
        model.partial_fit(*data)
    assert same(ask(model), before)


def test_other_patches_cannot_continue_a_fit():
    make, data, _, _ = FITTED["manifield"]
    with pytest.raises(ValueError, match=r"patch_size=7 is not that of the fit, which had patch_size=5\. Set it back"):
        make().fit(*data).set_params(patch_size=7).partial_fit(*data)


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_an_estimator_has_two_classes_of_this_room_above_it_at_most(kind):
    assert len([part for part in kind.__mro__ if part.__module__.startswith("sidelight.gated")]) <= 3


@pytest.mark.parametrize("kind", TRAINED)
def test_shared_parameters_are_explained_with_the_defaults_of_the_class(kind):
    text, parameters = inspect.getdoc(kind), inspect.signature(kind).parameters
    section = text[text.index("Parameters\n---") : text.index("Attributes\n---")]
    entries = re.findall(r"^(\w+) : (.*)$", section, re.MULTILINE)
    assert [name for name, _ in entries] == list(parameters)
    shared = [field for field in dataclasses.fields(TrainingSettings) if field.name not in ("rule", "unset")]
    assert len(shared) == 14
    for field in shared:
        default = parameters[field.name].default
        shown = f'"{default}"' if isinstance(default, str) else repr(default)
        assert dict(entries)[field.name].endswith(f"default={shown}")
    assert max(map(len, text.splitlines())) <= 116
    assert not re.search(r"[<>]|\{training|\{In|\{that", section)


def test_shared_parameters_are_explained_once_in_the_source():
    text = "".join(path.read_text(encoding="utf-8") for path in SOURCE.glob("*.py"))
    assert text.count("returning True stops training") == 1
    assert text.count("Number of checks of held-out rows") == 1


@pytest.mark.parametrize("path", sorted(SOURCE.glob("*.py")), ids=lambda path: path.name)
def test_no_hook_that_only_raises_and_no_untyped_model(path):
    text = path.read_text(encoding="utf-8")
    assert "NotImplementedError" not in text
    assert not re.search(r"\b(self|model|owner): Any\b", text)
    assert not re.search(r"\b(getattr|hasattr)\(", text)
