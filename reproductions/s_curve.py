"""S0 fig. 3.1: an S-shaped sheet flattened, with the axes aligned by a fourth-power penalty, from ten random starts."""

from __future__ import annotations

from typing import Any

import numpy as np

from reproductions.figures import COLOURS, bare, house_style
from reproductions.harness import Outcome
from sidelight import Annealing, KernelInformationEmbedding
from sidelight.datasets import s_curve
from sidelight.evaluate import sheet_correlation, trustworthiness

TITLE = "S-curve"
SOURCE = "S0 (Memisevic 2007), section 3.1.2, fig. 3.1"
N, SEEDS, STEPS = 2000, 10, 20
BANDWIDTHS, NARROW = (1.0, 3.0, 30.0, 100.0), (1.0, 3.0)
FLAT, EARLY = 0.9, 0.8
ALIKE = "largest difference between two starts, relative to the spread, up to 90° turns and mirrors"


def run() -> Outcome:
    data = s_curve(N, random_state=0)
    models = [_as_published(seed).fit(data.X) for seed in range(SEEDS)]
    curves = np.array([[_affine_fit(Z, data) for Z in model.path_] for model in models])  # seeds, stages, coordinates
    drawn = [s_curve(N, random_state=seed) for seed in range(SEEDS)]
    ours = [KernelInformationEmbedding(random_state=seed).fit_transform(drawn[seed].X) for seed in range(SEEDS)]
    ends = curves[:, -1]
    flat = np.flatnonzero(ends.min(axis=1) >= FLAT)
    shown = {"source's setting": models[flat[0]].embedding_, "our defaults": ours[0]}
    if len(flat) < SEEDS:
        shown["source's setting, worst start"] = models[int(ends.min(axis=1).argmin())].embedding_
    outcome = Outcome(
        "2,000 points, h = 10, fourth-power penalty, λ from 0.1 by 0.8, 20 steps, ten small random starts. The source "
        "does not give the size of the sheet: ours is that of the paper on locally linear embedding (2 × 5 × 4).",
        _draw(data, shown, models[0].regularization_path_, curves),
        "The sheet, its flattening with the source's setting and with our defaults (coloured by arc length), and how "
        "well an affine map of the plane gives each sheet coordinate along the path, a line for each of ten starts "
        "(lines on top of one another).",
    )
    outcome.at_least(f"starts of ten with both affine R² ≥ {FLAT}", len(flat), SEEDS, "10; looks alike ten times")
    outcome.note("affine R² of arc length, worst of these", ends[flat, 0].min())
    outcome.note("affine R² of height, worst of these", ends[flat, 1].min())
    first, *others = (models[k].embedding_ for k in flat)
    alike = max(_difference(first, other) for other in others)
    outcome.at_most(f"{ALIKE}, of these", alike, 0.05, '"no noticeable difference"')
    what = "affine R², the worse of both coordinates, worst of ten starts"
    outcome.note(what, ends.min(), "not given; looks alike ten times")
    for h in BANDWIDTHS:
        found = min(_affine_fit(_as_published(int(flat[0]), h).fit(data.X).embedding_, data))
        outcome.note(f"h = {h:g}: affine R², the worse of both", found, '"without significant differences"')
    for h in NARROW:
        what = f"h = {h:g}: starts of ten with both affine R² ≥ {EARLY} at the first λ"
        outcome.note(what, _flat_starts(data, h), '"without significant differences"')
    outcome.notes.append(
        "A start that fails is in a local optimum from the first λ on: the sheet is twisted, with its height the "
        "other way round in one half. With 1,000 points all ten starts end in the same map, and with 2,000 points "
        "14 more starts did (by hand, first λ only). Other bandwidths are run from the first start that is flat with "
        "h = 10."
    )
    _add_defaults(outcome, drawn, ours)
    outcome.details.update(affine_r2=ends.tolist())
    return outcome


def _flat_starts(data: Any, bandwidth: float) -> int:
    """How many of ten starts are not twisted at the first λ, where a twist is made and from where it stays."""
    maps = [_as_published(seed, bandwidth, steps=1).fit(data.X).embedding_ for seed in range(SEEDS)]
    return sum(min(_affine_fit(Z, data)) >= EARLY for Z in maps)


def _as_published(seed: int, bandwidth: float = 10.0, steps: int = STEPS) -> KernelInformationEmbedding:
    return KernelInformationEmbedding(
        2,
        bandwidth=bandwidth,
        penalty="l4",
        regularization=Annealing(0.1 * 0.8 ** (steps - 1), start=0.1, decay=0.8),
        init="random",
        random_state=seed,
    )


def _affine_fit(Z: Any, data: Any) -> list[float]:
    """R² of arc length and height as affine functions of the latent plane."""
    A = np.column_stack([Z, np.ones(len(Z))])
    truth = np.column_stack([data.factors["arc"], data.factors["height"]])
    residual = truth - A @ np.linalg.lstsq(A, truth, rcond=None)[0]
    return list(1 - (residual**2).sum(axis=0) / ((truth - truth.mean(axis=0)) ** 2).sum(axis=0))


def _difference(Z: Any, other: Any) -> float:
    """The smallest relative distance of two embeddings over the eight symmetries of a square."""
    turned = [side * np.array([sx, sy]) for side in (other, other[:, ::-1]) for sx in (1, -1) for sy in (1, -1)]
    return float(min(np.linalg.norm(Z - W) for W in turned) / np.linalg.norm(Z))


def _add_defaults(outcome: Outcome, drawn: list[Any], ours: list[Any]) -> None:
    pairs = list(zip(drawn, ours, strict=True))
    sheet = [sheet_correlation(Z, data.factors) for data, Z in pairs]
    trust = [trustworthiness(data.X, Z, n_neighbors=12) for data, Z in pairs]
    outcome.at_least("our defaults: sheet correlation, worst of ten draws", min(sheet), 0.9, "-")
    outcome.at_least("our defaults: trustworthiness, worst of ten draws", min(trust), 0.995, "-")
    outcome.details.update(default_sheet_correlation=sheet, default_trustworthiness=trust)


def _draw(data: Any, shown: dict[str, Any], schedule: Any, curves: Any) -> Any:
    columns = len(shown) + 2
    with house_style() as plt:
        figure = plt.figure(figsize=(2.4 * columns, 2.7))
        solid = figure.add_subplot(1, columns, 1, projection="3d")
        colour = {"c": data.factors["arc"], "cmap": "viridis", "s": 5, "linewidths": 0}
        solid.scatter(data.X[:, 0], data.X[:, 1], data.X[:, 2], **colour)
        solid.set(xticks=[], yticks=[], zticks=[], title="data")
        solid.view_init(18, -72)
        solid.set_box_aspect(np.ptp(data.X, axis=0), zoom=1.25)
        for place, (title, Z) in enumerate(shown.items(), start=2):
            ax = bare(figure.add_subplot(1, columns, place), title)
            ax.scatter(Z[:, 0], Z[:, 1], **colour)
        _draw_curves(figure.add_subplot(1, columns, columns), schedule, curves)
        return figure


def _draw_curves(ax: Any, schedule: Any, curves: Any) -> None:
    for k, name in enumerate(("arc length", "height")):
        for seed, curve in enumerate(curves[:, :, k]):
            ax.semilogx(schedule, curve, color=COLOURS[k], lw=0.8, alpha=0.6, label=None if seed else name)
    ax.axhline(0.9, color="0.6", lw=0.6, ls=":")
    ax.invert_xaxis()
    ax.set(xlabel="λ along the path", title="affine R², ten random starts", ylim=(-0.02, 1.02))
    ax.legend(loc="lower right")
