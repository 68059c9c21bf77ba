"""Position from signal strengths (Ferris, Fox and Lawrence 2007), with actions from odometry and without."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning

from reproductions.figures import COLOURS, GREY, bare, house_style
from reproductions.harness import Outcome
from sidelight import ActionRespectingEmbedding, KernelInformationEmbedding
from sidelight.datasets import load_robot_wifi

TITLE = "Signal strengths along a path, with and without actions"
SOURCE = "Data of Ferris, Fox and Lawrence (2007); METHODS 6 (no numbers in S4)"
DIRECTIONS, PHASES = 8, 3
SPACING = {"uwfloor": 4.0, "twoloops": 6.0}
SILENT = -95.0  # dBm, where an access point was not heard
WAYS = ("with actions", "without actions", "KIE", "PCA", "dead reckoning")


@dataclass(frozen=True)
class Walk:
    """Mean signals and positions (metres) of pieces of a path, and the compass direction from each to the next."""

    X: Any
    places: Any
    directions: Any

    @property
    def actions(self) -> Any:
        return np.array([*(f"direction {code}" for code in self.directions), None], dtype=object)

    @property
    def reckoned(self) -> Any:
        """The directions added up, all steps of one length."""
        angle = self.directions * (2 * np.pi / DIRECTIONS)
        return np.cumsum([np.zeros(2), *np.column_stack([np.cos(angle), np.sin(angle)])], axis=0)


def walk(path: str, phase: float) -> Walk:
    """Cut a path into pieces of one length, beginning at a share ``phase`` of it."""
    data = load_robot_wifi(path)
    signals = np.maximum(np.nan_to_num(data.X, nan=SILENT), SILENT)
    position = data.factors["position"] - data.factors["position"].mean(axis=0)
    along = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(position, axis=0), axis=1))])
    piece = np.unique(np.floor(along / SPACING[path] + phase), return_inverse=True)[1]
    share = (piece == np.arange(piece.max() + 1)[:, None]) / np.bincount(piece)[:, None]
    X, places = share @ signals, share @ position
    step = np.diff(places, axis=0)
    codes = np.round(np.arctan2(step[:, 1], step[:, 0]) / (2 * np.pi / DIRECTIONS)).astype(int) % DIRECTIONS
    return Walk(X, places, codes)


def maps(one: Walk) -> dict[str, Any]:
    """Two-dimensional maps of a walk, by five ways."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        with_actions = ActionRespectingEmbedding(merge=0.3, n_jobs=1).fit(one.X, actions=one.actions).embedding_
        without = ActionRespectingEmbedding(merge=0.3, n_jobs=1).fit(one.X, trajectory=np.zeros(len(one.X))).embedding_
    kie = KernelInformationEmbedding(random_state=0, n_jobs=1).fit(one.X).embedding_
    return dict(zip(WAYS, (with_actions, without, kie, PCA(2).fit_transform(one.X), one.reckoned), strict=True))


def aligned(Z: Any, places: Any) -> Any:
    """Positions from a map, by the affine map that fits every other row best."""
    raised = np.column_stack([Z, np.ones(len(Z))])
    return raised @ np.linalg.lstsq(raised[::2], places[::2], rcond=None)[0]


def errors(Z: Any, places: Any) -> Any:
    """Distances (metres) of the rows that were not used to align."""
    return np.linalg.norm(aligned(Z, places) - places, axis=1)[1::2]


def revisits(one: Walk) -> float:
    """Median distance of the signals of rows within half a piece of each other, by that of rows one step apart."""
    order = np.arange(len(one.X))
    again = cdist(one.places, one.places) < 0.5 * np.median(np.linalg.norm(np.diff(one.places, axis=0), axis=1))
    again &= np.abs(order[:, None] - order) > 5
    D = cdist(one.X, one.X)
    return float(np.median(D[again]) / np.median(D[order[1:], order[:-1]]))


def run() -> Outcome:
    walks = {path: [walk(path, phase / PHASES) for phase in range(PHASES)] for path in SPACING}
    found = {path: [maps(one) for one in some] for path, some in walks.items()}
    sizes = ", ".join(f"{path}: {len(some[0].X)} rows, {SPACING[path]:g} m each" for path, some in walks.items())
    outcome = Outcome(
        f"Paths cut into pieces of one length ({sizes}; {PHASES} ways of cutting), the mean signals of each "
        f"({SILENT:g} dBm where an access point is silent). Actions: the direction to the next piece, as one of "
        f"{DIRECTIONS} of the compass, from the recorded positions. Our defaults. Two dimensions, an affine map to the "
        "floor fitted on every other row, errors on the rest.",
        _draw(walks, found),
        "Positions from each map (colour: along the path) over the true path (grey), with the root mean square error "
        "on rows that were not used to align it; first way of cutting.",
    )
    for path in SPACING:
        _compare(outcome, path, walks[path], found[path])
    for path in SPACING:
        outcome.note(
            f"{path}: signals of one place at two times, distance over that of a step", revisits(walks[path][0])
        )
    outcome.notes += _NOTES
    return outcome


_NOTES = [
    "Dead reckoning adds up the same eight directions, without signals. It is given the compass; the embedding is "
    "given labels that mean nothing to it, and finds what they do from the signals.",
    "uwfloor: walked nearly twice round; signals of the second time are like those of the first, and close the loop.",
    "twoloops is not solved: signals heard at a place twice differ by more than those of places one step apart, so no "
    "row of the program closes the loops, and the path unrolls to a line, with actions or without (16 directions "
    "instead of 8: no better, tried by hand on the first cut). Maps that do not unroll (KIE, PCA) are nearer there, "
    "and dead reckoning is nearest.",
    "Rows are pieces of some metres because rounded directions never meet exactly: nearly each pair of places has a "
    "class of distances of its own, and a fit takes about a minute at 60 rows. The recorded rows (394 and 1,755) were "
    "not tried.",
]


def _compare(outcome: Outcome, path: str, walks: list[Walk], found: list[dict[str, Any]]) -> None:
    off = {way: [errors(Z[way], one.places) for one, Z in zip(walks, found, strict=True)] for way in WAYS}
    rms = {way: float(np.mean([np.sqrt((cut**2).mean()) for cut in cuts])) for way, cuts in off.items()}
    what = f"{path}: error of the position, metres, rms, mean of {PHASES} cuts"
    outcome.at_most(f"{what}: with actions", rms["with actions"], rms["without actions"], name="without")
    for way in WAYS[1:]:
        outcome.note(f"{what}: {way}", rms[way])
    for way in WAYS:
        outcome.note(f"{path}: error, metres, median: {way}", float(np.median(np.concatenate(off[way]))))


def _draw(walks: Any, found: Any) -> Any:
    with house_style() as plt:
        figure, axes = plt.subplots(len(SPACING), len(WAYS), figsize=(9.6, 4.6), height_ratios=(1.5, 1.0))
        for line, path in zip(axes, SPACING, strict=True):
            one, Z = walks[path][0], found[path][0]
            for ax, way in zip(line, WAYS, strict=True):
                rms = np.sqrt((errors(Z[way], one.places) ** 2).mean())
                bare(ax, f"{way}\n{rms:.1f} m")
                ax.plot(*one.places.T, color="0.8", lw=3, zorder=1)
                told = aligned(Z[way], one.places)
                ax.plot(*told.T, color=GREY, lw=0.5, zorder=2)
                ax.scatter(*told.T, c=np.arange(len(told)), cmap="viridis", s=10, linewidths=0, zorder=3)
                ax.margins(0.08)
            line[0].set_ylabel(path, color=COLOURS[0])
        return figure
