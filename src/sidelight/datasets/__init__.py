"""Data with known factors: generators, and loaders of the real sets (``SIDELIGHT_DATA``).

Every function returns a :class:`Dataset`: ``X``, the true ``factors`` by name, and ``image_shape`` for pictures.
"""

from ._dataset import Dataset
from ._digits import load_digits, shifted_digits
from ._imagebot import Imagebot, Pose, imagebot
from ._real import (
    load_cmu_people,
    load_cmu_styles,
    load_cmu_walk,
    load_cmu_walk_jog,
    load_coil20,
    load_frey,
    load_harmony_cell_lines,
    load_isomap_faces,
    load_mfeat,
    load_mnist,
    load_oil_flow,
    load_olivetti,
    load_pose_silhouette,
    load_robot_wifi,
    load_swiss_roll,
    load_umist,
    load_usps,
    load_yaleb,
)
from ._sheets import noisy_s, s_curve, swiss_roll
from ._sources import data_home
from ._turntable import turntable

__all__ = [
    "Dataset",
    "Imagebot",
    "Pose",
    "data_home",
    "imagebot",
    "load_cmu_people",
    "load_cmu_styles",
    "load_cmu_walk",
    "load_cmu_walk_jog",
    "load_coil20",
    "load_digits",
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
    "noisy_s",
    "s_curve",
    "shifted_digits",
    "swiss_roll",
    "turntable",
]
