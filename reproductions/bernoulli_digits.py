"""S2's mixtures for any data: binary digits by a mixture of Bernoullis, its samples, and digits without a half."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.neighbors import KNeighborsClassifier

from reproductions.figures import bare, house_style
from reproductions.harness import Outcome
from sidelight import BernoulliMixture
from sidelight.datasets import load_usps

TITLE = "Binary digits by a mixture of Bernoullis"
SOURCE = "S2 (Verbeek, Vlassis, Kröse 2003), section 2: mixtures of other families than Gaussians; no experiment given"
CHARTS, FEWER = 100, (1, 10, 40)
SIDE = 16


def run() -> Outcome:
    digits = load_usps()
    X, test = (np.asarray(digits.X).reshape(-1, SIDE * SIDE) > 0).astype(float), np.asarray(digits.factors["is_test"])
    train, held_out, labels = X[~test], X[test], np.asarray(digits.factors["label"])[~test]
    models = {k: BernoulliMixture(k, residuals=False).fit(train) for k in (*FEWER, CHARTS)}
    model = models[CHARTS]
    samples = model.sample(1000, random_state=0)
    half = np.where(np.arange(SIDE * SIDE) < SIDE * SIDE // 2, held_out, np.nan)
    outcome = Outcome(
        f"7,291 training digits of 16x16 pixels, 1 where there is ink (above 0); {CHARTS} charts, our defaults. "
        "2,007 test digits are never seen by the fit.",
        _draw(held_out, model, samples, half),
        "Test digits; the means of the charts, the heaviest first; samples, whose pixels are drawn independently once "
        "the chart is; and test digits of which the lower half is missing, as the chances of ink that the upper half "
        "gives it.",
    )
    neighbours = KNeighborsClassifier(10).fit(train, labels)
    agreement = {k: _agreement(neighbours, each.sample(1000, random_state=0)) for k, each in models.items()}
    real = _agreement(neighbours, held_out)
    outcome.at_least("samples: share of 10 nearest digits of one class", agreement[CHARTS], round(real, 3), "-")
    outcome.note("the same of test digits", real, "-")
    outcome.note("the same of samples of one chart", agreement[1], "-")
    for k, each in models.items():
        outcome.note(f"log likelihood of a test digit, {k} chart{'s' * (k > 1)} (nats)", each.score(held_out), "-")
    outcome.at_least("lower half told by the upper: pixels right", *_completed(model, train, held_out, half), "-")
    falls = np.diff([-record["objective"] for record in model.history_ if record["stage"] == 0])
    outcome.at_least("smallest gain of an EM step", float(falls.min()), 0.0, "EM never falls")
    outcome.notes.append(
        f"The Bayesian information criterion would take fewer charts: {_criteria(models, train)}. It counts every "
        "pixel of every chart as a parameter, while the likelihood of test digits still rises."
    )
    outcome.details.update(
        agreement={str(k): value for k, value in agreement.items()}, bar_of_half="mean of each pixel"
    )
    return outcome


def _agreement(neighbours: KNeighborsClassifier, rows: Any) -> float:
    """How much the nearest digits of a row are of one class, on average: 1 where all ten are."""
    return float(neighbours.predict_proba(rows).max(axis=1).mean())


def _completed(model: BernoulliMixture, train: Any, held_out: Any, half: Any) -> tuple[float, float]:
    """Missing pixels that are told right, by the mixture and by the mean of each pixel."""
    missing = np.isnan(half)
    plain = np.broadcast_to(train.mean(axis=0) > 0.5, held_out.shape)
    right = [(filled == held_out)[missing].mean() for filled in (model.impute(half), plain)]
    return float(right[0]), round(float(right[1]), 3)


def _criteria(models: dict[int, BernoulliMixture], train: Any) -> str:
    return ", ".join(f"{model.bic(train):,.0f} at {k}" for k, model in models.items())


def _draw(held_out: Any, model: BernoulliMixture, samples: Any, half: Any) -> Any:
    heaviest = np.argsort(-model.weights_, kind="stable")[:64]
    chosen = np.linspace(0, len(half) - 1, 64).astype(int)
    half_seen = np.where(np.isnan(half), model.denoise(half), half)
    panels = {
        "test digits": held_out[chosen],
        "charts": model.means_[heaviest],
        "samples": samples[:64],
        "lower half missing": half_seen[chosen],
    }
    with house_style() as plt:
        figure, axes = plt.subplots(1, 4, figsize=(9.6, 2.7))
        for ax, (title, rows) in zip(axes, panels.items(), strict=True):
            bare(ax, title).imshow(_tiled(rows), cmap="Greys", vmin=0, vmax=1, interpolation="nearest")
        return figure


def _tiled(rows: Any) -> Any:
    """64 pictures as one of eight by eight, with a margin of light grey."""
    tiles = np.pad(rows.reshape(8, 8, SIDE, SIDE), ((0, 0), (0, 0), (1, 1), (1, 1)), constant_values=0.12)
    return tiles.transpose(0, 2, 1, 3).reshape(8 * (SIDE + 2), 8 * (SIDE + 2))
