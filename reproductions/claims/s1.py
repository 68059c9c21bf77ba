"""Claims of S1 that are not in S0 chapter 3, by reproduction."""

from __future__ import annotations

from reproductions.claims.claim import Claim

CLAIMS: dict[str, tuple[Claim, ...]] = {
    "joint_coil": (
        Claim(
            "fig. 4",
            "Two objects paired by angle share one loop.",
            published="angle to the nearest point "
            "{source's setting: angle between a point and its nearest, mean, worst of five starts}° (5 is perfect)",
            default="{our defaults: angle between a point and its nearest}°",
        ),
    ),
    "joint_regression": (
        Claim(
            "figs. 5, 6",
            "With unpaired pictures, four pairs give a better regression than kernel regression.",
            "2630 against 2936 (0.90)",
            "{error, source's setting, median} against "
            "{error, source's setting, kernel regression with h = 3e7, median} (median ratio "
            "{error over kernel regression's, source's setting, median})",
            "{error, our defaults, median} (median ratio {error over kernel regression's, our defaults, median})",
            "holds with luck",
            "better than kernel regression for {draws of 20 below kernel regression, source's setting} of 20 draws of "
            "the pairs, worse for the others (up to {error over kernel regression's, source's setting, worst draw} "
            "times the error). With our defaults it is better for "
            "{draws of 20 below kernel regression, our defaults} of 20. The source shows one draw.",
        ),
    ),
}
