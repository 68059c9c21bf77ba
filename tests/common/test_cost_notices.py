"""Every estimator says before it begins that a fit will take minutes."""

from __future__ import annotations

import warnings

import pytest
from refit_cases import CASES, OLD

from sidelight.base import cost as cost_module
from sidelight.base.cost import Cost
from sidelight.base.fitting import is_fitted_name
from sidelight.base.warnings import CostWarning


@pytest.mark.parametrize("name", CASES)
def test_a_fit_of_minutes_says_so_before_it_begins(name, monkeypatch):
    case = CASES[name]
    model, (args, kwargs) = case.make(), case.data(**OLD)
    monkeypatch.setattr(cost_module, "_told", {})
    monkeypatch.setattr(type(model), "estimate_cost", lambda *_, **__: Cost(1, 600.0))
    with warnings.catch_warnings():
        warnings.simplefilter("error", CostWarning)  # so the fit ends where it says so
        with pytest.raises(CostWarning, match="will take about 10 minutes"):
            model.fit(*args, **kwargs)
    assert not [one for one in vars(model) if is_fitted_name(one)]
