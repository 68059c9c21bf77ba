"""Commands that start from a model file: transform, invert, score, report."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sidelight.cli._model_file import ModelFile
from sidelight.cli._read import Reading, read, read_frame
from sidelight.cli._talk import CommandError, Talk
from sidelight.cli._write import check_format, check_free, embedding_frame, write_frame

__all__ = ["invert", "report", "score", "transform"]


def _needs(file: ModelFile, method: str, what: str) -> None:
    if not hasattr(file.model, method):
        raise CommandError(f"this {type(file.model).__name__} cannot {what}: it has no {method}")


def _how(file: ModelFile, how: Reading) -> Reading:
    return replace(how, expected=file.names, image_size=how.image_size or file.image_shape)


def transform(talk: Talk, model: Path, data: Path, out: Path, how: Reading, *, missing: str, force: bool) -> None:
    """Embed new rows without moving the old ones."""
    check_format(out)
    check_free([out], force=force)
    file = ModelFile.open(model)
    _needs(file, "transform", "embed new rows")
    matrix, X = file.read(data, _how(file, how), missing)
    Z = np.asarray(file.model.transform(X))
    write_frame(embedding_frame(matrix, Z), out, Z)
    talk.answer |= {"out": out, "rows": len(Z), "dims": Z.shape[1], "remarks": matrix.remarks}
    talk.say(f"{len(Z)} rows embedded in {Z.shape[1]} dimensions; wrote {out}")


def invert(talk: Talk, model: Path, data: Path, out: Path, *, force: bool) -> None:
    """Map latent points back to rows of data, in the units of the data."""
    check_format(out)
    check_free([out], force=force)
    file = ModelFile.open(model)
    _needs(file, "inverse_transform", "go back to the data")
    Z = _latent(data, int(np.shape(file.model.embedding_)[1]))
    rows = file.to_data(file.model.inverse_transform(Z))
    write_frame(pd.DataFrame(rows, columns=file.columns), out, rows)
    talk.answer |= {"out": out, "rows": len(rows), "columns": rows.shape[1]}
    talk.say(f"{len(rows)} points mapped back to {rows.shape[1]} columns; wrote {out}")


def _latent(path: Path, dims: int) -> NDArray[Any]:
    """Read latent points: the columns z1, z2, ... where there are such, otherwise all numeric columns."""
    if not path.exists():
        raise CommandError(f"{path}: there is no such file")
    if path.suffix.lower() in (".npy", ".npz"):
        Z = read(path, Reading()).X
    else:
        frame = read_frame(path)
        names = [f"z{k + 1}" for k in range(dims)]
        found = names if set(names) <= set(frame.columns) else list(frame.select_dtypes("number").columns)
        Z = frame[found].to_numpy(dtype=np.float64)
    if Z.shape[1] != dims:
        raise CommandError(f"{path}: has {Z.shape[1]} numeric columns, and the model's latent space has {dims}")
    if not np.isfinite(Z).all():
        raise CommandError(f"{path}: some latent coordinates are missing or infinite")
    return Z


def score(talk: Talk, model: Path, data: Path, how: Reading, *, missing: str) -> None:
    """Say how well a model describes data: reconstruction, neighbourhoods, density."""
    from sidelight import evaluate

    file = ModelFile.open(model)
    _, X = file.read(data, _how(file, how), missing)
    rows = np.asarray(X)
    measures: dict[str, float] = {}
    if hasattr(file.model, "score"):
        measures["reconstruction_r2"] = float(file.model.score(X))
    if hasattr(file.model, "transform"):
        neighbours = min(10, (len(rows) - 1) // 2)
        if neighbours:
            Z = np.asarray(file.model.transform(X))
            measures["trustworthiness"] = float(evaluate.trustworthiness(rows, Z, n_neighbors=neighbours))
    if hasattr(file.model, "score_samples"):
        measures["mean_log_density"] = float(np.mean(file.model.score_samples(X)))
    talk.answer |= {"rows": len(rows), **measures}
    talk.table(("measure", "value"), [(name.replace("_", " "), f"{value:.4f}") for name, value in measures.items()])


def report(talk: Talk, model: Path, data: Path, out: Path, how: Reading, *, missing: str, force: bool) -> None:
    """Write the report of a model over data: its own, or new rows."""
    from sidelight import report as writer

    check_free([out], force=force)
    file = ModelFile.open(model)
    matrix, X = file.read(data, _how(file, how), missing)
    out.parent.mkdir(parents=True, exist_ok=True)
    writer.write(
        file.model,
        out,
        X=X,
        embedding=np.asarray(file.model.transform(X)),
        colours=matrix.colours if matrix.colours.shape[1] else None,
        image_shape=matrix.image_shape or file.image_shape,
        title=data.name,
        command=file.command,
        notes=matrix.remarks,
    )
    talk.answer |= {"out": out, "rows": len(matrix.X)}
    talk.say(f"wrote {out}")
