"""Outputs are the argument ``y`` of every method, as in scikit-learn; ``Y=`` is understood, with a warning."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

from sidelight import gated
from sidelight.gated import GatedBoltzmannMachine

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(30, 4))
Y = np.roll(X, 1, axis=1)


def arguments():
    for kind in (getattr(gated, name) for name in gated.__all__):
        for name, method in inspect.getmembers(kind, callable):
            if not name.startswith("_"):
                yield from ((kind.__name__, name, argument) for argument in inspect.signature(method).parameters)


def test_only_a_pairwise_function_has_an_argument_called_capital_y():
    found = list(arguments())
    assert [place for place in found if place[2] == "Y"] == [("GatedBoltzmannMachine", "distance", "Y")]
    assert sum(argument == "y" for _, _, argument in found) > 20


def test_outputs_under_their_former_name_are_understood_with_a_warning():
    model = GatedBoltzmannMachine(2, max_iter=3, random_state=0)
    with pytest.warns(
        FutureWarning, match=r"GatedBoltzmannMachine\.fit: Y=array of shape \(30, 4\) is the old name of y"
    ):
        model.fit(X, Y=Y)
    with pytest.warns(FutureWarning, match=r"infer: Y=.* Write y=\.\.\.; the old keyword will go"):
        old = model.infer(X, Y=Y)
    np.testing.assert_array_equal(old, model.infer(X, y=Y))
    with pytest.warns(FutureWarning, match=r"GatedBoltzmannMachine\.score: Y="):
        assert model.score(X, Y=Y) == model.score(X, Y)
