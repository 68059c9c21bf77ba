from __future__ import annotations

import builtins

import numpy as np
import pytest

import sidelight.base.cost as cost_module
from sidelight.base.cost import Cost, available_memory, refuse_if_too_large
from sidelight.maps.frames import Frame


@pytest.mark.parametrize("scale", [1e-150, 1e-3, 1.0, 1e150])
@pytest.mark.parametrize("offset", [0.0, 5.0])
def test_inside_the_frame_data_has_unit_size_whatever_its_units(scale, offset):
    X = scale * (offset + np.random.default_rng(0).normal(size=(50, 4)))
    frame = Frame.of(X)
    inside = frame.inside(X)
    assert np.abs(inside).max() == pytest.approx(1.0, rel=1e-9)
    np.testing.assert_allclose(inside.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(frame.outside(inside), X, rtol=1e-9, atol=1e-12 * scale)
    np.testing.assert_array_equal(frame.points(X), inside)


@pytest.mark.parametrize("value", [0.0, 0.3, -1e150])
def test_constant_data_stays_finite(value):
    X = np.full((10, 3), value)
    frame = Frame.of(X)
    assert np.isfinite(frame.inside(X)).all()
    np.testing.assert_allclose(frame.outside(frame.inside(X)), X)


def test_rows_are_taken_inside_one_by_one_as_in_company():
    """Bytes may be compared: numbers are moved and scaled one by one."""
    X = np.random.default_rng(1).normal(size=(20, 3)).astype(np.float32)
    frame = Frame.of(X)
    alone = np.concatenate([frame.inside(X[i : i + 1]) for i in range(20)])
    assert alone.tobytes() == frame.inside(X).tobytes()
    assert alone.dtype == np.float64


@pytest.mark.parametrize("scale", [1e-150, 1.0, 1e150])
def test_cosine_points_have_unit_length_and_distances_that_tell_the_angle(scale):
    X = scale * np.random.default_rng(2).normal(size=(20, 3))
    P = Frame.of(X, "cosine").points(X)
    np.testing.assert_allclose(np.linalg.norm(P, axis=1), 1)
    cosine = (X[0] / scale) @ (X[1] / scale) / np.linalg.norm(X[0] / scale) / np.linalg.norm(X[1] / scale)
    assert ((P[0] - P[1]) ** 2).sum() == pytest.approx(2 - 2 * cosine)


def test_a_row_of_zeros_has_a_finite_cosine_point():
    X = np.array([[0.0, 0.0], [3.0, 4.0]])
    assert Frame.of(X, "cosine").points(X).tolist() == [[0.0, 0.0], [0.6, 0.8]]


def test_precomputed_distances_are_scaled_but_not_moved():
    D = np.array([[0.0, 4.0], [4.0, 0.0]])
    frame = Frame.of(D, "precomputed")
    assert frame.points(D).tolist() == [[0.0, 1.0], [1.0, 0.0]]
    assert Frame.of(np.zeros((2, 2)), "precomputed").points(np.zeros((2, 2))).tolist() == [[0.0, 0.0], [0.0, 0.0]]


@pytest.mark.parametrize(
    ("cost", "words"),
    [
        (Cost(3 * 2**20, 1.25), "about 3 MiB and 1.2 s"),
        (Cost(3 * 2**30, 600.0), "about 3.0 GiB and 10 min"),
    ],
)
def test_a_cost_is_said_in_words(cost, words):
    assert str(cost) == words


def test_what_fits_passes_and_what_does_not_is_refused_with_a_way_out(monkeypatch):
    monkeypatch.setattr(cost_module, "available_memory", lambda: 2**30)
    refuse_if_too_large("Model", Cost(2**30, 1.0), 10)
    with pytest.raises(
        MemoryError, match=r"Model: X=7 rows needs about 2\.0 GiB.* 1\.0 GiB are free\. Fit on a random"
    ):
        refuse_if_too_large("Model", Cost(2**31, 1.0), 7)


def test_memory_is_known_or_else_guessed(monkeypatch):
    assert available_memory() > 2**20

    def nothing(*args, **kwargs):
        raise OSError

    monkeypatch.setattr(builtins, "open", nothing)
    assert available_memory() > 2**20
    monkeypatch.setattr(cost_module.os, "sysconf", nothing)
    assert available_memory() == 1 << 62
