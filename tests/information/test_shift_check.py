"""A fit says so where the effect of ``given`` is more than a shift."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from sidelight import KernelInformationEmbedding, load, save
from sidelight.base.warnings import DesignWarning
from sidelight.datasets import load_digits
from sidelight.report._understood import understood

X = load_digits().X[:240] / 16.0
CAMERA = np.where(np.random.default_rng(0).random(len(X)) < 0.4, "new", "old")


def fitted(rows, given=CAMERA):
    return KernelInformationEmbedding(random_state=0, max_iter=5, n_jobs=1).fit(rows, given=given)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_an_inverted_camera_is_said_with_a_way_out(tmp_path):
    inverted = np.where((CAMERA == "new")[:, None], 1.0 - X, X)
    with pytest.warns(DesignWarning, match=r"given = 'new' differs from given = 'old' by more than a shift.*same="):
        model = fitted(inverted)
    assert model.no_shift_[0].startswith("given = 'new' differs from given = 'old'")
    assert "inverted about their mean" in understood(model)
    save(model, tmp_path / "model.sidelight")
    assert load(tmp_path / "model.sidelight").no_shift_ == model.no_shift_


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_nothing_is_said_of_a_brighter_camera():
    with warnings.catch_warnings():
        warnings.simplefilter("error", DesignWarning)
        assert fitted(np.where((CAMERA == "new")[:, None], X + 0.3, X)).no_shift_ == []
