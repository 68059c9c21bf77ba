"""S0 figs. 3.5 and 3.6: a walk cycle on the latent plane, its unfolding, and missing values filled in by projection."""

from __future__ import annotations

from typing import Any

import numpy as np

from reproductions.figures import house_style
from reproductions.harness import Outcome, with_published_map
from reproductions.walk_figure import draw
from sidelight import Annealing, KernelInformationEmbedding
from sidelight.datasets import load_cmu_walk
from sidelight.evaluate import trustworthiness

TITLE = "Walk cycle: unfolding, and missing values"
SOURCE = "S0 (Memisevic 2007), section 3.1.5, figs. 3.5 and 3.6"
FRAMES, MASKS = 298, 5
OURS = ("our defaults", "ours, a second round", "ours, a third round")


def run() -> Outcome:
    X = load_cmu_walk().X[:FRAMES]
    h = float(np.median(((X[:, None] - X[None]) ** 2).sum(axis=-1)))
    published = as_published(2, 0.05, h, seed=0).fit(X)
    ours = KernelInformationEmbedding(random_state=0).fit(X)
    fills = [_fill_in(X, seed, h) for seed in range(MASKS)]
    with house_style() as plt:
        figure = draw(plt, X, published, ours, fills[0])
    outcome = Outcome(
        "298 frames × 59 channels, raw. The cycle: 2-D, second-power penalty, annealed to λ = 0.05. Missing values: "
        "half of the entries removed at random, filled by the nearest frame of the channel that has one, embedded in "
        "10-D with λ = 0.01, projected by f(g(x)); five random masks. The source does not give h; see the notes.",
        figure,
        "Top: six frames (black) and what the forward map makes of their places on the map (orange). Middle: the map "
        "unfolding as λ falls, with the latent density, and the map by our defaults, where the second step runs beside "
        "the first. Bottom: one channel with half of its entries missing, and the error on "
        "the removed entries of the first of five masks (the table has the mean of the five).",
    )
    _compare_cycle(outcome, X, published, ours)
    _compare_fills(outcome, X, fills)
    outcome.notes += [
        "h of the source's setting is the median squared distance between frames: the leave-one-out rule, which the "
        "source uses elsewhere, picks h = 1.3, far less than the distance between neighbouring frames, and its map "
        "is a ball of dust (and its projection, for the missing values, changes next to nothing).",
        "Frames at 120 Hz are so close that the fill is good already, and frames 86 to 105 have jumps of the left foot "
        "that nothing predicts: about half of the squared error is theirs. Linear "
        "interpolation in time, which knows the order of the frames, is better than any projection here. "
        "More rounds over-smooth and do not help.",
    ]
    return outcome


def as_published(q: int, regularization: float, bandwidth: Any, seed: int) -> KernelInformationEmbedding:
    return KernelInformationEmbedding(
        q,
        bandwidth=bandwidth,
        penalty="l2",
        regularization=Annealing(regularization, start=1.0, decay=0.8),
        init="random",
        random_state=seed,
    )


def nearest_frame(X: Any, missing: Any) -> Any:
    """Each missing entry from the nearest frame that has its channel (the earlier one of two)."""
    filled = X.copy()
    for channel in range(X.shape[1]):
        gaps, known = (np.flatnonzero(missing[:, channel] == is_gap) for is_gap in (True, False))
        filled[gaps, channel] = X[known[np.abs(gaps[:, None] - known).argmin(axis=1)], channel]
    return filled


def linear_in_time(X: Any, missing: Any) -> Any:
    """Each channel interpolated between the frames that have it: what a user would try first."""
    frames = np.arange(len(X))
    columns = [np.interp(frames, frames[~gaps], channel[~gaps]) for channel, gaps in zip(X.T, missing.T, strict=True)]
    return np.column_stack(columns)


def _fill_in(X: Any, seed: int, h: float) -> dict[str, Any]:
    """One mask: the fill, the projections by the source's setting and by ours, and more rounds of ours."""
    missing = np.random.default_rng(seed).random(X.shape) < 0.5
    missing[0, missing.all(axis=0)] = False
    filled = nearest_frame(X, missing)
    found = {"missing": missing, "nearest-frame fill": filled, "linear in time": linear_in_time(X, missing)}
    for name, bandwidth in (("source, h by leave-one-out", "loo"), ("source, h the median", h)):
        model = as_published(10, 0.01, bandwidth, seed).fit(filled)
        found[name] = with_published_map(model).denoise(filled)
    found["ours, perplexity 15"] = KernelInformationEmbedding(10, perplexity=15).fit(filled).denoise(filled)
    for name in OURS:
        found[name] = KernelInformationEmbedding(10).fit(filled).denoise(filled)
        filled = np.where(missing, found[name], X)
    return found


def _compare_cycle(outcome: Outcome, X: Any, published: Any, ours: Any) -> None:
    for name, model in (("source's setting", published), ("our defaults", ours)):
        kept = trustworthiness(X, model.embedding_, n_neighbors=12)
        outcome.at_least(f"the cycle: trustworthiness, {name}", kept, 0.95, "a picture")


def _compare_fills(outcome: Outcome, X: Any, fills: list[dict[str, Any]]) -> None:
    names = [name for name in fills[0] if name != "missing"]
    errors = {name: [error_on_removed(found[name], X, found["missing"]) for found in fills] for name in names}
    means = {name: float(np.mean(values)) for name, values in errors.items()}
    for name in (name for name in names if name.startswith("source")):
        outcome.note(f"missing values: {name}", means[name], "a video")
    what = "missing values: error on the removed entries, our defaults"
    outcome.at_most(what, means[OURS[0]], means["nearest-frame fill"], "a video", name="the fill's")
    for name in names:
        if name != OURS[0] and not name.startswith("source"):
            outcome.note(f"missing values: {name}", means[name])
    rough = {name: float(np.mean([_roughness(found[name]) for found in fills])) for name in (names[0], OURS[0])}
    outcome.note("roughness (second difference, rms) of the walk", _roughness(X))
    outcome.note("roughness after the fill", rough[names[0]])
    outcome.note("roughness after our projection", rough[OURS[0]], '"smoothes", "over-smooths a little"')
    outcome.details.update(errors=errors)


def error_on_removed(found: Any, X: Any, missing: Any) -> float:
    """Root mean square error on the removed entries, in degrees."""
    return float(np.sqrt(((found - X)[missing] ** 2).mean()))


def _roughness(X: Any) -> float:
    return float(np.sqrt((np.diff(X, n=2, axis=0) ** 2).mean()))
