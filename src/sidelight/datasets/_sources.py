"""The real sets: which file and arrays, and where each set comes from.

They are never shipped. ``SIDELIGHT_DATA`` names a folder with one sub-folder per set (``oil/oil_flow.npz``,
``coil20/coil20_32.npz``, ...); where the folder or a file is missing, the error says where the set comes from.
"""

from __future__ import annotations

import os
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidelight.base.messages import error_message

from ._dataset import Dataset

__all__ = ["SOURCES", "Source", "data_home", "load"]


@dataclass(frozen=True)
class Source:
    """Where a set lies, which arrays it has, and where it comes from.

    ``{choice}`` in a file or array name is filled in by the loader (a split, a size, a view).
    Pictures stored as (n, height, width) are flattened; ``image_shape`` is for those stored flat.
    """

    file: str
    origin: str
    description: str
    data: str = "data"
    factors: Mapping[str, str] = field(default_factory=dict)
    divisor: float = 1.0
    shift: float = 0.0
    drop_columns: int = 0
    image_shape: tuple[int, int] | None = None
    in_time_order: bool = False


_MOCAP = "the CMU Graphics Lab motion capture database (mocap.cs.cmu.edu)"
_ISOMAP = "the Isomap data sets of Tenenbaum, de Silva and Langford (2000)"
_LAWRENCE = "the DATASETS toolbox of N. Lawrence (github.com/lawrennd/datasets)"

SOURCES: Mapping[str, Source] = {
    "cmu_people": Source(
        "cmu_mocap/cmu_bvh_people_30hz.npz",
        _MOCAP,
        "Walking and running of 28 people: 96 joint channels at 30 Hz.",
        factors={"subject": "subject", "trial": "trial"},
    ),
    "cmu_styles": Source(
        "cmu_mocap/cmu_bvh_styles137_30hz.npz",
        _MOCAP,
        "One person walking in ten styles: 96 joint channels at 30 Hz.",
        factors={"subject": "subject", "trial": "trial"},
    ),
    "cmu_walk": Source(
        "cmu_mocap/cmu_amc_120hz.npz",
        _MOCAP,
        "A walk (subject 35, trial 01) in time order at 120 Hz: 59 joint channels without the root's position.",
        data="subject35_01",
        drop_columns=3,
        in_time_order=True,
    ),
    "cmu_walk_jog": Source(
        "cmu_mocap/cmu35_walkjog_30hz.npz",
        _MOCAP,
        "Walking and jogging of subject 35 at 30 Hz: 59 joint channels without the root's position.",
        data="data{choice}",
        factors={"trial": "trial{choice}"},
        drop_columns=3,
    ),
    "coil20": Source(
        "coil20/coil20_{choice}.npz",
        "the Columbia Object Image Library COIL-20 (www.cs.columbia.edu/CAVE/software/softlib/coil-20.php)",
        "Twenty objects on a turntable, 72 views each.",
        factors={"object_index": "labels", "view": "view"},
    ),
    "frey": Source(
        "frey/frey.npz", "the data page of S. Roweis (cs.nyu.edu/~roweis/data.html)", "A face.", in_time_order=True
    ),
    "harmony_cell_lines": Source(
        "scrna/harmony_cell_lines_pcs.npz",
        "the R package harmony (github.com/immunogenomics/harmony)",
        "Cells of two lines in three batches: 20 principal components.",
        factors={"batch": "batch", "cell_type": "cell_type"},
    ),
    "isomap_faces": Source(
        "isomap_faces/isomap_faces_32.npz",
        _ISOMAP,
        "A rendered face under changing pose and light.",
        factors={"light_pan_tilt": "light_pan_tilt_std"},
    ),
    "mfeat": Source(
        "mfeat/mfeat.npz",
        "the UCI repository's Multiple Features (archive.ics.uci.edu/dataset/72)",
        "2000 handwritten digits, one of six aligned feature sets.",
        data="{choice}",
        factors={"label": "labels"},
    ),
    "mnist": Source(
        "mnist/mnist_{choice}.npz",
        "the MNIST database (yann.lecun.com/exdb/mnist)",
        "Handwritten digits, 28x28 pixels.",
        factors={"label": "labels"},
    ),
    "oil_flow": Source(
        "oil/oil_flow.npz",
        "the three-phase oil flow data of Bishop and James (1993), 3PhData of Aston University",
        "Twelve gamma-ray measurements of a pipe with one of three flow regimes.",
        data="data_{choice}",
        factors={"label": "labels_{choice}", "fractions": "fractions_{choice}"},
    ),
    "olivetti": Source(
        "olivetti/olivetti.npz",
        "AT&T Laboratories Cambridge (also scikit-learn's fetch_olivetti_faces)",
        "Forty people, ten faces each.",
        factors={"person": "labels"},
    ),
    "pose_silhouette": Source(
        "pose_silhouette/ankur_pose_silhouette.npz",
        f"Agarwal and Triggs (2006), in {_LAWRENCE}",
        "Silhouette features of walking people; the factor is the body's pose, 63 angles.",
        data="silhouette{choice}",
        factors={"pose": "pose{choice}"},
    ),
    "robot_wifi": Source(
        "robot_wifi/robot_wifi.npz",
        f"Ferris, Fox and Lawrence (2007), in {_LAWRENCE}",
        "Signal strengths along a path; NaN where an access point was not heard.",
        data="{choice}_rssi",
        factors={"position": "{choice}_xy", "time": "{choice}_time"},
    ),
    "swiss_roll": Source(
        "swiss_roll/isomap_swiss_roll.npz",
        _ISOMAP,
        "20000 points of a swiss roll with their true coordinates.",
        factors={"latent": "latent"},
    ),
    "umist": Source(
        "umist/umist_112x92.npz",
        "the Sheffield (previously UMIST) face database",
        "Twenty people turning from profile to front.",
        factors={"person": "labels", "frame": "frame"},
    ),
    "usps": Source(
        "usps/usps.npz",
        "the zip code data of The Elements of Statistical Learning (hastie.su.domains/ElemStatLearn/data.html)",
        "Handwritten digits, 16x16 pixels in [-1, 1].",
        factors={"label": "labels", "is_test": "is_test"},
        divisor=1000.0,
        shift=-1.0,
        image_shape=(16, 16),
    ),
    "yaleb": Source(
        "yaleb/yaleb_32.npz",
        "the Extended Yale Face Database B (Georghiades et al., 2001)",
        "38 people under 64 lights.",
        factors={"person": "labels", "light_azimuth_elevation": "light_azimuth_elevation"},
    ),
}


