"""``random_state=None`` means the same in every estimator: a fixed seed (docs/decisions/0017-random-state.md)."""

from __future__ import annotations

import copy
import functools
import inspect

import numpy as np
import pytest
from optional_torch import TORCH_THERE, gated, needs_torch
from refit_cases import CASES, NEW, params_of, pictures, rows
from registry import public_estimators
from sklearn.base import BaseEstimator

from sidelight import datasets, embed_rows
from sidelight.evaluate import trustworthiness

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore:.*(relations|charts|places|alpha)=:UserWarning"),
]
SENTENCE = "None is a fixed seed: the same call gives the same result."
RANDOM = {
    name: case
    for name, case in CASES.items()
    if {"random_state", "model__random_state"} & set(case.make().get_params())
}
SAMPLED = [name for name, case in RANDOM.items() if case.data is rows and hasattr(case.make(), "sample")]


def without_a_seed(case):
    """A model that was given none, and that begins at random where it can."""
    model = case.new()
    none = {"random_state": None, "model__random_state": None}
    if isinstance(model.get_params().get("init"), str):
        none["init"] = "random"
    return model.set_params(**{name: value for name, value in none.items() if name in model.get_params()})


def with_numbers_of_the_world(seed):
    """What others draw from: no fit may."""
    np.random.seed(seed)  # noqa: NPY002
    if TORCH_THERE:
        import torch

        torch.manual_seed(seed)


@functools.cache
def fitted(name, seed=1):
    """A model without a seed, fitted while others draw with one; not to be changed."""
    with_numbers_of_the_world(seed)
    return RANDOM[name].fit(without_a_seed(RANDOM[name]), NEW)


@pytest.mark.parametrize("name", params_of(RANDOM))
def test_fits_without_a_seed_are_the_same(name):
    case = RANDOM[name]
    assert case.bytes(fitted(name), NEW) == case.bytes(fitted(name, seed=2), NEW)


@pytest.mark.parametrize("name", params_of(SAMPLED))
def test_samples_without_a_seed_are_those_of_the_model(name):
    model = copy.copy(fitted(name))
    np.testing.assert_array_equal(model.sample(3), model.sample(3))
    seeded = model.set_params(random_state=5)
    np.testing.assert_array_equal(seeded.sample(3), seeded.sample(3, random_state=5))
    assert (seeded.sample(3) != seeded.sample(3, random_state=6)).any()


@needs_torch
def test_sampled_reconstructions_without_a_seed_are_those_of_the_model():
    (X, Y), _ = pictures(**NEW)
    field = gated.GatedField(gated.GatedBoltzmannMachine(2, max_iter=2, batch_size=4), 3).fit(X, Y)
    one, two = (field.reconstruct(X, Y, n_steps=2, sampled=True) for _ in range(2))
    np.testing.assert_array_equal(one, two)
    assert (one != field.reconstruct(X, Y, n_steps=2, sampled=True, random_state=6)).any()


def test_functions_without_a_seed_do_the_same():
    X = datasets.s_curve(400, random_state=0).X
    one, two = (trustworthiness(X, X[:, :2], sample=100, random_state=None) for _ in range(2))
    assert one == two
    one, two = (embed_rows(X, sample=100, random_state=None) for _ in range(2))
    np.testing.assert_array_equal(one, two)


def estimators():
    networks = [getattr(gated, name) for name in gated.__all__]
    kinds = [kind for kind in [*public_estimators(), *networks] if issubclass(kind, BaseEstimator)]
    return [kind for kind in kinds if "random_state" in inspect.signature(kind).parameters]


@pytest.mark.parametrize("kind", estimators(), ids=lambda kind: kind.__name__)
def test_every_docstring_says_so_in_the_same_words(kind):
    assert SENTENCE in " ".join(inspect.getdoc(kind).split())
    assert inspect.signature(kind).parameters["random_state"].default is None
