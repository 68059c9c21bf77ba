"""Whether ``overlap`` tells counterfactuals that rest on data from extrapolations: penguins of three islands.

Rows made from the published means and standard deviations of the species (bill length and depth, flipper length, body
mass; correlation 0.5), with the published numbers of each species on each island. Adelies live on all three islands,
Gentoos and Chinstraps on one each. Of rows of each species, as if on each island: the median of ``overlap`` and the
share below 0.01, mean over five draws. Bar: ``counterfactual`` warns (more than a fifth of the rows are below 0.01) in
every draw where the species does not live, and in none where it does.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from benchmarks.harness import Report
from sidelight import KernelInformationEmbedding

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
_UNUSUAL, _TOLERATED = 0.01, 0.2  # as ``counterfactual`` has them


def run(*, quick: bool) -> Report:
    report = Report()
    found: dict[tuple[str, str], list[tuple[float, float]]] = {}
    confounded = []
    for seed in range(1 if quick else _DRAWS):
        X, kind, island = penguins(seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = KernelInformationEmbedding().fit(X, given=island)
        confounded.append(float(model.confounded_))
        for species, place in _asked():
            share = model.overlap(X[kind == species], given=place)
            found.setdefault((species, place), []).append((float(np.median(share)), float((share < _UNUSUAL).mean())))
    report.at_least("share of the draws in which the model says that it is confounded", np.mean(confounded), 1.0)
    lives = {(species, place) for species, place, _ in HABITATS}
    for (species, place), each in found.items():
        median, below = np.mean(each, axis=0)
        home = (species, place) in lives
        label = f"{species} as on {place} ({'lives' if home else 'does not live'} there)"
        report.note(f"{label}: median overlap", median)
        report.note(f"{label}: share below {_UNUSUAL}", below)
        right = np.mean([(share > _TOLERATED) != home for _, share in each])
        report.at_least(f"{label}: draws in which the warning is right", right, 1.0)
    report.details["draws"] = {f"{species}, {place}": each for (species, place), each in found.items()}
    return report


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
