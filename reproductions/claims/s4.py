"""Claims of S4, by reproduction, for three pages."""

from __future__ import annotations

from reproductions.claims.claim import Claim

_THREE = "source's setting, fig. 2.6, three digits"
_TEN = "source's setting, fig. 2.7, ten digits"


def _both(what: str) -> str:
    """Hit and order of a map."""
    return f"{{{what}, hit}}, {{{what}, order}}"


def _own(what: str) -> str:
    """Order of each thing by itself."""
    return f"{{{what}, order of each thing by itself}}"


SPECTRAL: dict[str, tuple[Claim, ...]] = {
    "semidefinite_sheets": (
        Claim(
            "fig. 1.8",
            "698 faces in two dimensions (k = 5, distances kept).",
            published="two dimensions hold {source's setting, faces: first two eigenvalues} of the variance, "
            "trustworthiness {source's setting, faces: trustworthiness in two dimensions}",
            default="{faces: first two eigenvalues}, {faces: trustworthiness in two dimensions}",
            because="the first axis shows the turn of the head. With all distances kept the solver does not converge "
            "(certified gap {source's setting, faces: certified gap}). Our pictures have 32 × 32 pixels, not 64 × 64.",
        ),
        Claim(
            "section 1.7",
            "A swiss roll is unfolded into two dimensions.",
            "no such data",
            "-",
            "first two eigenvalues {roll of 300: first two eigenvalues, worst seed} (300 rows), "
            "{roll of 200: first two eigenvalues, worst seed} (200 rows)",
            "no claim",
            "the roll is that of Weinberger and Saul. It unfolds with 300 rows or more. With fewer rows, layers are as "
            "close to each other as neighbours within a layer.",
        ),
    ),
    "hybrids": (
        Claim(
            "fig. 2.2",
            "Hybrids interpolate between Isomap (α = 0) and LLE (α = 1).",
            published="sheet correlation {source's setting, fig. 2.2, swiss roll: sheet correlation at α = 0 (Isomap)} "
            "to {source's setting, fig. 2.2, swiss roll: sheet correlation at α = 1 (LLE)}",
            default="the same",
            because="almost all of the change is near α = 1: α = 0.9 still gives the map of Isomap.",
        ),
        Claim(
            "fig. 2.6",
            "With tangents, three digits are separated and the shift is kept; the eigenmap alone mixes the digits.",
            published=f"hit and order {_both(_THREE + ' 1 px apart, tangents: TC-LEM(5, 0.45)')}, eigenmap "
            f"{_both(_THREE + ' 1 px apart, tangents: LEM(2)')} (positions 1 pixel apart); "
            f"{_both(_THREE + ' 3 px apart, tangents: TC-LEM(5, 0.45)')}, eigenmap "
            f"{_both(_THREE + ' 3 px apart, tangents: LEM(2)')} (3 pixels)",
            default=_both("ours, fig. 2.6, three digits, tangents of local filters: hybrid"),
            verdict="does not hold",
            because="with positions 1 pixel apart the eigenmap alone separates the digits. With positions 3 pixels "
            "apart it mixes them, and so does the hybrid, because the tangents of one digit at two positions are "
            "orthogonal. The order within each digit is kept ("
            + _own(_THREE + " 1 px apart, tangents: TC-LEM(5, 0.45)")
            + "). Medians of 12 draws. The source shows one draw and does not give the distance between positions. Our "
            "method smooths the pictures first.",
        ),
        Claim(
            "fig. 2.7",
            "With tangents, one plane shows ten digits and the shift.",
            published=f"hit and order {_both(_TEN + ' 1 px apart, tangents: TC-LEM(3, 0.45)')} (α = 0.45), "
            f"{_both(_TEN + ' 1 px apart, tangents: TC-LEM(3, 0.65)')} (α = 0.65)",
            default="4-D: " + _both("ours, fig. 2.7, ten digits in 4-D, tangents: hybrid"),
            verdict="does not hold",
            because="the plane shows neither, with positions 1 or 3 pixels apart (the order within each digit is kept: "
            + _own(_TEN + " 1 px apart, tangents: TC-LEM(3, 0.65)")
            + "). With smoothed tangents the shift is kept, but a "
            "plane has only one direction left for ten digits.",
        ),
        Claim(
            "fig. 2.12",
            "With reconstruction, ten digits are clusters that keep the shift, with some overlap.",
            published="hit and order "
            + _both("source's setting, fig. 2.12, ten digits 1 px apart, reconstruction: TC-LEM(30, 0.62)"),
            default="3-D: " + _both("ours, fig. 2.12, ten digits in 3-D, reconstruction: hybrid"),
            verdict="does not hold",
            because="each digit becomes one point, because its positions reconstruct each other without error, and the "
            "shift is lost. Closer to α = 1 the shift is visible and the digits overlap ("
            + _both("ours, fig. 2.12, ten digits, reconstruction: hybrid")
            + " at 0.85).",
        ),
        Claim(
            "fig. 2.13",
            "With tangents of local filters, the map of two teapots shows the rotation and the view.",
            published="hit and order " + _both("source's setting, fig. 2.13, two teapots, tangents: TC-LEM(0.2)"),
            default="tangents of turns: " + _both("ours, fig. 2.13, two teapots, tangents of turns: hybrid"),
            verdict="does not hold",
            because="with the best of four k. Filters of 3 × 3 pixels are too small for a turn of 20° from one picture "
            "to the next (on our teapots; those of the source are not public).",
        ),
        Claim(
            "fig. 2.14",
            "With reconstruction, the map of two teapots shows the same, less clustered.",
            published="hit and order "
            + _both("source's setting, fig. 2.14, two teapots, reconstruction: TC-LEM(0.15)"),
            default=_both("ours, fig. 2.14, two teapots, reconstruction: hybrid"),
        ),
    ),
}

