"""S4 table 4.2, figs. 4.3-4.9: what an action does where it was never tried, on the image robot."""

from __future__ import annotations

import warnings
from itertools import combinations
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.exceptions import ConvergenceWarning

from reproductions.figures import COLOURS, GREY, INK, bare, house_style
from reproductions.harness import Outcome
from reproductions.imagebot_protocol import (
    NEIGHBOURS,
    PATHS,
    PICTURES,
    STEPS,
    by_distances,
    by_linear_maps,
    drive,
    published_sde,
    queries,
    respecting,
    unfolded,
    without_actions,
)
from sidelight import Pairs
from sidelight.datasets import Dataset
from sidelight.side.actions import as_actions
from sidelight.unfolding._action_program import neighbours_by_actions, place_squares

TITLE = "Action respecting embedding: predictions of the image robot"
SOURCE = "S4 (Ghodsi 2005), chapter 4, table 4.2 and figs. 4.3-4.9"
NOISES = (0.0, 0.01, 0.03, 0.1)
SHOWN = "camera"
CORNERS = (0, 9, 12, 21, 26, 28)  # rows of the single-pass 'A': its four ends, and those of the bar
SOME = PICTURES[::2]  # for what takes long: the rivals, and noise in which no two views of a place are merged
_PUBLISHED = {
    "line": ("100", "10.2", "11.9"),
    "line-double-back": ("100", "14.0", "29.8"),
    "rotation": ("100", "28.0", "20.0"),
    "A": ("100", "41.7", "39.6"),
    "zoom": ("97.2", "25.0", "27.8"),
}


SDE = {"SDE-d": by_distances, "SDE-l": by_linear_maps}  # the two predictions of table 4.2
DIMENSIONS = {"two dimensions": 2, "all dimensions": None}


def run() -> Outcome:
    published = {path: [_published(path, name) for name in PICTURES] for path in PATHS}
    asked = {noise: SOME if noise == NOISES[-1] else PICTURES for noise in NOISES}
    noisy = {
        (path, noise): [_respecting(path, name, noise) for name in asked[noise]] for path in PATHS for noise in NOISES
    }
    rivals = {path: [_rivals(path, name) for name in SOME] for path in PATHS}
    outcome = Outcome(
        "IMAGEBOT as in the source: views of 100 x 100 pixels, moves of 25 pixels, turns of 22.5°, zooms by 2^(1/8), "
        f"on ten pictures tiled by reflection to 2048 x 1536 ({', '.join(PICTURES)}). Paths: F40 B20; the same with "
        "steps back twice as long; TR16 TL8; F9 R3 B4 L3 F4 B9 F5 R3 B5; F6 ZO8 B1 ZI8 F2 B6 F4 ZO8 B2. Asked are "
        "all pairs of a row and an action whose result is a training view, less what was done at that row. Source's "
        "setting: ARE with T = 1, equal views one place, answers from all of K; SDE of table 1.3 (k nearest, and "
        f"rows that share a neighbour, distances kept), the smallest k from {NEIGHBOURS[0]} on that connects the rows "
        "(not given), answers from two dimensions, which its figures show, and from all (which of them is not said). "
        f"Ours: defaults, full K; SDE with the k of {NEIGHBOURS} that suits each picture best, all its dimensions. "
        f"SDE and the program without actions by at most {STEPS} Newton steps; ours of these, and noise of 0.1, on "
        "every second picture.",
        _draw(noisy),
        f"Above: maps of the picture '{SHOWN}' (first two dimensions; of the lines the first, over time), the rows "
        "joined in the order of the drive, coloured by what is done there, and the share of right answers on this "
        "picture: with actions (all dimensions), the same program without (all), and the source's SDE (two). Below: "
        "answers by our embedding under pixel noise, median and range over the pictures.",
    )
    _compare_published(outcome, published)
    _compare(outcome, noisy, rivals)
    _single_pass(outcome)
    outcome.notes += [_why_sde(published["rotation"]), *_NOTES]
    return outcome


_NOTES = [
    "The percentages of table 4.2 are those of 59, 57, 25, 48 and 36 questions; ours are 60, 58, 26, 50 and 50. So the "
    "source's paths differ a little from ours (its 'A' and its zoom are drawn, not listed), and its picture is not "
    "public.",
    "'Never done at this place' leaves out the rows of a place where the action was done in another row, which the "
    "source's protocol asks too (without noise such rows are the same view, and the answer is in the input).",
    "Noise: rows that are nearer to each other than 0.3 of the shortest step at either, with the noise taken off, are "
    "one place by default (merge); as long as that finds the places, noise does not matter, and where it no longer "
    "does (rocket and sk_china from 0.01 or 0.03, most at 0.1), it does at once.",
    "Pictures are tiled: one that is 512 pixels wide comes round after 1024, the line is 1000 long. The list was "
    "changed once, after a first run: chelsea (451 pixels wide) has places 36 steps apart that look alike and are "
    "taken for one (87 % on the line, 93 % with long steps back); it, grass, gravel and brick gave way to "
    "wider pictures.",
    "The single-pass 'A' is F9 R3 B9 F5 L2, which never undoes a step to the side. A larger window does not determine "
    "it. Known distances do: the length of one step of each action and the distances between the corners and the "
    "ends of the bar (19), in a unit in which no bound is exceeded. What stays open then is a step to the side "
    "whose mirror image fits as well. The simplest hint is a path that takes each action back over places it has "
    "been to, as the other 'A' does.",
]


