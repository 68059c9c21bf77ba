"""``sidelight demo``: turning objects, from picture to map and back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sidelight.cli._embed import Fitted, Request, fit, write_results
from sidelight.cli._matrix import Matrix
from sidelight.cli._methods import DEFAULT
from sidelight.cli._read import Reading
from sidelight.cli._talk import INTERRUPTED, Talk

__all__ = ["demo"]


def demo(talk: Talk, out: Path, *, n_views: int, settings: dict[str, Any]) -> None:
    """Render the turntable, embed it, go back, measure, and write the report."""
    from sidelight import datasets

    talk.say("Rendering three objects on a turntable ...")
    data = datasets.turntable(n_views)
    factors = {name: np.asarray(values) for name, values in data.factors.items() if name != "object_index"}
    matrix = Matrix(data.X, colours=pd.DataFrame(factors), image_shape=data.image_shape, remarks=[data.description])
    talk.say(f"  {len(data.X)} pictures of {_listed(factors['object'])}, {data.X.shape[1]} pixels each")
    command = f"sidelight demo --out {out}"
    request = Request(Path("turntable"), out, DEFAULT, settings=settings, how=Reading(), force=True, command=command)
    fitted = fit(talk, request, matrix)
    measures = _measures(fitted, factors["object"])
    talk.say("How well does the map keep the pictures? (PCA beside it)")
    talk.table(
        ("measure", "kie", "pca"), [(name, f"{ours:.3f}", f"{pca:.3f}") for name, (ours, pca) in measures.items()]
    )
    write_results(request, fitted)
    _tell(talk, request, fitted, measures)


def _measures(fitted: Fitted, objects: NDArray[Any]) -> dict[str, tuple[float, float]]:
    """Quality of the embedding and of principal components in as many dimensions."""
    from sklearn.decomposition import PCA

    from sidelight import evaluate

    X, model = fitted.matrix.X, fitted.file.model
    pca = PCA(model.embedding_.shape[1]).fit(X)
    linear = pca.transform(X)
    back = 1 - np.square(X - pca.inverse_transform(linear)).sum() / np.square(X - X.mean(axis=0)).sum()
    maps = (model.embedding_, linear)
    trust, hit = (
        tuple(float(evaluate.trustworthiness(X, Z)) for Z in maps),
        tuple(float(evaluate.neighbour_hit(Z, objects)) for Z in maps),
    )
    return {
        "neighbours kept (trustworthiness)": (trust[0], trust[1]),
        "neighbours of the same object": (hit[0], hit[1]),
        "picture recovered from the map (R²)": (float(model.score(X)), float(back)),
    }


def _tell(talk: Talk, request: Request, fitted: Fitted, measures: dict[str, tuple[float, float]]) -> None:
    talk.answer |= {
        **request.results,
        "seconds": fitted.seconds,
        "interrupted": fitted.interrupted,
        "measures": {name: {"kie": ours, "pca": pca} for name, (ours, pca) in measures.items()},
    }
    talk.exit_code = INTERRUPTED if fitted.interrupted else 0
    talk.say(f"Embedded in {fitted.seconds:.1f} s; model and embedding are in {request.out}")
    talk.say(f"Open the report: {request.results['report'].resolve()}", style="bold")


def _listed(objects: NDArray[Any]) -> str:
    return ", ".join(dict.fromkeys(map(str, objects)))
