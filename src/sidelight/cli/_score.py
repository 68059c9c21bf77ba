"""The command ``score``: how well a model describes data."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from sidelight.base.capabilities import capabilities, given_of
from sidelight.base.chain import Chain, name_of
from sidelight.base.model import FittedModel

from ._from_model import in_terms_of
from ._model_file import ModelFile
from ._new_given import refuse_unseen, say_given
from ._output import CommandError, Output
from ._read import Reading
from ._sparse_rows import coordinates

__all__ = ["score"]


def score(talk: Output, model: Path, data: Path, how: Reading, *, missing: str) -> None:
    """Say how well a model describes data: reconstruction, neighbourhoods, density."""
    from sidelight import evaluate
    from sidelight.report._text_sections import measure_notes

    file = ModelFile.open(model)
    offers = capabilities(file.model)
    if offers.makes_outputs:
        what = f"this {name_of(file.model)} is evaluated with its outputs"
        raise CommandError(f"score: {what}; write its report: sidelight report {model} {data} --view-y FILE")
    matrix, X = file.read(data, in_terms_of(file, how), missing)
    say_given(talk, file, there=bool(matrix.side), where=data)
    refuse_unseen(file, matrix, data)
    rows = coordinates(file.filled(X))
    measures: dict[str, float] = {}
    if offers.has_score:
        measures["reconstruction_r2"] = _reconstruction(file.model, X, matrix.side)
    neighbours = min(10, (len(rows) - 1) // 2)
    Z = np.asarray(file.model.transform(X, **matrix.side)) if offers.has_transform else None
    if Z is not None and neighbours:
        measures["trustworthiness"] = float(evaluate.trustworthiness(rows, Z, n_neighbors=neighbours))
        if matrix.side and offers.has_corrected and not matrix.given.isna().any(axis=None):
            rest = np.asarray(coordinates(file.model.corrected(file.filled(X), **matrix.side)))
            measures["trustworthiness_after_given"] = float(evaluate.trustworthiness(rest, Z, n_neighbors=neighbours))
        if isinstance(file.model, Chain):
            near = np.asarray(file.model.rows(X))
            measures["trustworthiness_in_the_metric"] = float(evaluate.trustworthiness(near, Z, n_neighbors=neighbours))
    if offers.has_density:
        measures["mean_log_density"] = float(np.mean(file.model.score_samples(X)))
    notes = measure_notes(informed=given_of(file.model) is not None, after_a_step=isinstance(file.model, Chain))
    talk.answer |= {"rows": len(rows), **measures, "notes": notes}
    talk.table(("measure", "value"), [(name.replace("_", " "), f"{value:.4f}") for name, value in measures.items()])
    for note in notes:
        talk.say(note)


def _reconstruction(model: FittedModel, X: Any, side: dict[str, Any]) -> float:
    """R² of the reconstruction, also for models whose ``score`` is a log density."""
    if not capabilities(model).score_is_log_density:
        return float(model.score(X, **side))
    rows = np.asarray(X, dtype=np.float64)
    spread = float(np.square(rows - rows.mean(axis=0)).sum())
    return 1.0 - float(np.square(rows - model.denoise(X)).sum()) / spread if spread > 0 else 0.0
