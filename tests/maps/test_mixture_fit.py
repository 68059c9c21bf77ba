"""Mixtures as values: what PPCAMixture sets is what ``fit_mixture`` returns."""

from __future__ import annotations

import numpy as np
import pytest
from registry import blobs

from sidelight import PPCAMixture
from sidelight.base.result import Status
from sidelight.maps.mixture_fit import EMSettings, fit_mixture
from sidelight.maps.plane_mixture import PlaneKind, refit_planes
from sidelight.rows import ArrayRows


def settings(**options):
    return EMSettings(**{"owner": "PPCAMixture", "n_init": 4, "max_iter": 500, "tol": 1e-4, **options})


def test_the_value_has_the_charts_and_steps_of_the_estimator():
    X, kind = blobs(), PlaneKind(2)
    found, model = fit_mixture(ArrayRows(X), kind, settings(), 3), PPCAMixture(3, 2).fit(X)
    charts = kind.charts(found.mixture, found.summary.frame)
    np.testing.assert_allclose(charts.log_density(X), model.score_samples(X), rtol=1e-9)
    assert found.status is Status.CONVERGED
    assert not found.interrupted
    assert found.criteria is None
    assert len(found.history) == model.n_iter_


def test_the_number_of_charts_is_the_one_with_the_lowest_criterion():
    found = fit_mixture(ArrayRows(blobs()), PlaneKind(1), settings(), "auto")
    assert str(len(found.mixture.weights)) == min(found.criteria, key=found.criteria.get)


def test_messages_name_the_owner():
    with pytest.raises(ValueError, match=r"^Mine: n_charts=91 is more than the 90 rows of X"):
        fit_mixture(ArrayRows(blobs()), PlaneKind(1), settings(owner="Mine"), 91)


def test_a_fit_that_starts_from_charts_of_a_sample_ends_where_one_of_all_rows_does():
    X, kind = blobs(600), PlaneKind(2)
    first = fit_mixture(ArrayRows(X[::2]), kind, settings(), 3)
    charts = kind.charts(first.mixture, first.summary.frame)
    found = refit_planes(ArrayRows(X), charts, kind, settings(tol=1e-9), seed=0)
    whole = fit_mixture(ArrayRows(X), kind, settings(tol=1e-9), 3)
    ours, theirs = (kind.charts(one.mixture, one.summary.frame).log_density(X).mean() for one in (found, whole))
    assert ours == pytest.approx(theirs, abs=1e-3)
