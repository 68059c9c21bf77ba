"""Whether ``overlap`` tells counterfactuals that rest on data from extrapolations: penguins of three islands.

Rows made from the published means and standard deviations of the species (bill length and depth, flipper length, body
mass; correlation 0.5), with the published numbers of each species on each island. Adelies live on all three islands,
Gentoos and Chinstraps on one each. Of rows of each species, as if on each island: the median of ``overlap`` and the
share below 0.01, mean over five draws. Bar: ``counterfactual`` warns (more than a tenth of the rows are below 0.01) in
every draw where the species does not live, and in none where it does.

And the measured penguins (``table_files/penguins.csv``), standardised: the species of ten neighbours with and without
the island given (bar: 0.9), and the mean body mass of Adelies of the other islands as if on an island, beside that of
the Adelies there (bar: within 150 g; the group means of Biscoe and Dream differ by 1,000 g).
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness import Report
from sidelight import KernelInformationEmbedding
from sidelight.evaluate import neighbour_hit
from sidelight.maps.overlap import UNUSUAL, extrapolates

TITLE = "overlap of counterfactuals that are and are not extrapolations: penguins given the island"
RIVALS: tuple[str, ...] = ()
SPECIES = {
    "Adelie": ([38.8, 18.35, 190.0, 3700.0], [2.66, 1.22, 6.5, 459.0]),
    "Gentoo": ([47.5, 15.0, 217.2, 5076.0], [3.1, 0.98, 6.5, 504.0]),
    "Chinstrap": ([48.8, 18.4, 195.8, 3733.0], [3.3, 1.14, 7.1, 384.0]),
}
HABITATS = (
    ("Adelie", "Biscoe", 44),
    ("Adelie", "Dream", 56),
    ("Adelie", "Torgersen", 52),
    ("Gentoo", "Biscoe", 124),
    ("Chinstrap", "Dream", 68),
)
_DRAWS = 5
_MEASURES = ("bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g")
_KEPT, _NEAR = 0.9, 150.0


def run(*, quick: bool) -> Report:
    report = Report()
    found: dict[tuple[str, str], list[tuple[float, float, bool]]] = {}
    confounded = []
    for seed in range(1 if quick else _DRAWS):
        X, kind, island = penguins(seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = KernelInformationEmbedding().fit(X, given=island)
        confounded.append(float(model.confounded_))
        for species, place in _asked():
            share = model.overlap(X[kind == species], given=place)
            below = float((share < UNUSUAL).mean())
            found.setdefault((species, place), []).append((float(np.median(share)), below, extrapolates(share)))
    report.at_least("share of the draws in which the model says that it is confounded", np.mean(confounded), 1.0)
    lives = {(species, place) for species, place, _ in HABITATS}
    for (species, place), each in found.items():
        median, below, _ = np.mean(each, axis=0)
        home = (species, place) in lives
        label = f"{species} as on {place} ({'lives' if home else 'does not live'} there)"
        report.note(f"{label}: median overlap", median)
        report.note(f"{label}: share below {UNUSUAL}", below)
        right = np.mean([warns != home for _, _, warns in each])
        report.at_least(f"{label}: draws in which the warning is right", right, 1.0)
    report.details["draws"] = {f"{species}, {place}": each for (species, place), each in found.items()}
    _measured_penguins(report)
    return report


def _measured_penguins(report: Report) -> None:
    """Species kept, and Adelies as if on another island, of the penguins that were measured."""
    import pandas as pd

    table = pd.read_csv(Path(__file__).parent / "table_files" / "penguins.csv").dropna(subset=list(_MEASURES))
    rows = table[list(_MEASURES)].to_numpy(dtype=float)
    kind, island = table["species"].to_numpy(), table["island"].to_numpy()
    X = (rows - rows.mean(axis=0)) / rows.std(axis=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plain = KernelInformationEmbedding().fit(X)
        model = KernelInformationEmbedding().fit(X, given=island)
        report.note("measured penguins: species by ten neighbours, nothing given", _hit(plain, kind))
        report.at_least("measured penguins: species by ten neighbours, given the island", _hit(model, kind), _KEPT)
        for place in ("Biscoe", "Dream", "Torgersen"):
            others = (kind == "Adelie") & (island != place)
            moved = model.counterfactual(X[others], given=place)[:, -1] * rows[:, -1].std() + rows[:, -1].mean()
            there = float(rows[(kind == "Adelie") & (island == place), -1].mean())
            label = f"measured penguins: mean body mass of other Adelies as on {place}, g (there: {there:.0f})"
            report.note(label, float(moved.mean()))
            report.at_most(f"{label}: difference", abs(float(moved.mean()) - there), _NEAR)


def _hit(model: Any, kind: Any) -> float:
    return float(neighbour_hit(model.embedding_, kind, n_neighbors=10))


def _asked() -> list[tuple[str, str]]:
    """Species and island, but for a species on the only island where it lives."""
    return [
        (species, place)
        for species in SPECIES
        for place in ("Biscoe", "Dream", "Torgersen")
        if species == "Adelie" or (species, place) not in {(s, p) for s, p, _ in HABITATS}
    ]


def penguins(seed: int) -> tuple[Any, Any, Any]:
    """Standardised rows (344, 4), species and island."""
    rng = np.random.default_rng(seed)
    alike = np.linalg.cholesky(0.5 * np.ones((4, 4)) + 0.5 * np.eye(4))
    X = np.vstack(
        [np.array(SPECIES[kind][0]) + (rng.normal(size=(n, 4)) @ alike.T) * SPECIES[kind][1] for kind, _, n in HABITATS]
    )
    kind, island = (np.concatenate([[place[k]] * place[2] for place in HABITATS]) for k in (0, 1))
    return (X - X.mean(axis=0)) / X.std(axis=0), kind, island
