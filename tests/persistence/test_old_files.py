"""Files that version 0.1 wrote before backward maps interpolated (commit 9ebc551) load, and answer as they did then."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from registry import blobs

import sidelight

FILES = Path(__file__).parent / "files"
NAMES = sorted(path.stem for path in FILES.glob("*.sidelight"))


def test_there_are_files():
    assert len(NAMES) == 11


@pytest.mark.parametrize("name", NAMES)
def test_a_file_of_an_earlier_version_gives_the_same_places(name):
    if name == "autoencoder":
        pytest.importorskip("torch", reason="needs torch")
    X, expected = blobs(40), np.load(FILES / "places.npz")[name]
    model = sidelight.load(FILES / f"{name}.sidelight")
    scale = np.abs(expected).max()
    np.testing.assert_allclose(model.transform(X), expected, rtol=0, atol=1e-9 * scale)  # of another processor
    if hasattr(model, "inverse_transform"):
        assert np.isfinite(model.inverse_transform(expected)).all()


def test_parameters_that_became_options_are_translated_without_a_warning():
    """Warnings are errors here; the files hold ``regularization_start``, ``data_kernel`` and others as parameters."""
    model = sidelight.load(FILES / "given.sidelight")
    assert model.get_params().keys() == sidelight.KernelInformationEmbedding().get_params().keys()
    assert (model.kernel, model.regularization, model.conditioning) == ("gaussian", 0.1, "balanced")
    assert model.tol == 1e-6


@pytest.mark.parametrize("name", ["kie-levels", "given", "two-way"])
def test_a_file_of_an_earlier_version_can_be_saved_again(name, tmp_path):
    model = sidelight.load(FILES / f"{name}.sidelight")
    sidelight.save(model, tmp_path / "again")
    np.testing.assert_array_equal(sidelight.load(tmp_path / "again").transform(blobs(40)), model.transform(blobs(40)))


def test_a_parameter_under_its_former_name_is_read_and_written_under_its_present_one(tmp_path):
    model = sidelight.load(FILES / "hybrid.sidelight")
    assert rb"\"distance\"" in (FILES / "hybrid.sidelight").read_bytes()
    assert model.get_params()["metric"] == "geodesic"
    sidelight.save(model, tmp_path / "again")
    assert sidelight.load(tmp_path / "again").get_params() == model.get_params()
