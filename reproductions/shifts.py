"""S0 section 5.2.4, figs. 5.2 and 5.3: shifts of random binary pictures, whole or halves on their own."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.decomposition import PCA
from sklearn.metrics import average_precision_score

from reproductions.figures import COLOURS, GREY, bare, house_style
from reproductions.harness import Outcome
from sidelight.datasets import load_olivetti
from sidelight.gated import GatedBoltzmannMachine

TITLE = "Shifts: flow from pairs, and the same shift for other pictures"
SOURCE = "S0 (Memisevic 2007), section 5.2.4, figs. 5.2 and 5.3"
SIDE, DENSITY, BATCH, HELD_OUT = 10, 0.1, 100, 500
SEEDS = tuple(range(5))
SETTINGS: dict[str, Any] = {"learning_rate": 0.01, "weight_decay": 0.0, "batch_size": BATCH, "max_iter": 3000}
STEPS = {
    9: np.array([(down, right) for down in (-1, 0, 1) for right in (-1, 0, 1)]),
    5: np.array([(0, 0), (0, 1), (0, -1), (1, 0), (-1, 0)]),
}


@dataclass(frozen=True)
class Shifts:
    """Pairs of pictures, moved as a whole in 9 ways, or each half on its own in 5."""

    n_mapping: int
    halves: int
    n_steps: int

    def steps(self, n: int, rng: Any) -> Any:
        """Steps down and to the right (n, SIDE, 2) of the rows of pictures."""
        chosen = STEPS[self.n_steps][rng.integers(self.n_steps, size=(n, self.halves))]
        return np.repeat(chosen, SIDE // self.halves, axis=1)

    def moved(self, pictures: Any, steps: Any, rng: Any) -> Any:
        """Pictures after the steps; what comes in at an edge is random."""
        n, part = len(pictures), SIDE // self.halves
        wide = random_pictures(n * self.halves, rng, part + 2, SIDE + 2)
        wide[:, 1:-1, 1:-1] = pictures.reshape(-1, part, SIDE)
        down, right = np.moveaxis(steps[:, ::part].reshape(-1, 2), 1, 0)
        rows = (1 + np.arange(part) - down[:, None])[:, :, None]
        columns = (1 + np.arange(SIDE) - right[:, None])[:, None, :]
        return wide[np.arange(len(wide))[:, None, None], rows, columns].reshape(n, SIDE, SIDE)

    def known(self, steps: Any) -> Any:
        """Pixels (n, SIDE, SIDE) of an output that came from inside the picture, or its half."""
        part = SIDE // self.halves
        row, column = np.arange(SIDE), np.arange(SIDE)
        begin = row % part - steps[..., 0]
        across = column - steps[..., 1, None]
        return ((begin >= 0) & (begin < part))[:, :, None] & (across >= 0) & (across < SIDE)

    def interior(self) -> Any:
        """Pixels (SIDE, SIDE) that no step can take out of the picture, or its half."""
        part = SIDE // self.halves
        row, column = np.arange(SIDE) % part, np.arange(SIDE)
        return ((row > 0) & (row < part - 1))[:, None] & (column > 0) & (column < SIDE - 1)

    def batches(self, rng: Any) -> Callable[[], Any]:
        """A function that makes pairs."""

        def make() -> Any:
            before = random_pictures(BATCH, rng)
            return flat(before), flat(self.moved(before, self.steps(BATCH, rng), rng))

        return make


@dataclass(frozen=True)
class Trial:
    """A fitted model on held-out pairs."""

    flow: float
    precision: float
    precision_interior: float
    seconds: float
    model: Any


def random_pictures(n: int, rng: Any, height: int = SIDE, width: int = SIDE) -> Any:
    return (rng.random((n, height, width)) < DENSITY).astype(np.float32)


def flat(pictures: Any) -> Any:
    return pictures.reshape(len(pictures), -1)


def trial(shifts: Shifts, seed: int) -> Trial:
    """Train on pairs made on the fly; measure on pairs of another generator."""
    began = time.process_time()
    model = GatedBoltzmannMachine(shifts.n_mapping, visible="binary", random_state=seed, **SETTINGS)
    model.fit_batches(shifts.batches(np.random.default_rng(seed)))
    return measured(shifts, model, time.process_time() - began)


def measured(shifts: Shifts, model: Any, seconds: float = 0.0) -> Trial:
    """Flow and transfer of a fitted model on held-out pairs."""
    before, after, steps, others = held_out(shifts)
    arrows = model.flow(flat(before), flat(after), shape=(SIDE, SIDE))
    right = (arrows == steps[:, :, None, :]).all(axis=3)[:, shifts.interior()].mean()
    moved = model.transfer(flat(before), flat(after), flat(others)).reshape(others.shape)
    truth = shifts.moved(others, steps, np.random.default_rng(0))
    known = shifts.known(steps)
    inside = np.broadcast_to(shifts.interior(), known.shape)
    precision = [average_precision_score(truth[where], moved[where]) for where in (known, inside)]
    return Trial(float(right), precision[0], precision[1], seconds, model)


def held_out(shifts: Shifts) -> tuple[Any, Any, Any, Any]:
    """Pairs that no training saw, their steps, and other pictures."""
    rng = np.random.default_rng(999)
    before, steps = random_pictures(HELD_OUT, rng), shifts.steps(HELD_OUT, rng)
    return before, shifts.moved(before, steps, rng), steps, random_pictures(HELD_OUT, rng)


def patches(n: int, rng: Any, faces: Any) -> tuple[Any, Any, Any]:
    """Patches of photographs before and after one of the 9 shifts, and the shifts; edges are real here."""
    steps = STEPS[9][rng.integers(9, size=n)]
    which = rng.integers(len(faces), size=n)
    corner = rng.integers(1, faces.shape[1] - SIDE, size=(2, n))
    grid = np.arange(SIDE)

    def cut(down: Any, right: Any) -> Any:
        rows, columns = (corner[0] - down)[:, None] + grid, (corner[1] - right)[:, None] + grid
        return flat(faces[which[:, None, None], rows[:, :, None], columns[:, None, :]])

    return cut(0, 0), cut(steps[:, 0], steps[:, 1]), steps


def photographs(seed: int) -> dict[str, float]:
    """The same with Gaussian outputs: whitened patches of faces; a shift is transferred to other people's."""
    faces = load_olivetti().X.reshape(400, 64, 64)
    rng, test = np.random.default_rng(seed), np.random.default_rng(999)
    before, after, _ = patches(20_000, rng, faces[:300])
    white = PCA(60, whiten=True, random_state=0).fit(before)
    model = GatedBoltzmannMachine(20, random_state=seed, **SETTINGS)
    model.fit(white.transform(before), white.transform(after))
    before, after, steps = patches(HELD_OUT, test, faces[300:])
    others, _, _ = patches(HELD_OUT, test, faces[300:])
    moved = model.transfer(*(white.transform(part) for part in (before, after, others)))
    moved = white.inverse_transform(moved).reshape(-1, SIDE, SIDE)[:, 1:-1, 1:-1]
    still = others.reshape(-1, SIDE, SIDE)
    grid = np.arange(1, SIDE - 1)
    rows, columns = grid - steps[:, :1], grid - steps[:, 1:]
    truth = still[np.arange(HELD_OUT)[:, None, None], rows[:, :, None], columns[:, None, :]]
    return {"transfer": float(((moved - truth) ** 2).sum() / ((still[:, 1:-1, 1:-1] - truth) ** 2).sum())}


