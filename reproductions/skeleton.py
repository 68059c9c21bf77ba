"""Stick figures from joint angles: an Acclaim skeleton file and forward kinematics.

A bone turns by C M C⁻¹ against its parent, with C the orientation of its axes at rest and M the rotation by its
channels (about x, then y, then z), and ends at ``start + R · direction · length``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

__all__ = ["Bone", "read_skeleton", "segments"]


@dataclass
class Bone:
    """A bone at rest, and its place in the tree."""

    name: str
    direction: Any = field(default_factory=lambda: np.zeros(3))
    length: float = 0.0
    axis: Rotation = field(default_factory=Rotation.identity)
    parent: str = ""


def read_skeleton(path: Path) -> dict[str, Bone]:
    """The bones of an ASF file by name, parents before children."""
    bones: dict[str, Bone] = {"root": Bone("root")}
    body, _, tree = path.read_text().partition(":hierarchy")
    for block in body.partition(":bonedata")[2].split("begin")[1:]:
        words = {line.split()[0]: line.split()[1:] for line in block.splitlines() if line.split()}
        bones[words["name"][0]] = Bone(
            words["name"][0],
            np.array(words["direction"], dtype=float),
            float(words["length"][0]),
            Rotation.from_euler("xyz", np.array(words["axis"][:3], dtype=float), degrees=True),
        )
    ordered = {"root": bones["root"]}
    for line in tree.splitlines():
        parent, *children = line.split() or [""]
        if parent in bones:
            for child in children:
                bones[child].parent = parent
                ordered[child] = bones[child]
    return ordered


def segments(bones: dict[str, Bone], channels: list[str], pose: Any) -> Any:
    """Start and end of every bone (bones, 2, 3) for the angles of a frame, whose channels are named "bone:rx" ..."""
    angles: dict[str, dict[str, float]] = {}
    for channel, angle in zip(channels, pose, strict=True):
        owner, _, kind = channel.partition(":")
        angles.setdefault(owner, {})[kind.lower()] = float(angle)
    turned: dict[str, Rotation] = {}
    ends: dict[str, Any] = {}
    lines = []
    for bone in bones.values():
        local = Rotation.from_euler("xyz", [angles.get(bone.name, {}).get(k, 0.0) for k in ("rx", "ry", "rz")], True)
        inner = bone.axis * local * bone.axis.inv()
        turned[bone.name] = turned[bone.parent] * inner if bone.parent else inner
        start = ends.get(bone.parent, np.zeros(3))
        ends[bone.name] = start + turned[bone.name].apply(bone.direction) * bone.length
        if bone.parent:
            lines.append((start, ends[bone.name]))
    return np.array(lines)
