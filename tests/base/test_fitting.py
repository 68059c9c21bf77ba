"""The protocol of Ctrl-C: a fit that it ends keeps a whole result or changes nothing, and raises one exception."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import sidelight
from sidelight.base.fitting import all_or_nothing, raise_if_interrupted

HOME = Path(sidelight.__file__).parent


class Model:
    """Fits by counting; is interrupted with a result, or without one."""

    @all_or_nothing
    def fit(self, number: int, *, interrupted: bool = False, kept: bool = True) -> Model:
        self.number_ = number
        raise_if_interrupted(interrupted, kept=kept)
        return self


class Outer:
    """Fits another model, and sets an attribute afterwards."""

    def __init__(self) -> None:
        self.inner = Model()

    @all_or_nothing
    def fit(self, number: int, **how: bool) -> Outer:
        self.begun_ = True
        self.inner.fit(number, **how)
        self.number_ = number
        return self


def interrupted(model, kept):
    with pytest.raises(KeyboardInterrupt) as seen:
        model.fit(2, interrupted=True, kept=kept)
    assert seen.type is KeyboardInterrupt
    return model


def test_without_ctrl_c_nothing_is_raised():
    assert Model().fit(1).number_ == 1


def test_an_interrupted_fit_with_a_result_keeps_it():
    assert interrupted(Model().fit(1), kept=True).number_ == 2


def test_an_interrupted_fit_without_a_result_changes_nothing():
    assert interrupted(Model().fit(1), kept=False).number_ == 1
    assert vars(interrupted(Model(), kept=False)) == {}


@pytest.mark.parametrize("kept", [True, False])
def test_an_estimator_outside_has_kept_nothing_whatever_the_one_inside_has(kept):
    model = interrupted(Outer().fit(1), kept=kept)
    assert model.number_ == 1
    assert model.inner.number_ == (2 if kept else 1)
    assert "begun_" not in vars(interrupted(Outer(), kept=kept))


def test_no_other_code_raises_ctrl_c():
    raising = re.compile(r"raise\s+\w*(KeyboardInterrupt|Interrupted)\w*")
    found = [str(path.relative_to(HOME)) for path in HOME.rglob("*.py") if raising.search(path.read_text("utf-8"))]
    assert found == [str(Path("base", "fitting.py"))]
