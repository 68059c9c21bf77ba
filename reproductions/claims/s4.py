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
            because="the turn of the head lies along the first axis. With every distance kept the program is not "
            "solved to its end (certified gap {source's setting, faces: certified gap}), and the pictures are of "
            "32 × 32, not 64 × 64.",
        ),
        Claim(
            "section 1.7",
            "A swiss roll is unfolded into two dimensions.",
            "no such data",
            "-",
            "first two eigenvalues {roll of 300: first two eigenvalues, worst seed} (300 rows), "
            "{roll of 200: first two eigenvalues, worst seed} (200 rows)",
            "no claim",
            "the roll is Weinberger and Saul's. It unfolds from 300 rows on; with fewer, layers are no farther apart "
            "than neighbours.",
        ),
    ),
    "hybrids": (
        Claim(
            "fig. 2.2",
            "Hybrids go from Isomap (α = 0) to LLE (α = 1).",
            published="sheet correlation {source's setting, fig. 2.2, swiss roll: sheet correlation at α = 0 (Isomap)} "
            "to {source's setting, fig. 2.2, swiss roll: sheet correlation at α = 1 (LLE)}",
            default="the same",
            because="the change is all near α = 1: α = 0.9 is still Isomap.",
        ),
        Claim(
            "fig. 2.6",
            "Three digits are told apart and the shift is kept, by tangents; the eigenmap alone mixes the digits.",
            published=f"hit and order {_both(_THREE + ' 1 px apart, tangents: TC-LEM(5, 0.45)')}, eigenmap "
            f"{_both(_THREE + ' 1 px apart, tangents: LEM(2)')} (places 1 pixel apart); "
            f"{_both(_THREE + ' 3 px apart, tangents: TC-LEM(5, 0.45)')}, eigenmap "
            f"{_both(_THREE + ' 3 px apart, tangents: LEM(2)')} (3 pixels)",
            default=_both("ours, fig. 2.6, three digits, tangents of local filters: hybrid"),
            verdict="does not hold",
            because="near places: the eigenmap tells the digits apart by itself; far ones: it mixes them, and so does "
            "the hybrid, as sharp tangents of two places of one digit are at right angles. Each digit by itself is "
            "in order ("
            + _own(_THREE + " 1 px apart, tangents: TC-LEM(5, 0.45)")
            + "). Medians of 12 draws; the source shows one, and not how far apart its places are. Ours smooths the "
            "pictures first.",
        ),
        Claim(
            "fig. 2.7",
            "Ten digits, by tangents: digits and shift on one plane.",
            published=f"hit and order {_both(_TEN + ' 1 px apart, tangents: TC-LEM(3, 0.45)')} (α = 0.45), "
            f"{_both(_TEN + ' 1 px apart, tangents: TC-LEM(3, 0.65)')} (α = 0.65)",
            default="4-D: " + _both("ours, fig. 2.7, ten digits in 4-D, tangents: hybrid"),
            verdict="does not hold",
            because="neither, with places 1 pixel apart, nor with 3 (each digit by itself is in order: "
            + _own(_TEN + " 1 px apart, tangents: TC-LEM(3, 0.65)")
            + "); with smoothed tangents the shift is kept, but a "
            "plane has one direction left for ten digits.",
        ),
        Claim(
            "fig. 2.12",
            "Ten digits, by reconstruction: clusters that keep the shift, with some overlap.",
            published="hit and order "
            + _both("source's setting, fig. 2.12, ten digits 1 px apart, reconstruction: TC-LEM(30, 0.62)"),
            default="3-D: " + _both("ours, fig. 2.12, ten digits in 3-D, reconstruction: hybrid"),
            verdict="does not hold",
            because="each digit becomes one point, as its places are rebuilt from each other without error: the "
            "shift is gone. Nearer to α = 1 the shift comes back and the digits overlap ("
            + _both("ours, fig. 2.12, ten digits, reconstruction: hybrid")
            + " at 0.85).",
        ),
        Claim(
            "fig. 2.13",
            "Two teapots, by tangents of local filters: turn and view.",
            published="hit and order " + _both("source's setting, fig. 2.13, two teapots, tangents: TC-LEM(0.2)"),
            default="tangents of turns: " + _both("ours, fig. 2.13, two teapots, tangents of turns: hybrid"),
            verdict="does not hold",
            because="at the best of four k. A filter of 3 × 3 pixels does not reach from one picture to the next when "
            "it is turned by 20° (our teapots: its own are not public).",
        ),
        Claim(
            "fig. 2.14",
            "Two teapots, by reconstruction: turn and view, not clustered as well.",
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
            because="but on the rows that made the metric it says nothing: random labels have "
            "{random labels, all same pairs: rows of the metric, hit of the random labels}, too. Chance is 0.5.",
        ),
        Claim(
            "figs. 3.2 to 3.10, A.2 to A.10",
            "Four same pairs and one different pair are enough for structure.",
            "pictures",
            f"hit {{source's setting: beard, 4 + 1 pairs: {_ROWS}}} and "
            f"{{source's setting: glasses, 4 + 1 pairs: {_ROWS}}}",
            "-",
            "does not hold",
            "chance (0.5) for both attributes, in the mean of five draws of the pairs and five embeddings. The source "
            "shows one draw.",
        ),
        Claim(
            "figs. 3.11, A.11 to A.14",
            "Two attributes at once are separated.",
            "pictures",
            "hit of four groups {source's setting: beard and glasses, four groups: rows of the metric}; other people "
            "{source's setting: beard and glasses, four groups: other people}",
            "-",
            because="on the rows that made the metric; chance is 0.25.",
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
            f"chance is 0.5, and without hints {{beard, plain: {_ROWS}}} and {{glasses, plain: {_ROWS}}}; the source "
            "shows one draw of the distances.",
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
            "attributes of ours. 4 + 1 pairs help to tell four people (MDS "
            "{person, MDS: hit with 4 + 1 pairs, mean of 20}, without {person, MDS: hit without hints}), and neither "
            "glasses nor the light. Rows held out are of the same people.",
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
            "ARE predicts the result of actions nearly perfectly.",
            "100, 100, 100, 100, 97.2 %",
            _by_path("source's setting: PATH, ARE, %, worst of ten pictures") + " (worst of ten pictures)",
            _by_path("PATH: right answers, %, worst of ten pictures"),
        ),
        Claim(
            "table 4.2",
            "SDE predicts badly (line, double steps back, rotation, A, zoom).",
            "10.2, 14.0, 28.0, 41.7, 25.0 %",
            _by_path("source's setting: PATH, SDE-d in two dimensions, %, median")
            + " from two dimensions, "
            + _by_path("source's setting: PATH, SDE-d in all dimensions, %, median")
            + " from all (medians of ten pictures)",
            _by_path("PATH: SDE-d, %, median"),
            "holds with luck",
            "it holds where answers come from two dimensions and the picture's turn is no flat circle: on rotation "
            "{source's setting: rotation, SDE-d in two dimensions, %, worst} to "
            "{source's setting: rotation, SDE-d in two dimensions, %, best} % by picture. From all dimensions SDE "
            "tells most turns ({source's setting: rotation, SDE-d in all dimensions, %, worst} to "
            "{source's setting: rotation, SDE-d in all dimensions, %, best} %). The source does not say how many it "
            "used, nor its k.",
        ),
    ),
    "imagebot_plans": (
        Claim(
            "section 4.4",
            "The map serves for planning and localisation.",
            "no numbers",
            "-",
            "{plans of optimal length that reach the goal, %, mean of ten pictures} % of plans are shortest; position "
            "{error of the filter, steps, mean} steps off",
            "no claim",
            "only suggested in the source; with noise of 0.1 rows of one place are no longer merged, and "
            "{noise 0.1: plans of optimal length, %, mean} % are.",
        ),
    ),
}
