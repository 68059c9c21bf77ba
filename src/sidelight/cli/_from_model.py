"""Commands that start from a model file: transform, invert, counterfactual, corrected, predict, score, report."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sidelight.base.capabilities import capabilities
from sidelight.base.chain import name_of
from sidelight.base.messages import count_of

from ._changed_rows import Asked, changed_intervals, changed_rows, tell_confounded
from ._given import parse_entries, repeated
from ._matrix import Matrix
from ._model_file import ModelFile
from ._new_given import names_of_given, refuse_unseen, say_given
from ._novelty import add_latent_novelty, add_novelty
from ._output import CommandError, Output
from ._overlap import refuse_extrapolation
from ._picture_files import check_place_of_rows, is_folder, refuse_pictures_of_tables, told_pictures, write_pictures
from ._placement import Placement, place_new
from ._read import Reading, read, read_frame
from ._report_rows import report_rows
from ._row_intervals import check_level, with_ends
from ._second_view import embed_second, is_second, second_of
from ._sparse_rows import is_sparse
from ._write import check_format, check_free, embedding_frame, write_frame

__all__ = [
    "corrected", "counterfactual", "in_terms_of", "invert", "predict", "report", "require", "transform",
]  # fmt: skip


_EMBEDDED = re.compile(r"\b(is|are|not) embedded\b")
"""What remarks say of columns, which is not so where there is no map."""


def require(has_it: bool, file: ModelFile, method: str, what: str) -> None:
    """Refuse a model that has not a method."""
    if not has_it:
        raise CommandError(f"this {name_of(file.model)} cannot {what}: it has no {method}")


def in_terms_of(file: ModelFile, how: Reading) -> Reading:
    """How to read rows for a model: its columns, and those that it was given."""
    related = [column for columns in file.relations.values() for column in columns]
    given = [column.name for column in file.given]
    wishes = replace(how.wishes, given_if_there=given, relations_if_there=related, label_if_there=file.label)
    return replace(how, wishes=wishes, expected=file.names, image_size=how.image_size or file.image_shape)


def transform(
    talk: Output, model: Path, data: Path, out: Path, how: Reading, *, missing: str, force: bool, view: str = "x"
) -> None:
    """Embed new rows without moving the old ones."""
    check_format(out)
    check_free([out], force=force)
    file = ModelFile.open(model)
    require(capabilities(file.model).has_transform, file, "transform", "embed new rows")
    if is_second(view):
        matrix, Z = embed_second(file, data, how, missing)
        placed = Placement(Z, file.latent_names)
        frame = embedding_frame(matrix, Z, placed.names)
    else:
        matrix, X = file.read(data, in_terms_of(file, how), missing)
        say_given(talk, file, there=bool(matrix.side), where=data)
        refuse_unseen(file, matrix, data)
        placed = place_new(file.model, X, matrix.side)
        frame = embedding_frame(matrix, placed.values, placed.names, placed.columns)
        add_novelty(talk, frame, file.model, X)
    Z = placed.values
    write_frame(frame, out, Z)
    talk.answer |= {"out": out, "rows": len(Z), "dims": Z.shape[1], "remarks": matrix.remarks}
    did = "assigned to clusters" if placed.columns else f"embedded in {count_of(Z.shape[1], 'dimension')}"
    talk.say(f"{count_of(len(Z), 'row')} {did}; wrote {out}")


def invert(
    talk: Output,
    model: Path,
    data: Path,
    out: Path,
    how: Reading,
    *,
    given: Sequence[str],
    force: bool,
    view: str = "x",
    columns: Sequence[str] = (),
    level: float | None = None,
) -> None:
    """Map latent points back to rows, in the units of the data, for a value of the given columns."""
    check_place_of_rows(out, force=force)
    file = ModelFile.open(model)
    if level is not None and is_second(view):
        raise CommandError("--interval: rows of the second view have none; leave it out")
    check_level(file, "has_row_interval", level, out)
    refuse_pictures_of_tables(file, out, columns)
    require(capabilities(file.model).has_inverse, file, "inverse_transform", "go back to the data")
    asked = parse_entries(given, file.given)
    Z, frame = _latent(data, how, file.latent_names)
    side = _completed(file, asked, frame, len(Z), data)
    if not asked:
        say_given(talk, file, there=bool(side), where=data)
    if is_second(view):
        second = second_of(file)
        rows = second.to_frame(file.model.inverse_transform_view(Z, 1))
    else:
        rows = file.way_back(partial(file.model.inverse_transform, Z, **side), columns)
    shown = rows
    if level is not None:
        found = file.model.inverse_transform_interval(Z, level=level, **side)
        shown = with_ends(rows, found, file.encoder, file.to_data)
    table = _others_first(frame, shown, file.latent_names)
    add_latent_novelty(talk, table, file.model, Z)
    _write_rows(file, table, rows, out)
    _tell_text(talk, file)
    _tell_rows(talk, rows, out, asked, "point mapped back to", given)


def predict(
    talk: Output,
    model: Path,
    data: Path,
    out: Path,
    how: Reading,
    *,
    missing: str,
    force: bool,
    level: float | None = None,
) -> None:
    """Predict the second view of rows from the first."""
    check_format(out)
    check_free([out], force=force)
    file = ModelFile.open(model)
    second = second_of(file)
    check_level(file, "has_predict_interval", level, out)
    matrix, X = file.read(data, in_terms_of(file, how), missing)
    rows = second.to_frame(file.model.predict(X))
    shown = rows
    if level is not None:
        shown = with_ends(rows, file.model.predict_interval(X, level=level), second.encoder, second.to_frame)
    _write_rows(file, _with_names(matrix, shown), rows, out)
    _tell_rows(talk, rows, out, {}, "row predicted in")


def counterfactual(
    talk: Output, model: Path, data: Path, out: Path, how: Reading, wanted: Asked, *, missing: str, force: bool
) -> None:
    """Predict rows under another value of the given columns."""
    check_place_of_rows(out, force=force)
    file = ModelFile.open(model)
    refuse_pictures_of_tables(file, out, wanted.columns)
    require(capabilities(file.model).has_counterfactual, file, "counterfactual", "show rows under another value")
    check_level(file, "has_counterfactual_interval", wanted.level, out)
    asked = parse_entries(wanted.given, file.given, command=file.command)
    now = parse_entries(wanted.now, file.given, "--now")
    if not asked:
        example = file.given[0].name if file.given else "batch"
        raise CommandError(f"counterfactual: name the new value with --given {example}=...")
    matrix, X = file.read(data, in_terms_of(file, how), missing)
    refuse_unseen(file, matrix, data)
    own = matrix.given if matrix.side else pd.DataFrame()
    changed = _completed(file, asked, own, len(matrix.rows), data)
    known = _completed(file, now, own, len(matrix.rows), data, "--now") if now or matrix.side else {}
    written = dict(text.split("=", 1) for text in wanted.given)
    overlap = refuse_extrapolation(talk, file, matrix, X, changed, known, written, force=force)
    tell_confounded(talk, file)
    rows = file.way_back(partial(changed_rows, talk, file, X, changed, known, wanted.residual), wanted.columns)
    shown = rows
    if wanted.level is not None:
        found = changed_intervals(file, X, changed, known, wanted)
        shown = with_ends(rows, found, file.encoder, file.to_data)
    _write_rows(file, _with_names(matrix, shown, {} if overlap is None else overlap.columns), rows, out)
    _tell_text(talk, file)
    _tell_rows(talk, rows, out, asked, "row shown again in", wanted.given)


def corrected(
    talk: Output,
    model: Path,
    data: Path,
    out: Path,
    how: Reading,
    *,
    to: Sequence[str],
    missing: str,
    force: bool,
    columns: Sequence[str] = (),
) -> None:
    """Subtract the effect of the given columns from rows, or replace it by that of another value."""
    check_place_of_rows(out, force=force)
    file = ModelFile.open(model)
    refuse_pictures_of_tables(file, out, columns)
    require(capabilities(file.model).has_corrected, file, "corrected", "take the effect of what was given off rows")
    asked = parse_entries(to, file.given, "--to")
    matrix, X = file.read(data, in_terms_of(file, how), missing)
    if not matrix.side:
        raise CommandError(
            f"corrected: {data.name} has no column {names_of_given(file)}, so no effect can be subtracted"
        )
    refuse_unseen(file, matrix, data)
    wanted = _completed(file, asked, matrix.given, len(matrix.rows), data)["given"] if asked else None
    rows = file.way_back(partial(file.model.corrected, X, **matrix.side, to=wanted), columns)
    _write_rows(file, _with_names(matrix, rows), rows, out)
    _tell_text(talk, file)
    _tell_rows(talk, rows, out, asked, "row corrected in", to)


def _completed(
    file: ModelFile, asked: dict[str, Any], frame: pd.DataFrame, n: int, where: Path, option: str = "--given"
) -> dict[str, Any]:
    """The given columns for ``n`` rows: values from the options, the rest from the file; complete or an error."""
    names = [column.name for column in file.given]
    missing = [name for name in names if name not in asked and name not in frame.columns]
    if asked and missing:
        raise CommandError(f"{option}: {where.name} has no column {', '.join(missing)}; add {option} {missing[0]}=...")
    if not names or missing:
        return {}
    same = repeated(asked, [column for column in file.given if column.name in asked], n)
    return {"given": {name: same[name] if name in same else frame[name] for name in names}}


def _with_names(
    matrix: Matrix, rows: pd.DataFrame, more: Mapping[str, NDArray[Any]] = MappingProxyType({})
) -> pd.DataFrame:
    """Rows behind their numbers in the file, their label and identifiers (to join them with the file), and ``more``."""
    known: dict[str, Any] = {"row": matrix.rows}
    if matrix.row_names is not None:
        known[str(matrix.row_names.name)] = matrix.row_names.to_numpy()
    known |= {str(name): matrix.identifiers[name].to_numpy() for name in matrix.identifiers.columns}
    return _beside({**known, **more}, rows)


def _others_first(frame: pd.DataFrame, rows: pd.DataFrame, latent: list[str]) -> pd.DataFrame:
    """Rows preceded by the other columns of the table of latent points: row numbers, labels, colours."""
    own = {*latent, *(f"z{k + 1}" for k in range(len(latent)))}
    known = {str(name): frame[name].to_numpy() for name in frame.columns if name not in own}
    return _beside(known if own & set(frame.columns) else {}, rows)


def _beside(known: dict[str, Any], rows: pd.DataFrame) -> pd.DataFrame:
    """Put columns in front of rows, without those that the rows have themselves."""
    front = pd.DataFrame({name: values for name, values in known.items() if name not in rows.columns}, index=rows.index)
    return pd.concat([front, rows], axis=1)


def _write_rows(file: ModelFile, frame: pd.DataFrame, rows: pd.DataFrame, out: Path) -> None:
    """Write rows of data; an array file holds numbers only, a folder pictures."""
    if is_folder(out):
        write_pictures(out, file, frame, rows)
        return
    if out.suffix.lower() == ".npy" and not all(pd.api.types.is_numeric_dtype(kind) for kind in rows.dtypes):
        words = [str(name) for name, kind in rows.dtypes.items() if not pd.api.types.is_numeric_dtype(kind)]
        raise CommandError(f"--out {out}: an array holds numbers, and {words[0]} is none; end the name with .csv")
    write_frame(frame, out, rows.to_numpy() if out.suffix.lower() == ".npy" else np.empty(0))


def _tell_text(talk: Output, file: ModelFile) -> None:
    """Say which columns of free text are not among the rows."""
    if names := file.without_way_back:
        talk.answer["without_way_back"] = names
        talk.say(f"{', '.join(names)}: free text cannot be reconstructed, and is left out")


def _tell_rows(
    talk: Output, rows: pd.DataFrame, out: Path, asked: dict[str, Any], did: str, given: Sequence[str] = ()
) -> None:
    """Print a summary; ``given`` is the option as written by the user."""
    talk.answer |= {"out": out, "rows": len(rows), "columns": rows.shape[1]}
    noun, _, done = did.partition(" ")
    words = ""
    if asked:
        talk.answer["given"] = asked
        words = " for " + ", ".join(text.replace("=", " = ", 1) for text in given)
    wrote = told_pictures(len(rows), out) if is_folder(out) else f"wrote {out}"
    talk.say(f"{count_of(len(rows), noun)} {done} {count_of(rows.shape[1], 'column')}{words}; {wrote}")


def _latent(path: Path, how: Reading, names: list[str]) -> tuple[NDArray[Any], pd.DataFrame]:
    """Read latent points, and the table they stand in.

    They are the columns that transform writes, or z1, z2, ..., where there are such, otherwise all numeric columns.
    """
    dims = len(names)
    if path.suffix.lower() in (".npy", ".npz"):
        Z, frame = read(path, how).X, pd.DataFrame()
    else:
        frame = read_frame(path, how)
        numbers = list(frame.select_dtypes("number").columns)
        known = (names, [f"z{k + 1}" for k in range(dims)])
        found = next((own for own in known if set(own) <= set(frame.columns)), numbers)
        Z = frame[found].to_numpy(dtype=np.float64)
    if Z.shape[1] != dims:
        raise CommandError(
            f"{path}: has {count_of(Z.shape[1], 'numeric column')}, and the model's latent space has {dims}"
        )
    if not np.isfinite(Z).all():
        raise CommandError(f"{path}: some latent coordinates are missing or infinite")
    return Z, frame


def report(
    talk: Output,
    model: Path,
    data: Path,
    out: Path,
    how: Reading,
    *,
    periods: dict[str, float],
    missing: str,
    force: bool,
    view_y: Path | None = None,
    plain: bool = False,
) -> None:
    """Write the report of a model over data: its own, or new rows; of a model of pairs, with their outputs."""
    from sidelight import report as writer

    check_free([out], force=force)
    file = ModelFile.open(model)
    matrix, X = file.read(data, in_terms_of(file, how), missing)
    say_given(talk, file, there=bool(matrix.side), where=data)
    refuse_unseen(file, matrix, data)
    Y = _outputs(file, view_y, data, matrix, read(data, in_terms_of(file, how)).n_rows if view_y else 0)
    out.parent.mkdir(parents=True, exist_ok=True)
    writer.write(
        file.model,
        out,
        X=None if is_sparse(X) else file.shown(X),
        y=Y,
        embedding=_embedded(file, X, matrix.side),
        colours=matrix.colours if matrix.colours.shape[1] else None,
        plain="fit" if plain else None,
        periods=periods,
        image_shape=how.image_shape or matrix.image_shape or file.image_shape,
        title=data.name,
        command=file.command,
        notes=matrix.remarks if Y is None else [_EMBEDDED.sub(r"\1 used", remark) for remark in matrix.remarks],
        **matrix.side,
        **file.told(matrix),
        **report_rows(file, matrix, how.wishes.colours),
    )
    talk.answer |= {"out": out, "rows": matrix.n_rows}
    talk.say(f"wrote {out}")


def _embedded(file: ModelFile, X: Any, side: dict[str, Any]) -> NDArray[Any] | None:
    """The embedding of rows by the model's own map; None for a model without one."""
    return np.asarray(file.model.transform(X, **side)) if capabilities(file.model).has_embedding else None


def _outputs(file: ModelFile, path: Path | None, data: Path, matrix: Matrix, n_rows: int) -> NDArray[Any] | None:
    """The outputs of the rows of ``matrix``, of ``n_rows`` in its file; None for a model that makes none."""
    name = name_of(file.model)
    if not capabilities(file.model).makes_outputs:
        if path is not None:
            raise CommandError(f"--view-y {path}: this {name} does not predict outputs; leave it out")
        return None
    if path is None:
        raise CommandError(f"this {name} predicts outputs; pass those of {data.name} with --view-y FILE")
    found = read(path, Reading(encoder=None if file.second is None else file.second.encoder))
    if len(found.X) != n_rows:
        raise CommandError(f"--view-y {path}: has {count_of(len(found.X), 'row')}, and {data.name} has {n_rows}")
    Y = found.take(np.isin(found.rows, matrix.rows)).X
    if not np.isfinite(Y).all():
        raise CommandError(
            f"--view-y {path}: some outputs are missing; fill them, or leave their rows out of both files"
        )
    return np.asarray(Y)
