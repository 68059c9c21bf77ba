"""Experiments on data that no source has, by reproduction."""

from __future__ import annotations

from reproductions.claims.claim import Claim

CLAIMS: dict[str, tuple[Claim, ...]] = {
    "pose_silhouette": (
        Claim(
            "-",
            "Poses from silhouettes.",
            "no such data",
            "-",
            "{error in degrees, joint embedding}° (kernel regression {error in degrees, kernel regression}°)",
            "no claim",
            "the joint embedding is as good as regressions, not better.",
        ),
    ),
    "robot_wifi": (
        Claim(
            "-",
            "Signal strengths along a path, with actions.",
            "no numbers",
            "-",
            "uwfloor {uwfloor: error of the position, metres, rms, mean of 3 cuts: with actions} m (without "
            "{uwfloor: error of the position, metres, rms, mean of 3 cuts: without actions} m)",
            "no claim",
            "twoloops is not solved: the error is "
            "{twoloops: error of the position, metres, rms, mean of 3 cuts: with actions} m, "
            "dead reckoning {twoloops: error of the position, metres, rms, mean of 3 cuts: dead reckoning} m.",
        ),
    ),
}
