"""Claims of S2, by reproduction."""

from __future__ import annotations

from reproductions.claims.claim import Claim

_WORST = "worst R² of the two true coordinates, worst of ten seeds"
_MEDIAN = "R² of the two true coordinates, the worse, median of ten seeds"
_GOOD = "R² of the two true coordinates, the worse, seeds of ten with 0.95 or more"

CLAIMS: dict[str, tuple[Claim, ...]] = {
    "coordinated_sheets": (
        Claim(
            "fig. 1",
            "Coordinates of curved sheets are found again.",
            '"high correlation"',
            f"R² {{source's setting: S-curve, {_MEDIAN}}} (S), {{source's setting: swiss roll, {_MEDIAN}}} (roll)",
            f"{{S-curve, defaults: {_WORST}}}, {{swiss roll, defaults: {_WORST}}}",
            "holds with luck",
            f"in the median of ten seeds; {{source's setting: S-curve, {_GOOD}}} of ten on the S-curve, "
            f"{{source's setting: swiss roll, {_GOOD}}} on the roll, where charts of a fixed number may bridge "
            "layers. By default (worst of ten seeds) their number is searched for.",
        ),
        Claim(
            "fig. 3",
            "The latent coordinate of two views is monotone in the curve's.",
            "monotone (a picture)",
            "Spearman {source's setting: two views, Spearman with the parameter, worst of ten seeds}",
            "{two views, defaults: Spearman with the parameter, worst of ten seeds}",
        ),
    ),
    "coordinated_frey": (
        Claim(
            "fig. 2",
            "Two parallel mixtures part smiling from angry faces, one does not.",
            published="R² of the smile {two mixtures of 10 charts: R² of the smile} against "
            "{one mixture of 10 charts: R² of the smile}",
            default="one mixture {our defaults: R² of the smile}, two {our defaults, two mixtures: R² of the smile}",
            because="one mixture shows the smile, too, but less well; medians of three starts, by a measure chosen "
            "after a first one had shown no difference.",
        ),
    ),
    "bernoulli_digits": (
        Claim(
            "section 2",
            "Mixtures of other families.",
            "no experiment",
            "-",
            "{log likelihood of a test digit, 100 charts (nats)} nats a test digit",
            "no claim",
            "the source only mentions them.",
        ),
    ),
    "coordinated_views": (
        Claim(
            "sections 2 to 4",
            "Real sheets and views.",
            "no such data",
            "-",
            "poses {poses from silhouettes, coordinated CCA, 2-D: error in degrees}° (linear CCA "
            "{poses from silhouettes, linear CCA, 2-D: error in degrees}°, kernel regression "
            "{poses from silhouettes, kernel regression: error in degrees}°)",
            "no claim",
            "data of ours; on COIL-20 the coordinated map is better than two principal components for 9 of 20 "
            "objects only.",
        ),
    ),
}