WHOLE, HALVES = Shifts(20, 1, 9), Shifts(10, 2, 5)


def run() -> Outcome:
    whole = [trial(WHOLE, seed) for seed in SEEDS]
    halves = [trial(HALVES, seed) for seed in SEEDS]
    faces = [photographs(seed) for seed in SEEDS]
    outcome = Outcome(
        "Random pictures of 10 × 10 pixels, a tenth of them on; pairs made on the fly, 100 in a batch, "
        "3,000 updates by Adam at 0.01, the source's 20 and 10 mapping units and binary outputs; five seeds, "
        "500 held-out pairs. Whole pictures move one of 9 ways, or top and bottom halves one of 5 ways each.",
        draw_pairs([(WHOLE, whole[0].model), (HALVES, halves[0].model)]),
        "From left to right in each half: input, output, inferred flow (arrows from each interior pixel to where it is "
        "tied most strongly), another picture, and the inferred transformation applied to it (the grey is the "
        "probability that a pixel is on). Left: whole pictures, right: halves. Held-out pairs, first seed.",
    )
    for name, trials, bar in (("shifts", whole, 0.99), ("factorial shifts", halves, 0.97)):
        _compare(outcome, name, trials, bar)
    outcome.note("faces: error of the transfer over that of no transfer, worst", max(f["transfer"] for f in faces), "-")
    outcome.details["trials"] = {
        name: [{k: v for k, v in vars(t).items() if k != "model"} for t in trials]
        for name, trials in (("whole", whole), ("halves", halves))
    }
    outcome.details["faces"] = faces
    outcome.notes += [
        "Flow counts pixels that no shift takes out of the picture (or its half); precision counts all pixels that "
        "come from inside.",
        "Faces: the same 9 shifts of 10 × 10 patches of Olivetti faces, whitened by PCA (60 components), Gaussian "
        "outputs, trained on 30 people and tested on ten others; squared errors of interior pixels.",
    ]
    return outcome


