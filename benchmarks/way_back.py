"""The way back from multilevel maps: a bandwidth for each row beside one bandwidth for all.

A fifth of the rows is held out, mapped and mapped back. The number is the share of their variance that survives,
1 - |Y - X|² / |X - mean|² with Y = ``inverse_transform(transform(X))``. Both ways back are of the same fit. The sets
are others than those the rule was chosen on (decision 0047); the annealed solver stands beside up to 2,000 rows.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks.family_sets import data_file
from benchmarks.harness import Report
from benchmarks.made_pictures import garment_pictures, gene_counts, vowel_spectra
from sidelight import KernelInformationEmbedding
from sidelight.maps.weights import FixedWeights

TITLE = "the way back from multilevel maps: a bandwidth for each row, and one for all"
RIVALS: tuple[str, ...] = ()
_ANNEALED = 2_000  # rows up to which the annealed solver stands beside


def run(*, quick: bool) -> Report:
    """Shares of both ways back on each set, for a plane and ten dimensions."""
    report = Report()
    for name, load in list(_SETS.items())[: 1 if quick else None]:
        X = load()
        for q in (2,) if quick else (2, 10):
            for who, share in _shares(X, q).items():
                report.note(f"{name}, {len(X):,} rows, {q} dimensions: {who}", share)
                print(f"  {name}, {q}: {who} {share:.3f}", flush=True)
    return report


def _shares(X: Any, q: int) -> dict[str, float]:
    order = np.random.default_rng(0).permutation(len(X))
    held, seen = X[order[: len(X) // 5]], X[order[len(X) // 5 :]]
    spread = float(((held - seen.mean(axis=0)) ** 2).sum())

    def share(back: Any) -> float:
        return 1.0 - float(((back - held) ** 2).sum()) / spread

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = KernelInformationEmbedding(q, solver="multilevel", n_jobs=2).fit(seen)
        maps, places = model._informed_maps().plain, model.transform(held)
        assert maps.forward is not None
        one = replace(maps.forward, weights=FixedWeights(model.embedding_.astype(float), 1.0, model.latent_kernel_))
        found = {
            "a bandwidth for each row": share(model.inverse_transform(places)),
            "one bandwidth": share(maps.frame.outside(one(places))),
        }
        if q == 2 and len(seen) <= _ANNEALED:
            other = KernelInformationEmbedding(q, solver="annealed", n_jobs=2).fit(seen)
            found["annealed"] = share(other.inverse_transform(other.transform(held)))
    return found


def _pictures(*parts: str) -> Any:
    X = np.asarray(data_file(*parts)["data"], dtype=float)
    return X.reshape(len(X), -1) / X.max()


_SETS: dict[str, Callable[[], Any]] = {
    "Isomap faces": lambda: _pictures("isomap_faces", "isomap_faces_32.npz"),
    "Olivetti faces": lambda: _pictures("olivetti", "olivetti.npz"),
    "Yale B": lambda: _pictures("yaleb", "yaleb_32.npz"),
    "silhouettes": lambda: np.asarray(
        data_file("pose_silhouette", "ankur_pose_silhouette.npz")["silhouette"], dtype=float
    ),
    "walking and jogging": lambda: np.asarray(
        data_file("cmu_mocap", "cmu35_walkjog_30hz.npz")["data"][:, 3:], dtype=float
    ),
    "made garments": lambda: garment_pictures(6000, 0)[0],
    "made vowels": lambda: vowel_spectra(500, 0)[0],
    "made genes": lambda: gene_counts(3000, 0)[0],
}
