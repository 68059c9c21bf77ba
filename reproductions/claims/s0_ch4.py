"""Claims of S0 chapter 4, by reproduction."""

from __future__ import annotations

from reproductions.claims.claim import Claim

CLAIMS: dict[str, tuple[Claim, ...]] = {
    "relational_cars": (
        Claim(
            "fig. 4.2",
            "One axis shows the class, and the other two the angle.",
            "about 1 (a bar)",
            "share of the class on its axis {source's setting: share of the class on one axis, worst of five starts} "
            "(worst of five starts)",
            "{share of the class on one axis, worst of ten sets}",
        ),
    ),
    "relational_correspondence": (
        Claim(
            "fig. 4.3",
            "Two pairs align the views of a cat with the pictures of a face.",
            published="Spearman {source's setting: the cat, ten starts: Spearman with the angle, median} "
            "(median of ten starts; share above 0.5: {source's setting: the cat, ten starts: share above 0.5})",
            default="{nearest face on the map: Spearman with the angle, median of ten}, worst "
            "{ours: nearest face on the map, worst}",
            verdict="holds with luck",
            because="R is learned, and R = 0 satisfies any pair. From random starts the sets are therefore often not "
            "aligned.",
        ),
    ),
    "relational_faces": (
        Claim(
            "fig. 4.4",
            "From 100 labelled pictures, each of four attributes gets an axis of its own.",
            "4 axes (a picture)",
            "{source's setting, σ² = 100: distinct main axes, worst of 3 draws} axes on the worst of three draws",
            "{distinct main axes of the four relations, worst draw} axes, worst Spearman "
            "{the same, after the fit, 100 labels}",
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
            "our own choice of data: faces and oil flow.",
        ),
    ),
}