def _compare(outcome: Outcome, name: str, trials: list[Trial], bar: float) -> None:
    outcome.at_least(f"{name}: flow right, worst of five seeds", min(t.flow for t in trials), bar, '"consistently"')
    precision = min(t.precision for t in trials)
    outcome.at_least(f"{name}: average precision of the transferred picture, worst", precision, 0.99)
    outcome.note(f"{name}: the same, interior pixels", min(t.precision_interior for t in trials))
    seconds = max(t.seconds for t in trials)
    outcome.at_most(f"{name}: training, seconds of one core, slowest", seconds, 30, '"a few minutes" (2007)')


def draw_pairs(models: list[tuple[Shifts, Any]], n: int = 6) -> Any:
    """Held-out pairs, the flow inferred from each, and the same done to other pictures: whole pictures, and halves."""
    with house_style() as plt:
        figure, axes = plt.subplots(n, 11, figsize=(9.2, 5.2), width_ratios=[1] * 5 + [0.25] + [1] * 5)
        for ax in axes[:, 5]:
            ax.set_axis_off()
        for (shifts, model), columns in zip(models, (axes[:, :5], axes[:, 6:]), strict=True):
            _draw_half(shifts, model, columns)
        return figure


def _draw_half(shifts: Shifts, model: Any, axes: Any) -> None:
    before, after, _, others = (part[: len(axes)] for part in held_out(shifts))
    arrows = model.flow(flat(before), flat(after), shape=(SIDE, SIDE))
    moved = model.transfer(flat(before), flat(after), flat(others)).reshape(others.shape)
    for row, line in enumerate(axes):
        for ax, picture in zip(line[[0, 1, 3, 4]], (before, after, others, moved), strict=True):
            bare(ax).imshow(picture[row], cmap="gray", vmin=0, vmax=1)
        _draw_arrows(bare(line[2]), arrows[row], shifts.interior())
    for ax, title in zip(axes[0], ("input", "output", "flow", "another", "moved"), strict=True):
        ax.set_title(title)


def _draw_arrows(ax: Any, arrows: Any, interior: Any) -> None:
    down, right = np.nonzero(interior)
    steps = arrows[interior]
    ax.quiver(
        right, down, steps[:, 1], steps[:, 0], angles="xy", scale_units="xy", scale=1.3, color=COLOURS[0], width=0.012
    )
    still = (steps == 0).all(axis=1)
    ax.plot(right[still], down[still], ".", color=GREY, markersize=1.5)
    ax.set(xlim=(-0.5, SIDE - 0.5), ylim=(SIDE - 0.5, -0.5))
