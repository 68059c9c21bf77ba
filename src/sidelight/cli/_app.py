"""The commands and their options; what they do is in the modules beside this one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from . import _options as options
from ._actions import SequenceColumns
from ._adapt_command import adapt
from ._columns import ColumnRoles
from ._corrected_command import corrected
from ._demo_command import demo
from ._explain_command import explain
from ._explore_command import explore
from ._given import parse_periods
from ._impute_command import impute
from ._methods import ACTION, DEFAULT, JOINT, RELATIONAL, find_method, parse_settings
from ._options import MissingValues, TableFormats, parse_size
from ._output import open_output
from ._read import Reading
from ._relations import columns_of, parse_relations
from ._typer_app import app

__all__ = ["app"]


@app.command()
def look(
    data: options.DataFile,
    kind: options.ColumnKind = None,
    drop: options.Drop = None,
    key: options.ArrayKey = None,
    layer: options.AnnDataLayer = None,
    obsm: options.AnnDataObsm = None,
    sheet: options.Sheet = None,
    query: options.Query = None,
    recursive: options.Recursive = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
    debug: options.Debug = False,
) -> None:
    """Describe a file: its format, the kind of each column, and what embed would do with it."""
    from ._look import look as run
    from ._look import parse_kinds

    wishes = ColumnRoles(drop=drop or ())
    how = Reading(wishes, key, layer, obsm, sheet=sheet, query=query, recursive=recursive)
    with open_output(as_json=json, quiet=quiet, debug=debug) as talk:
        run(talk, data, how, parse_kinds(kind or ()))


@app.command()
def embed(
    context: typer.Context,
    data: options.DataFile,
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the results.")] = Path("sidelight-out"),
    dims: Annotated[
        int | None, typer.Option("--dims", "-d", min=1, help="Latent dimensions (default 2, or that of the method).")
    ] = None,
    method: Annotated[str, typer.Option("--method", "-m", help="One of `sidelight methods`.")] = DEFAULT,
    colour: options.Colour = None,
    label: options.Label = None,
    drop: options.Drop = None,
    kind: options.ColumnKind = None,
    given: options.Given = None,
    given_type: options.GivenType = None,
    same: options.Same = None,
    different: options.Different = None,
    distances: options.Distances = None,
    attribute: options.Attribute = None,
    relation: options.RelationColumn = None,
    period: options.Period = None,
    view_y: options.ViewY = None,
    actions: options.ActionColumn = None,
    trajectory: options.TrajectoryColumn = None,
    distances_matrix: options.DistanceMatrix = None,
    batches: options.Batches = False,
    cluster: options.Cluster = None,
    sample: options.BatchSample = 50_000,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Same seed, same result.")] = 0,
    settings: options.Settings = None,
    standardize: Annotated[
        bool | None,
        typer.Option(
            "--standardize/--no-standardize",
            help="Scale columns to mean 0 and deviation 1, or not at all; tables are scaled robustly by default.",
        ),
    ] = None,
    missing: options.Missing = MissingValues.keep,
    table_format: options.TableFormat = TableFormats.csv,
    report: Annotated[bool, typer.Option("--report/--no-report", help="Write report.html.")] = True,
    plain: options.Plain = False,
    key: options.ArrayKey = None,
    layer: options.AnnDataLayer = None,
    obsm: options.AnnDataObsm = None,
    sheet: options.Sheet = None,
    query: options.Query = None,
    recursive: options.Recursive = False,
    image_size: options.ImageSize = None,
    image_shape: options.ImageShape = None,
    force: options.Force = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
    debug: options.Debug = False,
) -> None:
    """Embed a table, array, folder of pictures or AnnData file; write embedding, model and report."""
    from ._batches import embed_batches
    from ._distance_file import embed_distances
    from ._embed import Request
    from ._embed import embed as run
    from ._encoded_table import TableOptions
    from ._look import parse_kinds

    sizes = parse_size(image_size, "--image-size"), parse_size(image_shape, "--image-shape")
    with open_output(as_json=json, quiet=quiet, debug=debug) as talk:
        relations = parse_relations(relation or ())
        related = columns_of(relations)
        sequence = SequenceColumns(actions, trajectory)
        wishes = ColumnRoles(
            colour or (), label, drop or (), given or (), attribute or (), relations=related, actions=sequence.columns
        )
        table = TableOptions(parse_kinds(kind or ()), standardize)
        how = Reading(wishes, key, layer, obsm, *sizes, sheet=sheet, query=query, recursive=recursive, table=table)
        chosen = method
        if method == DEFAULT:
            # Two views are what the joint method is for, and so on; nobody should have to name both.
            chosen = JOINT if view_y is not None else RELATIONAL if relations else ACTION if actions else DEFAULT
        dims = find_method(chosen).default_dims if dims is None else dims
        request = Request(
            data, out, chosen, dims, seed, parse_settings(settings or ()), how, missing.value,
            standardize, report, force, context.obj["command"], given_type or (), same, parse_periods(period or ()),
            view_y, different, distances, relations, plain, table_format.value, sequence,
        )  # fmt: skip
        if distances_matrix is not None:
            embed_distances(talk, request, distances_matrix)
        elif cluster is not None:
            from ._cluster import embed_on_cluster

            embed_on_cluster(talk, request, sample, cluster)
        elif batches:
            embed_batches(talk, request, sample)
        else:
            run(talk, request)


for command in (adapt, corrected, explain, explore, impute):
    app.command()(command)


@app.command()
def transform(
    model: options.ModelPath,
    data: options.DataFile,
    out: Annotated[Path, typer.Option("--out", "-o", help=options.OUT_HELP)],
    view: options.View = "x",
    label: options.Label = None,
    colour: options.Colour = None,
    missing: options.Missing = MissingValues.keep,
    key: options.ArrayKey = None,
    layer: options.AnnDataLayer = None,
    obsm: options.AnnDataObsm = None,
    sheet: options.Sheet = None,
    query: options.Query = None,
    recursive: options.Recursive = False,
    force: options.Force = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
    debug: options.Debug = False,
) -> None:
    """Embed new rows with a fitted model; the old rows do not move."""
    from ._from_model import transform as run

    how = Reading(ColumnRoles(colour or (), label), key, layer, obsm, sheet=sheet, query=query, recursive=recursive)
    with open_output(as_json=json, quiet=quiet, debug=debug) as talk:
        run(talk, model, data, out, how, missing=missing.value, force=force, view=view)


@app.command()
def invert(
    model: options.ModelPath,
    points: Annotated[Path, typer.Argument(metavar="POINTS", help="Table of latent points z1, z2, ...")],
    out: Annotated[Path, typer.Option("--out", "-o", help=options.ROWS_OUT_HELP)],
    given: options.GivenValue = None,
    columns: options.SomeColumns = None,
    interval: options.Interval = None,
    view: options.View = "x",
    key: options.ArrayKey = None,
    sheet: options.Sheet = None,
    query: options.Query = None,
    force: options.Force = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
    debug: options.Debug = False,
) -> None:
    """Map latent points back to rows of data, in the columns and units of the data."""
    from ._from_model import invert as run

    with open_output(as_json=json, quiet=quiet, debug=debug) as talk:
        how = Reading(key=key, sheet=sheet, query=query)
        some, of = columns or (), given or ()
        run(talk, model, points, out, how, given=of, force=force, view=view, columns=some, level=interval)


@app.command()
def counterfactual(
    model: options.ModelPath,
    data: options.DataFile,
    out: Annotated[Path, typer.Option("--out", "-o", help=options.ROWS_OUT_HELP)],
    given: options.GivenValue = None,
    columns: options.SomeColumns = None,
    now: options.Now = None,
    residual: options.Residual = None,
    interval: options.Interval = None,
    label: options.Label = None,
    missing: options.Missing = MissingValues.keep,
    key: options.ArrayKey = None,
    layer: options.AnnDataLayer = None,
    obsm: options.AnnDataObsm = None,
    sheet: options.Sheet = None,
    query: options.Query = None,
    recursive: options.Recursive = False,
    force: options.Force = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
    debug: options.Debug = False,
) -> None:
    """Predict rows under another value of a given column."""
    from ._changed_rows import Asked
    from ._from_model import counterfactual as run

    how = Reading(ColumnRoles(label=label), key, layer, obsm, sheet=sheet, query=query, recursive=recursive)
    with open_output(as_json=json, quiet=quiet, debug=debug) as talk:
        asked = Asked(given or (), now or (), residual, columns or (), interval)
        run(talk, model, data, out, how, asked, missing=missing.value, force=force)


@app.command()
def predict(
    model: options.ModelPath,
    data: options.DataFile,
    out: Annotated[Path, typer.Option("--out", "-o", help=options.OUT_HELP)],
    interval: options.Interval = None,
    label: options.Label = None,
    missing: options.Missing = MissingValues.keep,
    key: options.ArrayKey = None,
    layer: options.AnnDataLayer = None,
    obsm: options.AnnDataObsm = None,
    sheet: options.Sheet = None,
    query: options.Query = None,
    recursive: options.Recursive = False,
    force: options.Force = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
    debug: options.Debug = False,
) -> None:
    """Predict the second view of rows by a model of two views."""
    from ._from_model import predict as run

    how = Reading(ColumnRoles(label=label), key, layer, obsm, sheet=sheet, query=query, recursive=recursive)
    with open_output(as_json=json, quiet=quiet, debug=debug) as talk:
        run(talk, model, data, out, how, missing=missing.value, force=force, level=interval)


@app.command()
def score(
    model: options.ModelPath,
    data: options.DataFile,
    missing: options.Missing = MissingValues.keep,
    key: options.ArrayKey = None,
    layer: options.AnnDataLayer = None,
    obsm: options.AnnDataObsm = None,
    sheet: options.Sheet = None,
    query: options.Query = None,
    recursive: options.Recursive = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
    debug: options.Debug = False,
) -> None:
    """Evaluate a model on data: reconstruction R², trustworthiness, mean log density."""
    from ._score import score as run

    how = Reading(key=key, layer=layer, obsm=obsm, sheet=sheet, query=query, recursive=recursive)
    with open_output(as_json=json, quiet=quiet, debug=debug) as talk:
        run(talk, model, data, how, missing=missing.value)


@app.command()
def report(
    model: options.ModelPath,
    data: options.DataFile,
    out: Annotated[Path, typer.Option("--out", "-o", help="HTML file to write.")] = Path("report.html"),
    colour: options.Colour = None,
    label: options.Label = None,
    period: options.Period = None,
    view_y: Annotated[
        Path | None,
        typer.Option("--view-y", "--view2", metavar="FILE", help="The outputs of the same rows, for a model of pairs."),
    ] = None,
    plain: options.Plain = False,
    missing: options.Missing = MissingValues.keep,
    key: options.ArrayKey = None,
    layer: options.AnnDataLayer = None,
    obsm: options.AnnDataObsm = None,
    sheet: options.Sheet = None,
    query: options.Query = None,
    recursive: options.Recursive = False,
    image_shape: options.ImageShape = None,
    force: options.Force = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
    debug: options.Debug = False,
) -> None:
    """Write the report of a fitted model over data."""
    from ._from_model import report as run

    shape = parse_size(image_shape, "--image-shape")
    wishes = ColumnRoles(colour or (), label)
    how = Reading(wishes, key, layer, obsm, None, shape, sheet=sheet, query=query, recursive=recursive)
    with open_output(as_json=json, quiet=quiet, debug=debug) as talk:
        periods = parse_periods(period or ())
        run(
            talk, model, data, out, how, periods=periods, missing=missing.value, force=force, view_y=view_y, plain=plain
        )


@app.command()
def methods(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="Method to explain; without it, list all.")
    ] = None,
    rows: Annotated[int, typer.Option("--rows", min=2, help="Rows of your data, for the cost.")] = 1000,
    columns: Annotated[int, typer.Option("--columns", min=1, help="Columns of your data, for the cost.")] = 20,
    json: options.Json = False,
) -> None:
    """List the methods that embed can use, or explain one of them."""
    from ._method_page import explain_method, list_methods

    with open_output(as_json=json) as talk:
        if name is None:
            list_methods(talk)
        else:
            explain_method(talk, name, rows, columns)


@app.command()
def compare(
    context: typer.Context,
    data: options.DataFile,
    methods: Annotated[str, typer.Option("--methods", "-m", help="Methods to compare, separated by commas.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the results.")] = Path("sidelight-compare"),
    dims: Annotated[int, typer.Option("--dims", "-d", min=1, help="Latent dimensions of every map.")] = 2,
    colour: options.Colour = None,
    label: options.Label = None,
    drop: options.Drop = None,
    kind: options.ColumnKind = None,
    given: options.Given = None,
    given_type: options.GivenType = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Same seed, same result.")] = 0,
    settings: options.MethodSettings = None,
    standardize: Annotated[
        bool | None, typer.Option("--standardize/--no-standardize", help="Scale columns to mean 0 and deviation 1.")
    ] = None,
    missing: options.Missing = MissingValues.keep,
    key: options.ArrayKey = None,
    layer: options.AnnDataLayer = None,
    obsm: options.AnnDataObsm = None,
    sheet: options.Sheet = None,
    query: options.Query = None,
    image_size: options.ImageSize = None,
    force: options.Force = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
    debug: options.Debug = False,
) -> None:
    """Embed the same rows by several methods; write a page with the maps side by side and their measures."""
    from ._compare import compare as run
    from ._embed import Request
    from ._encoded_table import TableOptions
    from ._look import parse_kinds

    names = [name.strip() for name in methods.split(",") if name.strip()]
    with open_output(as_json=json, quiet=quiet, debug=debug) as talk:
        how = Reading(
            ColumnRoles(colour or (), label, drop or (), given or ()), key, layer, obsm,
            parse_size(image_size, "--image-size"), sheet=sheet, query=query,
            table=TableOptions(parse_kinds(kind or ()), standardize),
        )  # fmt: skip
        request = Request(
            data, out, "", dims, seed, parse_settings(settings or ()), how, missing.value, standardize, force=force,
            command=context.obj["command"], given_types=given_type or (),
        )  # fmt: skip
        run(talk, request, names)


app.command()(demo)