_ROWS = "rows of the metric, mean of five embeddings"

METRICS: dict[str, tuple[Claim, ...]] = {
    "beards": (
        Claim(
            "figs. 3.1 to 3.9, A.1 to A.9",
            "With all same pairs, embeddings separate beards, and glasses.",
            "pictures",
            f"hit {{source's setting: beard, all same pairs: {_ROWS}}} and "
            f"{{source's setting: glasses, all same pairs: {_ROWS}}}; other people "
            "{source's setting: beard, all same pairs: other people} and "
            "{source's setting: glasses, all same pairs: other people}",
            "other people {beard, labels, prior of 30 pairs: other people} and "
            "{glasses, labels, prior of 30 pairs: other people}",
            because="but the hit on the rows that the metric was learned from is no evidence: with random labels it is "
            "{random labels, all same pairs: rows of the metric, hit of the random labels}. Chance is 0.5.",
        ),
        Claim(
            "figs. 3.2 to 3.10, A.2 to A.10",
            "Four same pairs and one different pair are enough for structure.",
            "pictures",
            f"hit {{source's setting: beard, 4 + 1 pairs: {_ROWS}}} and "
            f"{{source's setting: glasses, 4 + 1 pairs: {_ROWS}}}",
            "-",
            "does not hold",
            "at chance (0.5) for both attributes, as the mean over five draws of the pairs and five embeddings. The "
            "source shows one draw.",
        ),
        Claim(
            "figs. 3.11, A.11 to A.14",
            "Two attributes at once are separated.",
            "pictures",
            "hit of four groups {source's setting: beard and glasses, four groups: rows of the metric}; other people "
            "{source's setting: beard and glasses, four groups: other people}",
            "-",
            because="on the rows that the metric was learned from. Chance is 0.25.",
        ),
        Claim(
            "figs. 3.12 to 3.16, A.15 to A.19",
            "30 distances are enough to separate the attribute.",
            "pictures",
            f"hit {{source's setting: beard, 30 distances: {_ROWS}}} and "
            f"{{source's setting: glasses, 30 distances: {_ROWS}}}; other people "
            "{source's setting: beard, 30 distances: other people} and "
            "{source's setting: glasses, 30 distances: other people}",
            "-",
            "does not hold",
            f"chance is 0.5, and the hits without hints are {{beard, plain: {_ROWS}}} and {{glasses, plain: {_ROWS}}}. "
            "The source shows one draw of the distances.",
        ),
    ),
    "face_attributes": (
        Claim(
            "chapter 3",
            "The same by our defaults, on people and lights, too.",
            "no such data",
            "-",
            "rows held out: glasses {glasses: rows held out, metric of all pairs of the other half}, person "
            "{person: rows held out, metric of all pairs of the other half}",
            "no claim",
            "our own choice of attributes. 4 + 1 pairs help to separate four people (hit of MDS "
            "{person, MDS: hit with 4 + 1 pairs, mean of 20}, without pairs {person, MDS: hit without hints}), but do "
            "not help for glasses or light. The rows held out show the same people.",
        ),
    ),
}

_PATHS = ("line", "line-double-back", "rotation", "A", "zoom")


def _by_path(what: str) -> str:
    """The numbers of the five paths of table 4.2."""
    return ", ".join(f"{{{what.replace('PATH', path)}}}" for path in _PATHS) + " %"


ACTIONS: dict[str, tuple[Claim, ...]] = {
    "imagebot": (
        Claim(
            "table 4.2",
            "ARE predicts the results of actions almost without error.",
            "100, 100, 100, 100, 97.2 %",
            _by_path("source's setting: PATH, ARE, %, worst of ten pictures") + " (worst of ten pictures)",
            _by_path("PATH: right answers, %, worst of ten pictures"),
        ),
        Claim(
            "table 4.2",
            "SDE predicts them badly (paths: line, double steps back, rotation, A, zoom).",
            "10.2, 14.0, 28.0, 41.7, 25.0 %",
            _by_path("source's setting: PATH, SDE-d in two dimensions, %, median")
            + " from two dimensions, "
            + _by_path("source's setting: PATH, SDE-d in all dimensions, %, median")
            + " from all (medians of ten pictures)",
            _by_path("PATH: SDE-d, %, median"),
            "holds with luck",
            "true if answers are computed in two dimensions and the rotation does not give a flat circle: on rotation "
            "{source's setting: rotation, SDE-d in two dimensions, %, worst} to "
            "{source's setting: rotation, SDE-d in two dimensions, %, best} %, depending on the picture. From all "
            "dimensions SDE predicts most turns ({source's setting: rotation, SDE-d in all dimensions, %, worst} to "
            "{source's setting: rotation, SDE-d in all dimensions, %, best} %). The source does not say how many it "
            "used, nor its k.",
        ),
    ),
    "imagebot_plans": (
        Claim(
            "section 4.4",
            "The map can be used for planning and localisation.",
            "no numbers",
            "-",
            "{plans of optimal length that reach the goal, %, mean of ten pictures} % of plans are shortest; position "
            "{error of the filter, steps, mean} steps off",
            "no claim",
            "the source only suggests it. With noise of 0.1 rows of one place are no longer merged, and "
            "{noise 0.1: plans of optimal length, %, mean} % of plans are shortest.",
        ),
    ),
}
