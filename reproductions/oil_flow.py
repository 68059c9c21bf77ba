"""S0 fig. 3.3: oil flow by principal components, and by kernel information embedding early and late on its path."""

from __future__ import annotations

from typing import Any

from sklearn.decomposition import PCA

from reproductions.figures import COLOURS, bare, grey_density, house_style
from reproductions.harness import Outcome
from sidelight import Annealing, KernelInformationEmbedding
from sidelight.datasets import load_oil_flow
from sidelight.evaluate import neighbour_hit, trustworthiness

TITLE = "Oil flow"
SOURCE = "S0 (Memisevic 2007), section 3.1.5, fig. 3.3"
STEPS, MIDDLE = 50, 15
SEEDS = 3


def run() -> Outcome:
    data = load_oil_flow()
    labels = data.factors["label"]
    paths = [_as_published(seed).fit(data.X) for seed in range(SEEDS)]
    schedule = paths[0].regularization_path_
    maps = {
        "principal components": PCA(2).fit_transform(data.X),
        f"source's setting, λ = {schedule[MIDDLE]:.2g}": paths[0].path_[MIDDLE],
        f"source's setting, λ = {schedule[-1]:.1g}": paths[0].path_[-1],
        "our defaults": KernelInformationEmbedding(random_state=0).fit_transform(data.X),
    }
    hits = {name: neighbour_hit(Z, labels, n_neighbors=1) for name, Z in maps.items()}
    outcome = Outcome(
        "1,000 rows, 12 columns, raw; h = 8.23, second-power penalty, λ from 0.1 by 0.8, 50 steps, random start.",
        _draw(maps, hits, labels),
        "Three kinds of flow in 2-D; the number is how often a row's nearest neighbour on the map is of its own kind. "
        "Grey: the latent density.",
    )
    by_stage = [[neighbour_hit(path.path_[stage], labels, n_neighbors=1) for stage in (MIDDLE, -1)] for path in paths]
    middle, end = zip(*by_stage, strict=True)
    outcome.at_least("1-NN hit at λ = 0.0035, worst of three starts", min(middle), 0.9, '"strong separation" (picture)')
    outcome.at_least("1-NN hit at the end of the path, worst of three", min(end), 0.9, '"strong separation" (picture)')
    narrow = _as_published(0, "loo").fit(data.X)
    outcome.note("bandwidth with the largest leave-one-out likelihood", narrow.bandwidth_, "about 8.23")
    hit = neighbour_hit(narrow.path_[-1], labels, n_neighbors=1)
    outcome.note("1-NN hit at the end of the path with that bandwidth", hit, "-")
    outcome.notes.append(
        "The source calls h = 8.23 the bandwidth with the largest leave-one-out likelihood (eq. 3.20). On these raw "
        "data that one is far smaller. h = 8.23 is run as the source's setting, because its number is what it gives."
    )
    outcome.note("1-NN hit of principal components", hits["principal components"], '"not very well" (picture)')
    outcome.at_least("our defaults: 1-NN hit", hits["our defaults"], 0.98, "-")
    outcome.note("our defaults: trustworthiness", trustworthiness(data.X, maps["our defaults"], n_neighbors=12), "-")
    outcome.details.update(hits_by_start=by_stage, hits=hits)
    return outcome


def _as_published(seed: int, bandwidth: float | str = 8.23) -> KernelInformationEmbedding:
    return KernelInformationEmbedding(
        2,
        bandwidth=bandwidth,
        penalty="l2",
        regularization=Annealing(0.1 * 0.8**STEPS, start=0.1, decay=0.8),
        init="random",
        random_state=seed,
    )


def _draw(maps: dict[str, Any], hits: dict[str, float], labels: Any) -> Any:
    with house_style() as plt:
        figure, axes = plt.subplots(1, len(maps), figsize=(9.6, 2.7))
        for ax, (name, Z) in zip(axes, maps.items(), strict=True):
            bare(ax, name)
            if name != "principal components":
                grey_density(ax, Z)
            for kind, (colour, marker) in enumerate(zip(COLOURS, "o^s", strict=False)):
                chosen = Z[labels == sorted(set(labels))[kind]]
                ax.scatter(chosen[:, 0], chosen[:, 1], s=5, color=colour, marker=marker, linewidths=0, alpha=0.85)
            ax.text(0.02, 0.02, f"{hits[name]:.3f}", transform=ax.transAxes, fontsize=8)
            ax.set(aspect="auto", box_aspect=1)
        return figure
