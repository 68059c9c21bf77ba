"""Streams as values: a step returns a new stream, one step is a formula, and a stream goes on from a fit."""

from __future__ import annotations

import numpy as np
import pytest
from registry import blobs

from sidelight.maps.mixture_fit import EMSettings, fit_mixture
from sidelight.maps.mixture_stream import advance_stream, begin_stream, resume_stream, stepwise_em
from sidelight.maps.plane_mixture import PlaneKind
from sidelight.rows import ArrayRows


def settings(**options):
    return EMSettings(**{"owner": "PPCAMixture", "n_init": 4, "max_iter": 500, "tol": 1e-4, **options})


def test_a_stream_is_not_changed_by_going_on():
    X, kind = blobs(), PlaneKind(1)
    stream = begin_stream(ArrayRows(X), kind, settings(), 2)
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


def test_the_first_batch_counts_whole_and_the_second_by_its_share():
    X, kind = blobs(), PlaneKind(1)
    stream = begin_stream(ArrayRows(X), kind, settings(), 2)
    inside = stream.frame.inside(X)
    mixture, sums = stepwise_em(stream.family, stream.mixture, None, inside, 0.3)
    np.testing.assert_allclose(sums["n"].sum(), 1.0)
    _, later = stepwise_em(stream.family, mixture, {name: 0.0 * value for name, value in sums.items()}, inside, 0.3)
    np.testing.assert_allclose(later["n"].sum(), 0.3)
    assert advance_stream(stream, kind, X).sums["n"] == pytest.approx(sums["n"])
