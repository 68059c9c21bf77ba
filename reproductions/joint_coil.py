"""S1 fig. 4: two objects on a turntable, one latent point for each pair of pictures."""

from __future__ import annotations

from typing import Any

import numpy as np

from reproductions.figures import GREY, house_style
from reproductions.harness import Outcome, with_published_map
from sidelight import Annealing, JointInformationEmbedding
from sidelight.datasets import load_coil20

TITLE = "Joint embedding of two objects"
SOURCE = "S1 (Memisevic 2006), section 4, fig. 4"
STEPS, SEEDS, VIEWS = 10, 5, 72


def run() -> Outcome:
    first, second = two_objects()
    published = [_as_published(seed).fit(first, second) for seed in range(SEEDS)]
    ours = JointInformationEmbedding(3).fit(first, second)
    outcome = Outcome(
        "COIL objects 1 and 2, 72 views each at 128 × 128, paired by angle; h = 3e7, 3-D, second-power penalty, λ "
        "from 1 by 0.8, 10 steps, five random starts.",
        _draw(published[0], ours),
        "Left: the joint embedding with the source's objective and setting, every point two pictures, coloured by "
        "angle and joined in its order: one degree of freedom, a closed and curly loop. Middle: our defaults "
        "(alternating kernel). Right: eight points of the left loop, and the two pictures that its forward maps make "
        "of each.",
    )
    errors = [neighbour_angle(model.embedding_) for model in published]
    outcome.at_most(
        "source's setting: angle between a point and its nearest, mean, worst of five starts",
        max(errors),
        5.5,
        "a picture",
    )
    jumps = [_largest_step(model.embedding_) for model in published]
    outcome.at_most(
        "source's setting: largest step of the loop, in median steps, worst of five starts",
        max(jumps),
        4.0,
        "a picture",
    )
    alike = max(_difference(published[0].embedding_, model.embedding_) for model in published[1:])
    outcome.note("source's setting: largest difference of distances between two starts, relative", alike)
    outcome.note("our defaults: angle between a point and its nearest", neighbour_angle(ours.embedding_), "-")
    outcome.note("our defaults: largest step, in median steps", _largest_step(ours.embedding_), "-")
    for name, model in (("source's setting", with_published_map(published[0])), ("our defaults", ours)):
        outcome.note(f"variance that survives there and back, object 1, {name}", model.score(first), "-")
        outcome.note(f"R² of object 2 predicted from object 1, {name}", model.score(first, second), "-")
    outcome.notes.append("5° is the angle between two views, so 5 is perfect. Scores are of training rows.")
    outcome.details.update(neighbour_angle=errors, largest_step=jumps)
    return outcome


def two_objects() -> tuple[Any, Any]:
    """The pictures of objects 1 and 2, in the order of their angles."""
    pictures = load_coil20(128, objects=[0, 1]).X
    return pictures[:VIEWS], pictures[VIEWS:]


def _as_published(seed: int) -> JointInformationEmbedding:
    return JointInformationEmbedding(
        3,
        objective="joint",
        bandwidth=3e7,
        penalty="l2",
        regularization=Annealing(0.8 ** (STEPS - 1), start=1.0, decay=0.8),
        init="random",
        random_state=seed,
    )


def _distances(Z: Any) -> Any:
    return np.linalg.norm(Z[:, None] - Z[None], axis=2)


def neighbour_angle(Z: Any) -> float:
    """Mean angle, in degrees, between a view and the view of the nearest latent point."""
    D = _distances(Z)
    np.fill_diagonal(D, np.inf)
    apart = np.abs(D.argmin(axis=1) - np.arange(len(Z)))
    return float(360 / len(Z) * np.minimum(apart, len(Z) - apart).mean())


def _largest_step(Z: Any) -> float:
    steps = np.linalg.norm(Z - np.roll(Z, 1, axis=0), axis=1)
    return float(steps.max() / np.median(steps))


def _difference(Z: Any, other: Any) -> float:
    """How far the distances of two embeddings differ at most, in units of their root mean square."""
    D, E = _distances(Z), _distances(other)
    return float(np.abs(D - E).max() / np.sqrt((D**2).mean()))


def _draw(published: Any, ours: Any) -> Any:
    with house_style() as plt:
        figure = plt.figure(figsize=(9.6, 3.2))
        left, right = figure.subfigures(1, 2, width_ratios=(2, 1.25))
        for place, (name, model) in enumerate({"source's setting": published, "our defaults": ours}.items()):
            _loop(left.add_subplot(1, 2, place + 1, projection="3d"), model.embedding_, name)
        chosen = np.arange(0, VIEWS, VIEWS // 8)
        axes = right.subplots(4, 4)
        for block, rows in enumerate((chosen[:4], chosen[4:])):
            for view in (0, 1):
                made = published.inverse_transform_view(published.embedding_[rows], view)
                for ax, row, picture in zip(axes[2 * block + view], rows, made, strict=True):
                    ax.imshow(picture.reshape(128, 128), cmap="gray", vmin=0, vmax=255)
                    ax.set(xticks=[], yticks=[])
                    if view == 0:
                        ax.set_title(f"{5 * row}°", fontsize=6.5, pad=2)
        right.suptitle("forward maps: object 1 above object 2", fontsize=8.5)
        return figure


def _loop(ax: Any, Z: Any, title: str) -> None:
    axes = np.linalg.svd(Z - Z.mean(axis=0), full_matrices=False)[2]
    P = (Z - Z.mean(axis=0)) @ axes.T
    closed = np.concatenate([P, P[:1]])
    ax.plot(*closed.T, color=GREY, linewidth=0.6)
    ax.scatter(*P.T, c=np.arange(len(P)), cmap="twilight_shifted", s=14, depthshade=False, edgecolors="none")
    ax.set(xticklabels=[], yticklabels=[], zticklabels=[])
    ax.set_title(title)
    ax.view_init(elev=28, azim=-60)
    ax.set_box_aspect(np.maximum(np.ptp(P, axis=0), 0.3 * np.ptp(P, axis=0).max()), zoom=1.15)
