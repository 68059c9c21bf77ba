"""Mixtures as values: what PPCAMixture sets is what ``fit_mixture`` returns, and streams begin and go on from it."""

from __future__ import annotations

import numpy as np
import pytest
from registry import blobs

from sidelight import PPCAMixture
from sidelight.base.result import Status
from sidelight.maps.mixture_fit import EMSettings, advance_stream, begin_stream, fit_mixture, resume_stream
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


def test_a_stream_is_not_changed_by_going_on():
    X, kind = blobs(), PlaneKind(1)
    stream = begin_stream(X, kind, settings(), 2)
    first = advance_stream(stream, kind, X)
    assert (stream.n_seen, stream.sums) == (0, None)
    assert first.n_seen == len(X)
    again = advance_stream(stream, kind, X)
    np.testing.assert_array_equal(again.mixture.weights, first.mixture.weights)


def test_a_stream_that_goes_on_from_a_fit_stays_there_on_its_rows():
    X, kind = blobs(), PlaneKind(2)
    found = fit_mixture(ArrayRows(X), kind, settings(tol=1e-10), 3)
    stream = resume_stream(found, kind)
    later = advance_stream(stream, kind, X)
    assert (stream.n_seen, later.n_seen) == (90, 180)
    np.testing.assert_allclose(later.mixture.weights, found.mixture.weights, atol=1e-3)
