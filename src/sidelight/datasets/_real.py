"""Loaders of the real sets, which are found through ``SIDELIGHT_DATA``. Values are float64, unscaled unless said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from importlib import resources

import numpy as np
from numpy.typing import NDArray

from sidelight.base.messages import error_message

from ._dataset import Dataset
from ._sources import load

__all__ = [
    "load_cmu_people",
    "load_cmu_styles",
    "load_cmu_walk",
    "load_cmu_walk_jog",
    "load_coil20",
    "load_frey",
    "load_harmony_cell_lines",
    "load_isomap_faces",
    "load_mfeat",
    "load_mnist",
    "load_oil_flow",
    "load_olivetti",
    "load_pose_silhouette",
    "load_robot_wifi",
    "load_swiss_roll",
    "load_umist",
    "load_usps",
    "load_yaleb",
]


def load_oil_flow(split: str = "train") -> Dataset:
    """Load the oil flow data, 1000 x 12 (``split``: train, valid or test); factors label, fractions.

    See Also
    --------
    data_home : The folder that is read.
    """
    _one_of("load_oil_flow", "split", split, ("train", "valid", "test"))
    return load("oil_flow", split)


def load_coil20(size: int = 32, objects: Sequence[int] | None = None) -> Dataset:
    """Load COIL-20, pictures of ``size`` 32 or 128; factors object_index, view, angle.

    ``objects`` picks objects by index (0 to 19; the cars are 2, 5 and 18).

    See Also
    --------
    data_home : The folder that is read.
    """
    _one_of("load_coil20", "size", size, (32, 128))
    data = load("coil20", str(size))
    data = replace(data, factors={**data.factors, "angle": 5.0 * data.factors["view"]})
    if objects is None:
        return data
    for wanted in objects:
        _one_of("load_coil20", "objects", wanted, tuple(range(20)))
    return data.take(np.isin(data.factors["object_index"], list(objects)))


def load_olivetti() -> Dataset:
    """Load the Olivetti faces, 400 pictures of 64x64; factors person, glasses, beard (masks).

    ``glasses`` and ``beard`` come with the package, not with the set: they were made by looking at every picture (119
    wear glasses: 8 people always, 7 sometimes, 25 never; 7 people have a beard, in all their 70 pictures) and go by row
    number, so the file must hold the pictures in the usual order, ten of the first person, ten of the second and so on.

    See Also
    --------
    data_home : The folder that is read.
    """
    data = load("olivetti")
    person = data.factors["person"]
    if not np.array_equal(person, np.repeat(np.arange(40), 10)):
        remedy = "Keep the usual order, person 0 to 39: the labels glasses and beard go by row number"
        raise ValueError(
            error_message("load_olivetti", "labels", person.shape, "are not 40 people x 10 in order", remedy)
        )
    masks = {name: np.isin(np.arange(400), _rows(f"olivetti_{name}.txt")) for name in ("glasses", "beard")}
    return replace(data, factors={**data.factors, **masks})


def load_usps() -> Dataset:
    """Load the USPS digits, 9298 pictures of 16x16 in [-1, 1]; factors label, is_test (a mask).

    See Also
    --------
    data_home : The folder that is read.
    """
    data = load("usps")
    return replace(data, factors={**data.factors, "is_test": data.factors["is_test"] != 0})


def load_isomap_faces() -> Dataset:
    """Load the Isomap faces, 698 pictures of 32x32; factor light_pan_tilt (standardised).

    See Also
    --------
    data_home : The folder that is read.
    """
    return load("isomap_faces")


def load_frey() -> Dataset:
    """Load the Frey faces, 1965 pictures of 28x20 in time order; factor time (frame number).

    See Also
    --------
    data_home : The folder that is read.
    """
    return load("frey")


def load_umist() -> Dataset:
    """Load the UMIST faces, 575 pictures of 112x92; factors person, frame (place in the sweep).

    See Also
    --------
    data_home : The folder that is read.
    """
    return load("umist")


def load_cmu_walk() -> Dataset:
    """Load one walk, 358 frames x 59 channels in time order at 120 Hz; factor time (frame number).

    See Also
    --------
    data_home : The folder that is read.
    """
    return load("cmu_walk")


def load_cmu_walk_jog(split: str = "train") -> Dataset:
    """Load walking and jogging of subject 35 (``split``: train or test), 59 channels; factor trial.

    See Also
    --------
    data_home : The folder that is read.
    """
    _one_of("load_cmu_walk_jog", "split", split, ("train", "test"))
    return load("cmu_walk_jog", _suffix(split))


def load_cmu_people() -> Dataset:
    """Load walks and runs of 28 people, 15048 x 96; factors subject, trial.

    See Also
    --------
    data_home : The folder that is read.
    """
    return load("cmu_people")


def load_cmu_styles() -> Dataset:
    """Load ten styles of walking, 4645 x 96; factors subject, trial.

    See Also
    --------
    data_home : The folder that is read.
    """
    return load("cmu_styles")


def load_mnist(split: str = "train") -> Dataset:
    """Load the MNIST digits (``split``: train, 60000 rows, or test, 10000); factor label.

    See Also
    --------
    data_home : The folder that is read.
    """
    _one_of("load_mnist", "split", split, ("train", "test"))
    return load("mnist", split)


def load_harmony_cell_lines() -> Dataset:
    """Load two cell lines in three batches, 2370 x 20; factors batch, cell_type.

    See Also
    --------
    data_home : The folder that is read.
    """
    return load("harmony_cell_lines")


def load_yaleb() -> Dataset:
    """Load the Extended Yale faces, 2414 pictures of 32x32; factors person, light_azimuth_elevation.

    See Also
    --------
    data_home : The folder that is read.
    """
    return load("yaleb")


def load_mfeat(view: str = "pix") -> Dataset:
    """Load one feature set of the Multiple Features digits, 2000 rows; factor label.

    ``view``: fac, fou, kar, mor, pix or zer. The rows of all six are the same digits in the same order.

    See Also
    --------
    data_home : The folder that is read.
    """
    _one_of("load_mfeat", "view", view, ("fac", "fou", "kar", "mor", "pix", "zer"))
    data = load("mfeat", view)
    return replace(data, image_shape=(16, 15)) if view == "pix" else data


def load_pose_silhouette(split: str = "train") -> Dataset:
    """Load silhouettes, 1927 x 100 (``split``: train or test); factor pose (63 angles): two views of a body.

    See Also
    --------
    data_home : The folder that is read.
    """
    _one_of("load_pose_silhouette", "split", split, ("train", "test"))
    return load("pose_silhouette", _suffix(split))


def load_robot_wifi(path: str = "twoloops") -> Dataset:
    """Load signal strengths along a path (``path``: twoloops or uwfloor); factors position, time.

    See Also
    --------
    data_home : The folder that is read.
    """
    _one_of("load_robot_wifi", "path", path, ("twoloops", "uwfloor"))
    return load("robot_wifi", path)


def load_swiss_roll() -> Dataset:
    """Load the Isomap paper's swiss roll, 20000 x 3; factor latent (n, 2).

    See Also
    --------
    data_home : The folder that is read.
    """
    return load("swiss_roll")


def _one_of(owner: str, argument: str, value: object, allowed: tuple[object, ...]) -> None:
    if value not in allowed:
        known = ", ".join(map(repr, allowed))
        raise ValueError(error_message(owner, argument, value, "is not known", f"Choose from {known}"))


def _rows(file: str) -> NDArray[np.int64]:
    """Read the row numbers of a label shipped with the package; ``#`` starts a comment."""
    lines = resources.files("sidelight.datasets").joinpath(file).read_text(encoding="utf-8").splitlines()
    return np.array(" ".join(line.partition("#")[0] for line in lines).split(), dtype=np.int64)


def _suffix(split: str) -> str:
    return "" if split == "train" else "_test"