def data_home() -> Path | None:
    """Return the folder named by ``SIDELIGHT_DATA``, or None when the variable is not set.

    See Also
    --------
    load_mnist : One of the sets that are read from there.
    """
    home = os.environ.get("SIDELIGHT_DATA", "").strip()
    return Path(home) if home else None


def load(name: str, choice: str = "") -> Dataset:
    """Read one set of the table as a :class:`Dataset`."""
    source, owner = SOURCES[name], f"load_{name}"
    wanted = {key: array.format(choice=choice) for key, array in source.factors.items()}
    data = source.data.format(choice=choice)
    arrays = _read(_path(owner, source, source.file.format(choice=choice)), owner, [data, *wanted.values()])
    image_shape = arrays[data].shape[1:] if arrays[data].ndim == 3 else source.image_shape
    rows = arrays[data].reshape(len(arrays[data]), -1)[:, source.drop_columns :]
    factors = {key: _factor(arrays[array]) for key, array in wanted.items()}
    if source.in_time_order:
        factors["time"] = np.arange(len(rows))
    # Dividing by 1000 is correctly rounded, multiplying by 0.001 is not.
    X = rows.astype(np.float64) / source.divisor + source.shift
    return Dataset(X, factors, image_shape, name, source.description)


def _factor(values: NDArray[Any]) -> NDArray[Any]:
    """Widen numbers, so that differences of small unsigned integers do not wrap around."""
    if values.dtype.kind in "ui":
        return values.astype(np.int64)
    return values.astype(np.float64) if values.dtype.kind == "f" else values


def _path(owner: str, source: Source, file: str) -> Path:
    home = data_home()
    if home is not None and (home / file).is_file():
        return home / file
    seen = "(not set)" if home is None else str(home)
    remedy = f"The set comes from {source.origin}; set SIDELIGHT_DATA to a folder that holds it as {file}"
    raise FileNotFoundError(error_message(owner, "SIDELIGHT_DATA", seen, f"has no {file}", remedy))


def _read(path: Path, owner: str, names: list[str]) -> dict[str, NDArray[Any]]:
    try:
        with np.load(path, allow_pickle=False) as archive:
            return {name: archive[name] for name in names}
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        rule = f"cannot be read as an archive with the arrays {', '.join(names)} ({error})"
        raise ValueError(error_message(owner, "file", str(path), rule, "Fetch the file again")) from error