def _respecting(path: str, name: str, noise: float = 0.0, **options: Any) -> tuple[float, float]:
    data = drive(path, name, noise)
    asked, states = queries(data, path), data.factors["states"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = respecting(data, **options)
    return asked.accuracy(states, model.predict_next), asked.accuracy(states, model.predict_next, fresh=True)


def _published(path: str, name: str) -> dict[str, float]:
    """Shares of right answers on a picture in the source's setting."""
    data = drive(path, name)
    asked, states, actions = queries(data, path), data.factors["states"], data.factors["actions"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        found = {"ARE": asked.accuracy(states, respecting(data, merge=0).predict_next)}
        Z = published_sde(data)
    for what, predictor in SDE.items():
        for words, q in DIMENSIONS.items():
            found[f"{what} in {words}"] = asked.accuracy(states, predictor(Z[:, :q], actions))
    return found


def _compare_published(outcome: Outcome, published: dict[str, list[dict[str, float]]]) -> None:
    said = ("ARE", "SDE-d", "SDE-l")
    for path, pictures in published.items():
        for what in pictures[0]:
            shares = [100 * one[what] for one in pictures]
            label, source = f"source's setting: {path}, {what}, %", _PUBLISHED[path][said.index(what[:5].strip())]
            if what == "ARE":
                outcome.at_least(f"{label}, median", np.median(shares), 100.0, f"{source} (one picture)")
                outcome.at_least(f"{label}, worst of ten pictures", min(shares), 100.0)
            else:
                outcome.note(f"{label}, median", np.median(shares), f"{source} (one picture)")
                outcome.note(f"{label}, worst", min(shares))
                outcome.note(f"{label}, best", max(shares))
    outcome.details["source's setting"] = published


def _why_sde(rotation: list[dict[str, float]]) -> str:
    """Why SDE tells turns here and not in the source."""
    two, every = (np.array([100 * one[f"SDE-d in {words}"] for one in rotation]) for words in DIMENSIONS)
    names = ", ".join(name for name, share in zip(PICTURES, two, strict=True) if share <= 40)
    return (
        f"SDE on rotation (28.0 % in the source): it is neither the graph nor the equalities. On the source's graph "
        f"with equalities, all dimensions answer {every.min():.0f} to {every.max():.0f} % by picture, as ours without "
        f"equalities do, and two dimensions {two.min():.0f} to {two.max():.0f} %: the source's number is that of two "
        f"dimensions on a picture whose turn is no flat circle (at most 40 % on {names}). A turn of a picture is a "
        "closed curve in many dimensions. Where it lies flat in two, they answer nearly all; else two dimensions cross "
        "themselves, and the others hold what is missing. ARE needs no luck: the rows of the actions leave nothing but "
        "the circle."
    )


def _maps(data: Dataset) -> dict[str, Any]:
    """Embeddings (n, r) that do not know the actions: the same program without, and SDE by our defaults by its k."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        found = {f"SDE, k = {k}": unfolded(data, k) for k in NEIGHBOURS}
        return {"without actions": without_actions(data).latent_, **found}


def _rivals(path: str, name: str) -> dict[str, float]:
    data = drive(path, name)
    asked, states, actions = queries(data, path), data.factors["states"], data.factors["actions"]
    maps = _maps(data)
    plain = [Z for which, Z in maps.items() if which.startswith("SDE")]
    best = {what: max(asked.accuracy(states, predictor(Z, actions)) for Z in plain) for what, predictor in SDE.items()}
    return {"without actions": asked.accuracy(states, by_distances(maps["without actions"], actions)), **best}


def _compare(outcome: Outcome, noisy: Any, rivals: Any) -> None:
    for path in PATHS:
        ours = 100 * np.array(noisy[path, 0.0])
        outcome.at_least(f"{path}: right answers, %, median", np.median(ours[:, 0]), 100.0, "-")
        outcome.at_least(f"{path}: right answers, %, worst of ten pictures", ours[:, 0].min(), 100.0)
        outcome.note(f"{path}: of those never done at this place, %, worst", ours[:, 1].min())
        for which in (*SDE, "without actions"):
            outcome.note(f"{path}: {which}, %, median", 100 * np.median([one[which] for one in rivals[path]]), "-")
    for noise in NOISES[1:]:
        for path in PATHS:
            ours = 100 * np.array(noisy[path, noise])[:, 0]
            what = f"{path}, noise {noise:g}: right answers, %"
            if noise == 0.01:
                outcome.at_least(f"{what}, median", np.median(ours), 97.0)
                outcome.at_least(f"{what}, worst", ours.min(), 75.0)
            else:
                outcome.note(f"{what}, median", np.median(ours))
                outcome.note(f"{what}, worst", ours.min())
    outcome.details["accuracy"] = {f"{path}, {noise:g}": noisy[path, noise] for path, noise in noisy}
    outcome.details["rivals"] = rivals


def _single_pass(outcome: Outcome) -> None:
    def note(what: str, **options: Any) -> None:
        found = [_respecting("A-single", name, **options)[1] for name in PICTURES]
        label = f"single-pass 'A', {what}: of those never done at this place, %, median"
        outcome.note(label, 100 * np.median(found), "-")
        outcome.details[label] = found

    for window in (1, 2, 3):
        note(f"window {window}", window=window)
    for corners in (CORNERS[:4], CORNERS):
        hints = {name: _hints(name, corners) for name in PICTURES}
        found = [_respecting("A-single", name, pairs=hints[name])[1] for name in PICTURES]
        what = f"single-pass 'A', {len(hints[PICTURES[0]].index)} known distances"
        outcome.note(f"{what}: the same, %, median", 100 * np.median(found), "-")
        outcome.note(f"{what}: the same, %, worst", 100 * min(found), "-")


def _hints(name: str, corners: tuple[int, ...]) -> Pairs:
    """The length of one step of each action, and the distances between corners, as long as the bounds let them be."""
    data = drive("A-single", name)
    done, states = data.factors["actions"], data.factors["states"]
    first = np.unique(states, return_index=True)[1]
    steps = [(row, row + 1) for row in (list(done).index(action) for action in dict.fromkeys(done[:-1]))]
    pairs = np.unique(np.sort(first[states[np.array([*steps, *combinations(corners, 2)])]], axis=1), axis=0)
    world, views = cdist(*2 * [data.factors["poses"][:, :2]]), cdist(data.X, data.X)
    near = neighbours_by_actions(place_squares(views**2, states), states, as_actions(done, len(states)), window=1)
    i, j = first[np.argwhere(np.triu(near, 1))].T
    unit = 0.98 * float((views[i, j] / world[i, j]).min())
    return Pairs(pairs, len(data.X), values=unit * world[pairs[:, 0], pairs[:, 1]])


def _draw(noisy: Any) -> Any:
    with house_style() as plt:
        figure = plt.figure(figsize=(9.6, 7.4))
        upper, lower = figure.subfigures(2, 1, height_ratios=(3.0, 1.15))
        axes = upper.subplots(3, len(PATHS))
        for column, path in zip(axes.T, PATHS, strict=True):
            _column(column, path, noisy)
        for ax, text in zip(axes[:, 0], ("with actions", "without", "SDE of the source"), strict=True):
            ax.set_ylabel(text)
        _noise_panels(lower.subplots(1, len(PATHS), sharey=True), noisy)
        return figure


def _column(axes: Any, path: str, noisy: Any) -> None:
    data = drive(path, SHOWN)
    actions, states = data.factors["actions"], data.factors["states"]
    asked = queries(data, path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        free, sde = without_actions(data).latent_, published_sde(data)[:, :2]
    shown = {f"{path}\n": respecting(data).latent_, "": free, " ": sde}
    own = noisy[path, 0.0][PICTURES.index(SHOWN)][0]
    for ax, (title, Z) in zip(axes, shown.items(), strict=True):
        right = own if title.strip() else asked.accuracy(states, by_distances(Z, actions))
        bare(ax, f"{title.strip(' ')}{100 * right:.0f} % right")
        flat = np.column_stack([np.arange(len(Z)), Z[:, 0]]) if path.startswith("line") else Z[:, :2]
        ax.plot(*flat.T, color=GREY, lw=0.6, zorder=1)
        for colour, action in zip(COLOURS, dict.fromkeys(actions[:-1]), strict=False):
            rows = np.flatnonzero(actions == action)
            ax.scatter(*flat[rows].T, s=9, color=colour, linewidths=0, zorder=2, label=action)
        ax.margins(0.1)
        ax.set_box_aspect(0.7)
        ax.set_aspect("auto" if path.startswith("line") else "equal", adjustable="datalim")
    axes[-1].legend(loc="upper center", bbox_to_anchor=(0.5, -0.02), ncols=2, columnspacing=0.8, handletextpad=0.1)


def _noise_panels(axes: Any, noisy: Any) -> None:
    for ax, path in zip(axes, PATHS, strict=True):
        values = [100 * np.array(noisy[path, noise])[:, 0] for noise in NOISES]
        low, middle, high = np.array([(one.min(), np.median(one), one.max()) for one in values]).T
        places = np.arange(len(NOISES))
        ax.fill_between(places, low, high, color=COLOURS[0], alpha=0.2, linewidth=0)
        ax.plot(places, middle, "o-", color=COLOURS[0], ms=3.5, lw=1.2)
        ax.set_xticks(places, [f"{noise:g}" for noise in NOISES])
        ax.set(xlabel="noise of a pixel", ylim=(0, 104))
        ax.axhline(100, color=INK, lw=0.4, zorder=0)
    axes[0].set_ylabel("right answers, %")
