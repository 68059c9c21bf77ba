"""Claims of S0 chapter 4, by reproduction."""

from __future__ import annotations

from reproductions.claims.claim import Claim

CLAIMS: dict[str, tuple[Claim, ...]] = {
    "relational_cars": (
        Claim(
            "fig. 4.2",
            "The class takes one axis and the other two show the turn.",
            "about 1 (a bar)",
            "share of the class on its axis {random starts: share of the class on one axis, worst of ten} (random "
            "starts, our bandwidth)",
            "{share of the class on one axis, worst of ten sets}",
        ),
    ),
    "relational_correspondence": (
        Claim(
            "fig. 4.3",
            "Two pairs align the views of a cat with the pictures of a face.",
            published="Spearman {random start: nearest face on the map, median}, worst "
            "{random start: nearest face on the map, worst} (random start, our bandwidth)",
            default="{nearest face on the map: Spearman with the angle, median of ten}, worst "
            "{ours: nearest face on the map, worst}",
        ),
    ),
    "relational_faces": (
        Claim(
            "fig. 4.4",
            "Each of four attributes takes an axis of its own, from 100 labelled pictures.",
            "4 axes (a picture)",
            "{random start: distinct main axes, worst} axes on the worst of ten draws (random start, our bandwidth)",
            "{distinct main axes of the four relations, worst draw} axes, worst Spearman "
            "{the same, after the fit, 100 labels}",
            "open",
            "the source's bandwidth has not been run.",
        ),
    ),
    "relational_yale": (
        Claim(
            "section 4.3.2",
            "Labels of some rows order the others.",
            "no such data",
            "-",
            "38 people: azimuth {38 people: azimuth, worst of 5}, elevation {38 people: elevation, worst of 5} "
            "(Spearman, worst of 5)",
            "no claim",
            "faces and oil flow of ours.",
        ),
    ),
}
