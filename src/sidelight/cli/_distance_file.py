"""``--distances-matrix FILE``: embed rows from their distances, a full matrix or a sparse graph."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import io, sparse

from ._columns import ColumnRoles
from ._cost import tell_cost
from ._embed import Fitted, Request, check_out, fit_until_interrupted, write_results
from ._given import parse_types
from ._matrix import Matrix
from ._methods import check_takes, make
from ._model_file import ModelFile
from ._output import CommandError, Output, refuse_options
from ._progress import bar
from ._read import Reading, read, read_frame
from ._read_arrays import SPARSE_ARRAYS
from ._told_results import tell_results

__all__ = ["embed_distances", "read_distances"]

METHODS_OF_DISTANCES = ("kie", "hybrid", "mds", "semidefinite", "action")
"""Methods whose metric can be "precomputed"."""
_ARRAYS = (".npy", ".npz", ".mtx")


def embed_distances(talk: Output, request: Request, path: Path) -> None:
    """Embed the rows whose distances are in ``path``; DATA has their other columns, or is the same file."""
    check_out(request)
    _check_request(request)
    D = read_distances(path)
    if sparse.issparse(D) and request.method != "kie":
        rule = f"is a graph of some distances, and the method {request.method} needs those between all rows"
        raise CommandError(f"--distances-matrix {path}: {rule}; use --method kie")
    matrix = _rows_of(request, path, D.shape[0])
    kind = "a graph of distances" if sparse.issparse(D) else "distances"
    talk.say(f"{path}: {kind} between {D.shape[0]} rows", style="bold")
    began = time.perf_counter()
    types = parse_types(request.given_types, list(matrix.given.columns))
    if matrix.side:
        check_takes(request.method, "given", "--given")
    settings = {"metric": "precomputed", **request.settings}
    with bar(talk, request.method) as callback:
        model = make(
            request.method, dims=request.dims, seed=request.seed, settings=settings, given_types=types,
            callback=callback,
        )  # fmt: skip
        tell_cost(talk, request.method, model, *D.shape)
        talk.say(f"Embedding with {request.method} in {request.dims} dimensions (Ctrl-C keeps the best so far) ...")
        interrupted = fit_until_interrupted(model, D, matrix.side)
    file = ModelFile(model, np.zeros(model.n_features_in_), command=request.command)
    fitted = Fitted(file, matrix, D, time.perf_counter() - began, interrupted)
    write_results(request, fitted)
    tell_results(talk, request, fitted)


def _check_request(request: Request) -> None:
    if request.method not in METHODS_OF_DISTANCES:
        able = " or ".join(METHODS_OF_DISTANCES)
        raise CommandError(f"--distances-matrix: the method {request.method} needs columns; use --method {able}")
    roles = request.how.wishes
    refused = {
        "--same": request.same,
        "--different": request.different,
        "--distances": request.distances,
        "--attribute": roles.attributes,
        "--relation": request.relations,
        "--actions": roles.actions,
        "--view-y": request.view_y,
        "--plain": request.plain,
        "--standardize": request.standardize,
    }
    refuse_options(refused, "needs columns, and --distances-matrix has none")


def read_distances(path: Path) -> Any:
    """Return a square matrix of distances: an array, or a sparse matrix of those that are known."""
    if not path.exists():
        raise CommandError(f"--distances-matrix {path}: there is no such file")
    D = _sparse(path)
    if D is None:
        D = _dense(path)
    if D.shape[0] != D.shape[1]:
        rule = f"has {D.shape[0]} rows and {D.shape[1]} columns, and distances between rows make a square"
        raise CommandError(f"--distances-matrix {path}: {rule}; for pairs of rows use --distances")
    values = D.data if isinstance(D, sparse.csr_array) else D
    if not np.isfinite(values).all() or (values < 0).any():
        rule = (
            "has distances that are missing, infinite or negative; a graph of the known ones is a sparse .npz or .mtx"
        )
        raise CommandError(f"--distances-matrix {path}: {rule}")
    return D


def _sparse(path: Path) -> Any:
    """The sparse matrix in a file, or None for a file of another kind."""
    try:
        if path.suffix.lower() == ".mtx":
            return sparse.csr_array(io.mmread(path, **SPARSE_ARRAYS)).astype(np.float64)
        if path.suffix.lower() == ".npz" and "format" in np.load(path, allow_pickle=False).files:
            return sparse.csr_array(sparse.load_npz(path)).astype(np.float64)
    except ValueError as error:
        raise CommandError(f"--distances-matrix {path}: not a readable sparse matrix ({error})") from error
    return None


def _dense(path: Path) -> Any:
    """Distances as an array; a first column of text has the names of the rows."""
    if path.suffix.lower() in _ARRAYS:
        return read(path, Reading()).X
    frame = read_frame(path)
    numbers = frame.select_dtypes("number")
    if len(frame.columns) - len(numbers.columns) > 1:
        texts = [name for name in frame.columns if name not in numbers.columns]
        raise CommandError(f"--distances-matrix {path}: {texts[1]} holds text; only the first column may name the rows")
    D = numbers.to_numpy(dtype=np.float64)
    # a heading 0, 1, 2, ... looks like a row of numbers
    return D[1:] if len(D) == D.shape[1] + 1 and (D[0] == np.arange(D.shape[1])).all() else D


def _rows_of(request: Request, path: Path, n: int) -> Matrix:
    """The other columns of the rows, as DATA says."""
    bare = Matrix(X=np.zeros((n, 1)), remarks=[f"{n} rows are embedded by their distances."])
    if request.data.resolve() == path.resolve() or request.data.suffix.lower() in _ARRAYS:
        return bare
    frame = read_frame(request.data)
    if len(frame) != n:
        raise CommandError(f"--distances-matrix {path}: is about {n} rows, and {request.data.name} has {len(frame)}")
    return _with_columns(frame, request.how.wishes, bare, request.data.name)


def _with_columns(frame: pd.DataFrame, roles: ColumnRoles, bare: Matrix, source: str) -> Matrix:
    roles.check(frame.columns, source)
    left_out = {*roles.drop, *([roles.label] if roles.label else [])}
    colours = [name for name in roles.shown(frame.columns) if name not in left_out]
    return Matrix(
        X=bare.X,
        colours=frame[colours],
        given=roles.known(frame),
        row_names=None if roles.label is None else frame[roles.label],
        remarks=[*bare.remarks, f"The columns of {source} are not embedded; they colour the map."],
    )
