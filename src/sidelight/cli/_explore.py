"""The command ``explore``: a model and its data, or data that are embedded first, as a page on this machine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from sidelight.base.chain import Chain, as_chain, name_of
from sidelight.base.messages import require_extra
from sidelight.explorer import Session, Statement
from sidelight.explorer._explorer import Explorer, Setting
from sidelight.explorer._kept import write_page
from sidelight.explorer._own_rows import own_rows
from sidelight.explorer._table import Table, table_of
from sidelight.explorer.replaying import replay_table
from sidelight.explorer.serving import serve

from ._embed import Request, fit
from ._from_model import in_terms_of
from ._matrix import Matrix, complete
from ._model_file import ModelFile
from ._output import CommandError, Output
from ._read import read
from ._report_rows import report_rows
from ._sparse_rows import is_sparse
from ._write import check_free

__all__ = ["Opening", "explore", "open_page", "require_server"]

MODEL = ".sidelight"
"""Ending of model files."""


@dataclass(frozen=True)
class Opening:
    """How a page is opened."""

    folder: Path = Path("sidelight-explore")
    port: int = 0
    browser: bool = True
    periods: Mapping[str, float] = field(default_factory=dict)
    statements: Sequence[Statement] = ()
    wait: bool = True
    export: Path | None = None


def require_server(what: str) -> None:
    """Say what to install, before any work, if the page could not be served."""
    for module in ("starlette", "uvicorn"):
        require_extra(module, what, "explore")


def explore(
    talk: Output, source: Path, data: Path | None, request: Request, opening: Opening, replay: Path | None
) -> None:
    """Open MODEL and DATA, or embed a data file and open that; with ``replay``, fit a session's map instead."""
    is_model = source.suffix.lower() == MODEL
    if not is_model and data is not None:
        raise CommandError(f"explore {source} {data}: {source} is no model file (*{MODEL}); give one file of data")
    if replay is not None and not is_model:
        raise CommandError("--replay: give the model that the session began with, and its data")
    if replay is None and opening.export is None:
        require_server("sidelight explore")
    if opening.export is not None:
        check_free([opening.export], force=request.force)
    file, table = _opened(talk, source, data, request)
    if replay is not None:
        _replay(talk, file, table, replay, request)
        return
    files = {"model": str(source), **({"data": str(data)} if data else {})} if is_model else {"data": str(source)}
    files |= {"missing": request.missing} if request.missing != "keep" else {}
    open_page(talk, file, table, opening, (data or source).name, files)


def _opened(talk: Output, source: Path, data: Path | None, request: Request) -> tuple[ModelFile, Table]:
    """The model and the rows: of a model file and its data, of a model file alone, or of data that are embedded."""
    shape = request.how.image_shape
    if source.suffix.lower() != MODEL:
        whole = read(source, request.how)
        made = fit(talk, request, complete(whole, request.missing), whole)
        return made.file, table_for(made.file, made.matrix, made.X, shape)
    file = ModelFile.open(source)
    if data is not None:
        matrix, X = file.read(data, in_terms_of(file, request.how), request.missing)
        return file, table_for(file, matrix, X, shape)
    if file.given:
        lacking = ", ".join(column.name for column in file.given)
        raise CommandError(f"explore {source}: the model was given {lacking}; add the file that it was fitted on")
    rows = own_rows(file.model)
    if rows is None:
        rule = "does not keep its rows; add the file that it was fitted on"
        raise CommandError(f"explore {source}: this {name_of(file.model)} {rule}")
    talk.say("The rows are those that the model keeps: without names, and without columns beside the features.")
    to_data = file.to_data if file.encoder is not None or file.scaling is not None else None
    found = table_of(file.model, rows, image_shape=shape or file.image_shape, to_data=to_data)
    return file, replace(found, features=tuple(file.columns))


def table_for(file: ModelFile, matrix: Matrix, X: Any, image_shape: tuple[int, int] | None = None) -> Table:
    """The rows of a file as the explorer takes them."""
    if is_sparse(X):
        raise CommandError("explore: sparse rows cannot be shown yet; embed some of their columns")
    given = matrix.given if matrix.side else None
    if file.given and given is None:
        lacking = ", ".join(column.name for column in file.given)
        raise CommandError(f"explore: the data has no column {lacking}, which the model was given")
    names = None if matrix.row_names is None else [str(name) for name in matrix.row_names]
    columns = {str(name): matrix.colours[name].to_numpy() for name in matrix.colours.columns}
    shape = image_shape or matrix.image_shape or file.image_shape
    to_data = report_rows(file, matrix, ()).get("to_data")
    found = table_of(file.model, X, columns, given, row_names=names, image_shape=shape, to_data=to_data)
    return replace(found, features=tuple(file.columns))


def open_page(
    talk: Output, file: ModelFile, table: Table, opening: Opening, title: str, files: Mapping[str, str]
) -> None:
    """Serve the page until Ctrl-C; with ``export``, write it as a file instead."""

    def save_model(model: Any, path: Path) -> None:
        replace(file, model=as_chain(model)).save(path)

    setting = Setting(title, opening.folder, files, dict(opening.periods), save_model)
    explorer = Explorer(_estimator(file), table, opening.statements, setting)
    if opening.export is not None:
        size = write_page(explorer, opening.export).stat().st_size
        talk.answer |= {"out": opening.export, "rows": table.n, "bytes": size}
        talk.say(f"wrote {opening.export}, {size / 1e6:.1f} MB: it opens in any browser, without a network")
        return
    with serve(explorer, port=opening.port, open_browser=opening.browser) as page:
        talk.answer |= {"address": page.address, "rows": table.n}
        talk.say(f"The explorer is at {page.address}", style="bold")
        talk.say("It is for this machine only. Ctrl-C ends it; Save in the page keeps model and session.")
        if opening.wait:
            page.wait()


def _replay(talk: Output, file: ModelFile, table: Table, session: Path, request: Request) -> None:
    out = request.out
    check_free([out], force=request.force)
    found = Session.load(session)
    fitted = replay_table(found, _estimator(file), table)
    out.parent.mkdir(parents=True, exist_ok=True)
    replace(file, model=as_chain(fitted.model), command=request.command).save(out)
    talk.answer |= {"out": out, "rows": table.n, "statements": len(found.maps[found.current].statements)}
    for remark in fitted.remarks:
        talk.say(f"  {remark}")
    talk.say(f"map {found.current} of {session} again; wrote {out}")


def _estimator(file: ModelFile) -> Any:
    return file.model.pipeline if isinstance(file.model, Chain) else file.model
