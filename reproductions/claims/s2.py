"""Claims of S2, by reproduction."""

from __future__ import annotations

from reproductions.claims.claim import Claim

_WORST = "worst R² of the two true coordinates, worst of ten seeds"

CLAIMS: dict[str, tuple[Claim, ...]] = {
    "coordinated_sheets": (
        Claim(
            "fig. 1",
            "Coordinates of curved sheets are found again.",
            '"high correlation"',
            f"R² {{S-curve, pairs of charts by rows shared, as in the source: {_WORST}}} (S), "
            f"{{swiss roll, pairs of charts by rows shared, as in the source: {_WORST}}} (roll)",
            f"{{S-curve, defaults: {_WORST}}}, {{swiss roll, defaults: {_WORST}}}",
        ),
        Claim(
            "fig. 3",
            "The latent coordinate of two views is monotone in the curve's.",
            "monotone (a picture)",
            "not run (pairs of charts by the rows they share)",
            "Spearman {two views: Spearman with the parameter, worst of ten seeds}",
            because="by default; 600 points and 10 charts are the source's.",
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
