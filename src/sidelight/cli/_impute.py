"""``sidelight impute``: fill the missing entries of a table, and say by what."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from sidelight.base.messages import count_of
from sidelight.persistence import load, save
from sidelight.tables._column_fill import has_interval
from sidelight.tables._column_kinds import understand
from sidelight.tables._fill_plan import read_gaps
from sidelight.tables._number_text import is_missing_mark
from sidelight.tables.imputer import METHODS, Imputer

from ._columns import suggestion
from ._encoded_table import listed
from ._imputed_table import GappedFile, ImputedColumns, open_gapped, write_filled
from ._output import CommandError, Output, refuse_options
from ._read import Reading
from ._write import check_format, check_free

__all__ = ["ImputeRequest", "impute"]

_MOST_LINES = 30
_NO_BETTER = 0.95
_STAYS = {
    "identifier": "an identifier cannot be told from the rest of a row",
    "text": "free text cannot be told from the rest of a row",
    "empty": "the column has no entry to learn from",
}
_MODEL_SAYS = "the model of --model says it"


@dataclass(frozen=True)
class ImputeRequest:
    """Options of an imputation.

    Parameters
    ----------
    data, out : Path
    how : Reading
    method : str
    kinds : dict
        Column -> kind; "drop" leaves one as it is.
    seed : int
    draws : int or None
        Tables with drawn entries, instead of one with expected entries.
    level : float or None
        Of intervals beside the filled columns.
    model : Path or None
        Imputer to fill with.
    save : Path or None
        Where to keep the imputer.
    force : bool
    """

    data: Path
    out: Path
    how: Reading
    method: str
    kinds: Mapping[str, str]
    seed: int
    draws: int | None
    level: float | None
    model: Path | None
    save: Path | None
    force: bool


def impute(talk: Output, request: ImputeRequest) -> None:
    """Fill the missing entries of a table and write it."""
    _check(request)
    imputer = None if request.model is None else _opened(request.model)
    file = open_gapped(request.data, request.how)
    _check_columns(file, request)
    talk.say(f"{file.title}: {count_of(len(file), 'row')}, {count_of(len(file.names), 'column')}", style="bold")
    for remark in file.remarks:
        talk.say(f"  {remark}")
    if imputer is None:
        imputer = _fitted(talk, file, request)
        for sentence in _words_read_as_missing(imputer):
            talk.say(f"  {sentence}")
    names = _known_names(file, imputer)
    found = _imputed(file.rows_of(names), imputer, request)
    write_filled(file, found, request.out)
    if request.save is not None:
        save(imputer, request.save, notes={"command": "sidelight impute"})
    _tell(talk, file, imputer, found, request)


def _check(request: ImputeRequest) -> None:
    """Check the options before reading any file."""
    check_format(request.out)
    check_free([request.out, *([] if request.save is None else [request.save])], force=request.force)
    if request.method not in METHODS:
        known = f"choose from {', '.join(METHODS)}{suggestion(request.method, METHODS)}"
        raise CommandError(f"--method {request.method}: there is no such model of entries; {known}")
    if request.draws is not None and request.level is not None:
        raise CommandError("--interval: draws show the uncertainty themselves; leave --draws or --interval out")
    if request.level is not None and not 0 < request.level < 1:
        raise CommandError(f"--interval {request.level:g}: give a share between 0 and 1, for example 0.9")
    if request.model is not None:
        asked = {
            "--method": request.method != "auto",
            "--kind": any(kind != "drop" for kind in request.kinds.values()),
            "--drop": "drop" in request.kinds.values(),
            "--save": request.save is not None,
        }
        refuse_options(asked, _MODEL_SAYS)


def _check_columns(file: GappedFile, request: ImputeRequest) -> None:
    """Refuse options that name no column, and tables that the format of --out cannot hold."""
    for name, kind in request.kinds.items():
        if name not in file.names:
            option = f"--drop {name}" if kind == "drop" else f"--kind {name}={kind}"
            raise CommandError(f"{option}: {file.title} has no such column{suggestion(name, file.names)}")
    words = file.words
    if request.out.suffix.lower() == ".npy" and words:
        raise CommandError(
            f"--out {request.out}: an array holds numbers, and {words[0]} is none; end the name with .csv"
        )
    taken = [] if request.draws is None else [name for name in file.names if name == "draw"]
    if request.level is not None:
        endings = ("_low", "_high", "_probability")
        taken = [f"{name}{end}" for name in file.names for end in endings if f"{name}{end}" in file.names]
    if taken:
        option = "--interval" if request.level is not None else "--draws"
        raise CommandError(f"{option}: {file.title} has a column {taken[0]} already; rename it")


def _opened(path: Path) -> Imputer:
    model = load(path)
    if not isinstance(model, Imputer):
        what = "Pipeline" if isinstance(model, Pipeline) else type(model).__name__
        raise CommandError(f"--model {path}: holds a {what} and no Imputer; make one with sidelight impute --save FILE")
    return model


def _fitted(talk: Output, file: GappedFile, request: ImputeRequest) -> Imputer:
    """An imputer fitted to the table; columns it cannot fill are reported later."""
    shown = not talk.silent and talk.aside.is_terminal
    unused = request.method == "auto" and request.save is None and not _has_gaps(file)
    method = "gaussian" if unused else request.method  # nothing will be filled: no need to compare models
    imputer = Imputer(method, kinds=dict(request.kinds) or None, random_state=request.seed, verbose=int(shown))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=r"Imputer: X=columns? .* cannot be filled")
        try:
            return imputer.fit(file.content)
        except (ValueError, TypeError) as error:
            raise CommandError(str(error).removeprefix("Imputer: ")) from error


def _words_read_as_missing(imputer: Imputer) -> list[str]:
    """A sentence for each column of numbers with words that are taken for missing entries, and so are filled."""
    found = {
        use.name: [mark for mark in use.marks if not is_missing_mark(mark)] for use in imputer.columns_ if use.used
    }
    return [
        f"{name}: {', '.join(map(repr, words))} read as missing, and filled." for name, words in found.items() if words
    ]


def _has_gaps(file: GappedFile) -> bool:
    if not file.is_table:
        return bool(np.isnan(file.content).any())
    return any(use.n_missing for use in understand(file.content))


def _known_names(file: GappedFile, imputer: Imputer) -> list[str]:
    """The columns of the imputer that the file has; used ones must be there."""
    if not (file.is_table and imputer.plan_.named):
        if len(file.names) != imputer.n_features_in_:
            raise CommandError(
                f"{file.title} has {count_of(len(file.names), 'column')}, "
                f"and the imputer was fitted on {imputer.n_features_in_}"
            )
        return file.names
    missing = [use.name for use in imputer.columns_ if use.used and use.name not in file.names]
    if missing:
        word = "columns" if len(missing) > 1 else "column"
        raise CommandError(f"{file.title} lacks the {word} {listed(missing)}, which the imputer was fitted on")
    return [use.name for use in imputer.columns_]


def _imputed(content: Any, imputer: Imputer, request: ImputeRequest) -> ImputedColumns:
    """Where gaps are, and what stands there in each table that is to be written."""
    try:
        gaps = read_gaps(content, imputer.plan_, type(imputer).__name__).gaps
        imputer = _reseeded(imputer, request)
        tables = [imputer.transform(content)] if request.draws is None else imputer.draws(content, request.draws)
        beside = {} if request.level is None else _beside(content, imputer, gaps, request.level, tables[0])
    except (ValueError, TypeError) as error:
        raise CommandError(str(error).removeprefix("Imputer: ")) from error
    return ImputedColumns({name: rows for name, rows in gaps.items() if len(rows)}, tables, request.draws, beside)


def _reseeded(imputer: Imputer, request: ImputeRequest) -> Imputer:
    """The imputer, with the seed that was asked for; the seed of a loaded one belongs to its fit."""
    if request.model is not None:
        imputer.seed_ = request.seed
    return imputer


def _beside(
    content: Any, imputer: Imputer, gaps: Mapping[str, NDArray[Any]], level: float, filled: Any
) -> dict[str, dict[str, Any]]:
    """Further columns for each column with gaps: the ends of intervals, or the probability of the level filled in."""
    found = imputer.interval(content, level)
    columns: dict[str, dict[str, Any]] = {}
    places = {use.name: j for j, use in enumerate(imputer.columns_)}

    def column(table: Any, name: str) -> Any:
        return table[:, places[name]] if isinstance(table, np.ndarray) else table[name].to_numpy()

    for block, code, _ in imputer.plan_.used:
        name, rows = block.name, gaps[block.name]
        if not len(rows):
            continue
        if has_interval(code):
            columns[name] = {"low": column(found.lower, name)[rows], "high": column(found.upper, name)[rows]}
        elif name in found.probabilities:
            P = pd.DataFrame(found.probabilities[name])
            levels = [str(entry) for entry in column(filled, name)[rows]]
            found_in = [_probability(P.iloc[row], level) for row, level in zip(rows, levels, strict=True)]
            columns[name] = {"probability": np.array(found_in)}
    return columns


def _probability(row: pd.Series[Any], level: str) -> float:
    """The probability of a level; whole numbers may have become 1.0 on their way."""
    return float(row[level] if level in row.index else row[level.removesuffix(".0")])


def _tell(talk: Output, file: GappedFile, imputer: Imputer, found: ImputedColumns, request: ImputeRequest) -> None:
    """Print which entries were filled, by which model, and which stay missing."""
    filled = {name: len(rows) for name, rows in found.gaps.items()}
    stays = _stays(file, imputer)
    talk.answer |= {
        "out": request.out,
        "rows": len(file),
        "filled": filled,
        "stays_missing": {name: why for name, (_, why) in stays.items()},
        "method": imputer.method_,
        "held_out_error": dict(imputer.held_out_),
        "column_errors": {name: error for name, error in _column_errors(imputer).items() if name in filled},
        "draws": request.draws,
        "interval": request.level,
        "model": request.save or request.model,
    }
    if not filled:
        talk.say("There is no missing entry that can be filled.")
    else:
        columns = count_of(len(filled), "column")
        talk.say(f"{_entries(sum(filled.values()))} filled in {columns}:")
        for name, number in list(filled.items())[:_MOST_LINES]:
            talk.say(f"  {name}: {number:,} of {len(file):,}{_only_value(imputer, name)}{_error_of(imputer, name)}")
        if len(filled) > _MOST_LINES:
            talk.say(f"  ... and {count_of(len(filled) - _MOST_LINES, 'more column')}; --json lists all")
        talk.say(_method_sentence(imputer))
    for name, (number, why) in stays.items():
        talk.say(f"{name}: {_entries(number)} still missing ({why}).")
    for name in file.names:
        if file.is_table and imputer.plan_.named and name not in {use.name for use in imputer.columns_}:
            talk.say(f"{name}: not known to the imputer, left as it is.")
    if request.draws is not None:
        talk.say(f"The file has {request.draws} tables, one below the other; the column draw numbers them.")
    talk.say(f"wrote {request.out}" + ("" if request.save is None else f" and {request.save}"))


def _stays(file: GappedFile, imputer: Imputer) -> dict[str, tuple[int, str]]:
    """Columns whose gaps stay: how many, and why."""
    found = {}
    missing = file.missing()
    for use in imputer.columns_:
        if not use.used and use.kind != "constant" and missing.get(use.name):
            found[use.name] = (missing[use.name], _STAYS.get(use.kind, "left out as you asked"))
    return found


def _only_value(imputer: Imputer, name: str) -> str:
    fill = next(fill for fill in imputer.plan_.fills if fill.name == name)
    if fill.source != "constant":
        return ""
    return f", with its only value {fill.fixed}; if an empty entry means something else there, use --drop {name}"


def _column_errors(imputer: Imputer) -> dict[str, float]:
    """Held-out errors of columns; none in files of before version 0.2."""
    return dict(vars(imputer).get("column_errors_", {}))


def _error_of(imputer: Imputer, name: str) -> str:
    error = _column_errors(imputer).get(name)
    return "" if error is None else f", error {error:.2f}"


def _method_sentence(imputer: Imputer) -> str:
    """Which model filled the gaps, and why this one."""
    if imputer.method_ == "none":
        return "No column varies, so there is no model."
    errors = ", ".join(f"{name} {error:.2f}" for name, error in imputer.held_out_.items())
    if not errors:
        return f"Method: {imputer.method_}; there were too few entries to hold some out and compare."
    own = imputer.held_out_.get(imputer.method_, 0.0)
    worse = " Beware: that is hardly better than the mean of the column." if own > _NO_BETTER else ""
    chosen = ", chosen" if len(imputer.held_out_) > 1 else "; judged"
    unit = "in standard deviations of the column (1 is as good as its mean)"
    found = f"Method: {imputer.method_}{chosen} by the error on entries held out from the fit, {unit}: {errors}."
    close = (
        " The Gaussian is kept where the others are not clearly better."
        if own > min(imputer.held_out_.values())
        else ""
    )
    return f"{found}{close}{worse}"


def _entries(number: int) -> str:
    return "1 entry is" if number == 1 else f"{number:,} entries are"
