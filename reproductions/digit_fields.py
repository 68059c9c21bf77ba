"""S0 section 5.4.2, figs. 5.7 and 5.8: nearest digits by a learned distance, and a transformation field of digits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from reproductions.figures import COLOURS, bare, house_style
from reproductions.harness import Outcome
from reproductions.usps_distance import SHAPE, Digits, copies, digits, euclidean, neighbours
from sidelight import plot
from sidelight.gated import GatedBoltzmannMachine

TITLE = "Nearest digits by a learned distance, and a transformation field of digits"
SOURCE = "S0 (Memisevic 2007), section 5.4.2, figs. 5.7 and 5.8"
SETTINGS: dict[str, Any] = {"visible": "binary", "weight_decay": 0.01, "max_iter": 1000, "random_state": 0}
CHOSEN = 500  # digits on whose copies the settings were chosen; they are not among the queries
TEMPLATES = 300
EDGE = 2  # pixels
SHOWN = 3


@dataclass(frozen=True)
class Trial:
    """Originals, a copy of each, templates among the originals, and copies of digits that were never trained on."""

    originals: Digits
    transformed: Any
    templates: Digits
    queries: Digits

    @classmethod
    def made(cls) -> Trial:
        """Sets A and B of ``usps_distance``; 300 random originals; 1,500 queries."""
        originals, others = digits(0)
        rng = np.random.default_rng((0, 1))
        transformed = copies(originals.X, rng)
        templates = originals[rng.permutation(len(originals.X))[:TEMPLATES]]
        rest = others[rng.permutation(len(others.X))[CHOSEN:]]
        return cls(originals, transformed, templates, Digits(copies(rest.X, rng), rest.labels))

    def near(self, distance: Any) -> Any:
        """The five nearest templates of each query."""
        return neighbours(distance, self.templates.X, self.queries.X, k=5)

    def hits(self, near: Any) -> tuple[float, float]:
        """Share of right classes among the five nearest, and of queries whose nearest has the wrong one."""
        right = self.templates.labels[near] == self.queries.labels[:, None]
        return float(right.mean()), float(1 - right[:, 0].mean())


@dataclass(frozen=True)
class Learned:
    """The distance of a machine on pixels; ``output``: what a transformed template is."""

    model: Any
    output: str

    def __call__(self, templates: Any, queries: Any) -> Any:
        rows = (part.astype(np.float32) for part in (templates, queries))
        return self.model.distance(*rows, output=self.output)


def premapped(trial: Trial) -> Any:
    """30 mapping units, and a linear premapping of pixels to 30 features that is trained with the rest (fig. 5.7)."""
    return GatedBoltzmannMachine(30, premapping=30, **SETTINGS).fit(trial.originals.X, trial.transformed)


def of_pixels(trial: Trial) -> Any:
    """50 mapping units on raw pixels (fig. 5.8)."""
    options = {**SETTINGS, "max_iter": 500}
    return GatedBoltzmannMachine(50, **options).fit(trial.originals.X, trial.transformed)


def edge_pixels() -> Any:
    """Which of the 256 pixels lie at most two from the edge."""
    inner = np.zeros(SHAPE, dtype=bool)
    inner[EDGE:-EDGE, EDGE:-EDGE] = True
    return ~inner.ravel()


def edge_share(W: Any) -> tuple[float, float]:
    """Mean squared weight of two edge pixels, and of an edge and an inner one, over that of two inner ones."""
    squares, edge = (W**2).sum(axis=2), edge_pixels()
    inner = squares[~edge][:, ~edge].mean()
    half = (squares[edge][:, ~edge].mean() + squares[~edge][:, edge].mean()) / 2
    return float(squares[edge][:, edge].mean() / inner), float(half / inner)


def run() -> Outcome:
    trial = Trial.made()
    model = premapped(trial)
    near = {
        "arg max": trial.near(Learned(model, "mode")),
        "means": trial.near(Learned(model, "mean")),
        "Euclidean": trial.near(euclidean),
    }
    hits = {name: trial.hits(found) for name, found in near.items()}
    pixels = of_pixels(trial)
    shares = edge_share(np.asarray(pixels.parameters_["gated.weights"], dtype=np.float64))
    outcome = Outcome(SETTING, _draw(trial, near, pixels), CAPTION)
    bar = hits["Euclidean"][0]
    what = "right classes among the five nearest of 300"
    outcome.at_least(f"source's setting (arg max of outputs): {what}", hits["arg max"][0], bar, "clearly better")
    outcome.at_least(f"ours (means of outputs): {what}", hits["means"][0], bar)
    outcome.note(f"Euclidean: {what}", bar)
    for name, (_, wrong) in hits.items():
        outcome.note(f"{name}: error of the nearest", wrong)
    outcome.at_most("fig. 5.8: squared weight between edge pixels over that of inner ones", shares[0], 0.5, "small")
    outcome.note("the same between an edge pixel and an inner one", shares[1])
    outcome.details.update(hits=hits, shares=shares)
    outcome.notes += NOTES
    return outcome


SETTING = (
    "5,000 USPS digits and an affine copy of each, as in usps_distance. Fig. 5.7: 30 mapping units, a linear "
    "premapping of 256 pixels to 30 features trained with the rest; queries are copies of 1,500 digits that were "
    "never seen, templates 300 random originals. Fig. 5.8: 50 mapping units on raw pixels."
)
CAPTION = (
    "Left: queries (first column), and their five nearest of 300 originals: by the learned distance with the arg "
    "max of outputs, as fig. 5.7 (first row of three), with means of outputs (second), and by the Euclidean "
    "distance (third); a wrong class has an orange frame. Right: weights of the strongest mapping unit, as fig. "
    "5.8: a cell for each second input pixel, which shows its weights to all output pixels."
)
NOTES = [
    "Holds: the learned distance finds more digits of the query's class. For binary outputs the arg max of the "
    "source is worse than their means, which are the default of distance: pixels are grey, and an arg max is black "
    "or white.",
    "The source gives neither the unit type nor the training: outputs are binary here (pixels from 0 to 1), 1,000 "
    "updates of Adam (500 on raw pixels). Weight decay and rate were chosen on copies of 500 other digits among "
    "2,000 templates, errors of the nearest: Adam 0.01 with 0.01 15.8 %, 0.003 with 0.001 18.8 %; plain gradient "
    "0.01 with 0.01 17.0 %, with 0.1 33.6 %; Gaussian outputs, plain gradient 0.003 with 0.01 16.8 %; Euclidean "
    "38.6 %.",
]


def _draw(trial: Trial, near: Any, pixels: Any) -> Any:
    with house_style() as plt:
        figure = plt.figure(figsize=(9.4, 4.6))
        left, right = figure.subfigures(1, 2, width_ratios=[1, 1.05])
        _draw_neighbours(trial, near, left.subplots(3 * SHOWN, 6))
        W = np.asarray(pixels.parameters_["gated.weights"])
        unit = int((W**2).sum(axis=(0, 1)).argmax())
        plot.filter_field(pixels, unit=unit, image_shape=SHAPE, step=2, title="", ax=right.subplots())
        return figure


def _draw_neighbours(trial: Trial, near: Any, axes: Any) -> None:
    for row, name in enumerate(("arg max", "means", "Euclidean")):
        for query in range(SHOWN):
            line = axes[3 * query + row]
            bare(line[0]).imshow(trial.queries.X[query].reshape(SHAPE), cmap="gray_r", vmin=0, vmax=1)
            line[0].set_visible(row == 0)
            for ax, template in zip(line[1:], near[name][query], strict=True):
                bare(ax).imshow(trial.templates.X[template].reshape(SHAPE), cmap="gray_r", vmin=0, vmax=1)
                if trial.templates.labels[template] != trial.queries.labels[query]:
                    ax.spines[:].set(color=COLOURS[1], linewidth=1.5)
