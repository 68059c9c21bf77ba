"""``sidelight embed``: from a file to embedding, model and report."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from sidelight.base.capabilities import capabilities
from sidelight.base.chain import Chain
from sidelight.base.files import atomic_write
from sidelight.base.messages import count_of
from sidelight.maps.truncated import RANK
from sidelight.report._informed import plain_model

from ._actions import SequenceColumns, read_sequence
from ._cost import tell_cost
from ._gaps import let_take_gaps
from ._given import parse_types
from ._given_checks import check_plain, warn_of_colours
from ._matrix import Matrix, complete, scaling_for
from ._methods import check_takes, make, needs_pairs
from ._metric import HintFiles, learn, metric_settings, read_hints
from ._model_file import ModelFile
from ._novelty import UnusualRows, unusual_rows
from ._output import CommandError, Output
from ._pairs import read_pairs
from ._placement import Placement, place_fitted
from ._progress import bar
from ._read import Reading, read
from ._relations import RelationOption, build_relations
from ._repeated_columns import repeated_columns
from ._report_rows import report_rows
from ._second_view import SecondView, read_second
from ._source import title_of
from ._sparse_rows import column_means, is_sparse, takes_sparse
from ._told_results import tell_results
from ._write import check_free, embedding_frame, put_frame

__all__ = [
    "Fitted",
    "Request",
    "check_out",
    "embed",
    "fit",
    "fit_until_interrupted",
    "write_results",
]


@dataclass(frozen=True)
class Request:
    """All options of one call of ``sidelight embed``."""

    data: Path
    out: Path
    method: str
    dims: int = 2
    seed: int = 0
    settings: Mapping[str, Any] = field(default_factory=dict)
    how: Reading = field(default_factory=Reading)
    missing: str = "keep"
    standardize: bool | None = None
    report: bool = True
    force: bool = False
    command: str = ""
    given_types: Sequence[str] = ()
    same: Path | None = None
    periods: Mapping[str, float] = field(default_factory=dict)
    view_y: Path | None = None
    different: Path | None = None
    distances: Path | None = None
    relations: Sequence[RelationOption] = ()
    plain: bool = False
    table_format: str = "csv"
    sequence: SequenceColumns = field(default_factory=SequenceColumns)

    @property
    def is_anndata(self) -> bool:
        """Whether the result goes into a copy of the input, too."""
        return self.data.suffix.lower() == ".h5ad"

    @property
    def results(self) -> dict[str, Path]:
        """The files that will be written."""
        names = {"embedding": f"embedding.{self.table_format}", "model": "model.sidelight"}
        names |= {"report": "report.html"} if self.report else {}
        names |= {"anndata": "data.h5ad"} if self.is_anndata else {}
        return {what: self.out / name for what, name in names.items()}


@dataclass(frozen=True)
class Fitted:
    """A fitted model with its data, the duration of the fit, and whether it was interrupted."""

    file: ModelFile
    matrix: Matrix
    X: Any
    seconds: float
    interrupted: bool
    plain: NDArray[Any] | None = None
    """The embedding of the same rows without ``--given``, if it was computed."""
    y: NDArray[Any] | None = None
    """The outputs, for a model of pairs."""

    @property
    def is_distances(self) -> bool:
        """Whether ``X`` holds distances between rows instead of columns."""
        return capabilities(self.file.model).takes_distances

    @cached_property
    def placement(self) -> Placement:
        """Output of each row."""
        model, side = self.file.model, self.matrix.side
        return place_fitted(model, self.X, y=self.y, second=self.file.second, side=side)

    @cached_property
    def unusual(self) -> UnusualRows | None:
        """How usual the rows are among each other, if the model can tell."""
        return unusual_rows(self.file.model, self.matrix, self.X)

    @property
    def notes(self) -> list[str]:
        """Sentences about the rows for the report."""
        words = [self.placement.words, self.unusual.words if self.unusual else ""]
        return [*self.matrix.remarks, *filter(None, words)]


def embed(talk: Output, request: Request) -> None:
    """Read, fit, write, and print a summary."""
    check_out(request)
    if needs_pairs(request.method) and request.view_y is None:
        rule = "learns transformations of rows; pass the outputs with --view-y FILE"
        raise CommandError(f"--method {request.method}: {rule}")
    whole = read(request.data, replace(request.how, sparse=_takes_sparse(request)))
    matrix = complete(whole, request.missing)
    if request.how.image_shape is not None:
        matrix = _as_pictures(matrix, request.how.image_shape)
    talk.say(f"{title_of(request.data)}: {count_of(matrix.X.shape[0], 'row')}", style="bold")
    matrix = replace(matrix, remarks=[*matrix.remarks, *repeated_columns(matrix)])
    for remark in matrix.remarks:
        talk.say(f"  {remark}")
    check_plain(plain=request.plain, report=request.report, given=matrix.given)
    warn_of_colours(request.how.wishes.colours, matrix.colours, matrix.given, request.given_types)
    fitted = fit(talk, request, matrix, whole)
    if request.plain:
        fitted = replace(fitted, plain=_fit_plain(talk, request, fitted))
    write_results(request, fitted)
    tell_results(talk, request, fitted)


def _takes_sparse(request: Request) -> bool:
    """Whether sparse rows may stay sparse: if only the model uses them."""
    learns = (request.same, request.different, request.distances, request.view_y)
    if request.relations or any(file is not None for file in learns) or request.how.wishes.attributes:
        return False
    try:
        model = make(request.method, dims=request.dims, seed=request.seed, settings=request.settings)
    except CommandError:  # said by the fit, which makes it again
        return False
    return takes_sparse(model)


def check_out(request: Request) -> None:
    """Complain before any work is done about a place where results cannot be written."""
    if request.out.exists() and not request.out.is_dir():
        raise CommandError(f"--out {request.out}: is a file; give a folder")
    check_free(request.results.values(), force=request.force)


def _fit_plain(talk: Output, request: Request, fitted: Fitted) -> NDArray[Any] | None:
    """The map of the same rows without ``given``; Ctrl-C keeps the best so far, or leaves it out."""
    model = fitted.file.model
    talk.say(f"Embedding with {request.method} again, without given (Ctrl-C keeps the best so far) ...")
    with bar(talk, f"{request.method}, plain") as callback:
        twin = plain_model(model).set_params(callback=callback)
        try:
            fit_until_interrupted(twin, model.rows(fitted.X) if isinstance(model, Chain) else fitted.X, {})
        except KeyboardInterrupt:
            return None
    return np.asarray(twin.embedding_)


def _as_pictures(matrix: Matrix, shape: tuple[int, int]) -> Matrix:
    if shape[0] * shape[1] != matrix.X.shape[1]:
        raise CommandError(f"--image-shape {shape[1]}x{shape[0]}: rows have {count_of(matrix.X.shape[1], 'column')}")
    return replace(matrix, image_shape=shape)


def fit(talk: Output, request: Request, matrix: Matrix, whole: Matrix | None = None) -> Fitted:
    """Fit the method, after a metric if there are hints; Ctrl-C keeps the best result so far.

    The file had the rows ``whole``, before any was left out.
    """
    whole = matrix if whole is None else whole
    scaling, remark = scaling_for(matrix, request.standardize)
    if remark:
        talk.say(f"  {remark}")
    X = matrix.features(matrix.X if scaling is None else scaling.apply(matrix.X))
    began = time.perf_counter()
    side, types = _side(talk, request, matrix, whole)
    matrix = _relate(talk, request, matrix, whole, side)
    hints = read_hints(_for_the_metric(request, side), matrix, whole)
    settings, of_the_metric = metric_settings(request.settings, hints)
    second, Y = None, None
    if request.view_y is not None:
        Y, second = _second(talk, request, matrix, whole.n_rows)
        side["y"] = Y
    with bar(talk, request.method) as callback:
        model = make(
            request.method, dims=request.dims, seed=request.seed, settings=settings, given_types=types,
            image_shape=matrix.image_shape, callback=callback,
        )  # fmt: skip
        for argument in side:
            check_takes(request.method, argument, _OPTIONS[argument])
        how_missing = let_take_gaps(model, request.method, matrix, after_metric=hints is not None)
        if how_missing:
            matrix = replace(matrix, remarks=[*matrix.remarks, how_missing])
            talk.say(f"  {how_missing}")
        before = None
        if hints is not None:
            before, told, talk.answer["metric"] = learn(hints, X, request.dims, of_the_metric)
            matrix = replace(matrix, remarks=[*matrix.remarks, told])
            talk.say(f"  {told}")
        tell_cost(talk, request.method, model, X.shape[0], min(X.shape[1], RANK) if is_sparse(X) else X.shape[1])
        dims = count_of(request.dims, "dimension")
        talk.say(f"Embedding with {request.method} in {dims} (Ctrl-C keeps the best so far) ...")
        interrupted = fit_until_interrupted(model, X if before is None else before.transform(X), side)
    seconds = time.perf_counter() - began
    means = column_means(matrix.X)
    whole_model: Any = model if before is None else Chain.of(Pipeline([("metric", before), ("embedding", model)]))
    about = {asked.name: list(asked.columns) for asked in request.relations}
    encoder = None if matrix.table is None else matrix.table.encoder
    file = ModelFile(
        whole_model,
        means,
        scaling,
        matrix.image_shape,
        request.command,
        second,
        about,
        encoder,
        column_names=matrix.names if is_sparse(X) else None,
        singular=matrix.singular,
        label=request.how.wishes.label or "",
    )
    return Fitted(file, matrix, X, seconds, interrupted, y=Y if needs_pairs(request.method) else None)


_OPTIONS = {
    "given": "--given",
    "same": "--same",
    "relations": "--relation",
    "actions": "--actions",
    "trajectory": "--trajectory",
    "y": "--view-y",
}
"""The option that each argument of ``fit`` comes from."""


def fit_until_interrupted(model: Any, X: Any, side: Mapping[str, Any]) -> bool:
    """Fit; return whether Ctrl-C ended it, with an embedding to keep. Without one, Ctrl-C is raised again."""
    try:
        model.fit(X, **side)
    except KeyboardInterrupt:
        if not (capabilities(model).has_embedding or capabilities(model).has_iterations):
            raise
        return True
    return False


def _second(talk: Output, request: Request, matrix: Matrix, n_rows: int) -> tuple[NDArray[Any], SecondView]:
    check_takes(request.method, "y", "--view-y")
    assert request.view_y is not None
    Y, second, told = read_second(request.view_y, matrix, n_rows, request.missing, request.standardize)
    if needs_pairs(request.method) and not np.isfinite(Y).all():
        rule = f"some rows are empty, and {request.method} learns from pairs; leave them out of both files"
        raise CommandError(f"--view-y {request.view_y}: {rule}")
    talk.say(f"  {told}")
    return Y, second


def _side(talk: Output, request: Request, matrix: Matrix, whole: Matrix) -> tuple[dict[str, Any], dict[str, Any]]:
    """The side information for ``fit`` as keyword arguments, and the types of the given columns."""
    side, types = matrix.side, parse_types(request.given_types, list(matrix.given.columns))
    gaps = int(matrix.given.isna().any(axis=1).sum()) if side else 0
    if gaps:
        talk.say(f"  {gaps} rows have missing given values; they are embedded by averaging over them.")
    if side and request.same is not None:
        if request.different is not None:
            rule = "with --given, --same says which rows match across the groups, and a metric needs its own hints"
            raise CommandError(f"--same and --different: {rule}; use --attribute, or leave --given out")
        found = read_pairs("--same", request.same, whole)
        side["same"], here = found.placed(matrix, whole.n_rows)
        lost = f"; {(~here).sum()} of rows that were left out are not used" if not here.all() else ""
        talk.say(f"  {count_of(len(side['same']), 'pair')} of corresponding rows{lost}.")
    return side, types


def _relate(talk: Output, request: Request, matrix: Matrix, whole: Matrix, side: dict[str, Any]) -> Matrix:
    """Add actions and relations to the side information for ``fit``, and their descriptions to the remarks."""
    steps, words = read_sequence(request.sequence, matrix, whole)
    side |= steps
    if words:
        talk.say(f"  {words}")
        matrix = replace(matrix, remarks=[*matrix.remarks, words])
    if not request.relations:
        return matrix
    side["relations"], told, talk.answer["relations"] = build_relations(request.relations, matrix.related)
    for sentence in told:
        talk.say(f"  {sentence}")
    return replace(matrix, remarks=[*matrix.remarks, *told])


def _for_the_metric(request: Request, side: Mapping[str, Any]) -> HintFiles:
    """The files that a metric is learned from: where something is given, --same is for the embedding."""
    return HintFiles(None if "given" in side else request.same, request.different, request.distances)


def write_results(request: Request, fitted: Fitted) -> None:
    """Write every file beside its destination, then rename all: a failure on the way leaves none."""
    request.out.mkdir(parents=True, exist_ok=True)
    placed = fitted.placement
    with ExitStack() as stack:
        places = {what: stack.enter_context(atomic_write(path)) for what, path in request.results.items()}
        frame = embedding_frame(fitted.matrix, placed.values, placed.names, placed.columns)
        if fitted.unusual is not None:
            fitted.unusual.write(frame)
        put_frame(frame, places["embedding"], placed.values)
        fitted.file.save(places["model"])
        if "anndata" in places:
            from ._anndata import write_anndata

            write_anndata(request.data, places["anndata"], placed.values, fitted.matrix.rows)
        if "report" in places:
            _write_report(request, fitted, places["report"])


def _write_report(request: Request, fitted: Fitted, path: Path) -> None:
    from sidelight import report

    placed = fitted.placement
    colours = {name: fitted.matrix.colours[name] for name in fitted.matrix.colours.columns} | dict(placed.columns)
    report.write(
        fitted.file.model,
        path,
        X=None if fitted.is_distances or is_sparse(fitted.X) else fitted.file.shown(fitted.X),
        y=fitted.y,
        embedding=placed.plane,
        colours=colours or None,
        plain=fitted.plain,
        periods=request.periods,
        image_shape=fitted.file.image_shape,
        **fitted.matrix.side,
        **fitted.file.told(fitted.matrix),
        **report_rows(fitted.file, fitted.matrix, request.how.wishes.colours),
        title=Path(title_of(request.data)).name,
        command=request.command,
        notes=fitted.notes,
    )
