"""The sources' own experiments, their numbers beside ours: ``python -m reproductions [NAME ...] [--page]``."""

from __future__ import annotations

import importlib
from typing import Protocol, cast

from reproductions.harness import Outcome

__all__ = ["REPRODUCTIONS", "Reproduction", "reproduction"]

REPRODUCTIONS = (
    "s_curve",
    "noisy_s",
    "oil_flow",
    "walk_cycle",
    "missing_values",
    "three_bars",
    "joint_coil",
    "joint_regression",
    "pose_silhouette",
    "hybrids",
    "informed_coil",
    "informed_faces",
    "glasses",
    "face_attributes",
    "beards",
    "coordinated_sheets",
    "coordinated_frey",
    "coordinated_views",
    "bernoulli_digits",
    "semidefinite_sheets",
    "relational_cars",
    "relational_correspondence",
    "relational_faces",
    "relational_yale",
    "imagebot",
    "imagebot_plans",
    "robot_wifi",
    "sine_manifield",
    "super_resolution_source",
    "super_resolution",
    "shifts",
    "shifts_source",
    "usps_distance",
    "digit_fields",
    "gated_patches",
    "canvas",
)


class Reproduction(Protocol):
    """A module of this package: which experiment, and how it is run."""

    TITLE: str
    SOURCE: str

    def run(self) -> Outcome:
        """Run the experiment and draw its figure."""
        ...


def reproduction(name: str) -> Reproduction:
    """The reproduction of that name, imported only now."""
    return cast(Reproduction, importlib.import_module(f"reproductions.{name}"))
