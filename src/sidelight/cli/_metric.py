"""A metric learned from hints, before the embedding: ``--same``, ``--different``, ``--distances``, ``--attribute``."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from sidelight.base.messages import count_of

from ._matrix import Matrix
from ._output import CommandError
from ._pairs import PairFile, check_apart, read_pairs

__all__ = ["HintFiles", "Hints", "learn", "metric_settings", "read_hints"]

PREFIX = "metric__"
"""Prefix of the settings of the metric, as in a Pipeline of scikit-learn."""


@dataclass(frozen=True)
class HintFiles:
    """Files with side information for metric learning; ``same`` is for the metric only without ``--given``."""

    same: Path | None = None
    different: Path | None = None
    distances: Path | None = None


@dataclass(frozen=True)
class Hints:
    """Input of metric learning: the metric's class, the arguments of ``fit``, and a description in words and JSON."""

    metric: str
    said: Mapping[str, Any]
    words: str
    answer: Mapping[str, Any]


def read_hints(files: HintFiles, matrix: Matrix, whole: Matrix) -> Hints | None:
    """Read the side information about similarity of the rows of ``matrix``; ``whole`` holds all rows of the file."""
    _check_one_kind(files, matrix)
    if matrix.attributes.shape[1]:
        return _attribute_hints(matrix.attributes)
    if files.distances is not None:
        return _distance_hints(files.distances, matrix, whole)
    if files.same is not None or files.different is not None:
        return _pair_hints(files, matrix, whole)
    return None


def _check_one_kind(files: HintFiles, matrix: Matrix) -> None:
    asked = {
        "--same": files.same is not None,
        "--different": files.different is not None,
        "--distances": files.distances is not None,
        "--attribute": bool(matrix.attributes.shape[1]),
    }
    named = [option for option, is_there in asked.items() if is_there]
    if len(named) > 1 and named != ["--same", "--different"]:
        rule = "one metric is learned from one kind of hint: pairs (--same, --different), --distances or --attribute"
        raise CommandError(f"{named[-2]} and {named[-1]}: {rule}")


def _pair_hints(files: HintFiles, matrix: Matrix, whole: Matrix) -> Hints:
    paths = {"same": files.same, "different": files.different}
    read = {name: read_pairs(f"--{name}", path, whole) for name, path in paths.items() if path is not None}
    found = {name: pairs.distinct() for name, pairs in read.items()}
    if len(found) == 2:
        check_apart(found["same"], found["different"])
    said = {name: pairs.placed(matrix, whole.n_rows)[0] for name, pairs in found.items()}
    counts = {name: len(pairs) for name, pairs in said.items()}
    words = " and ".join(f"{count} {name}" for name, count in counts.items()) + " pairs"
    notes = [_fewer(read[name], found[name], counts[name], name) for name in found]
    return Hints("EquivalenceMetric", said, words + "".join(notes), counts)


def _fewer(read: PairFile, distinct: PairFile, used: int, name: str) -> str:
    """A sentence about the pairs that are not used, and why."""
    twice, lost = len(read.index) - len(distinct.index), len(distinct.index) - used
    words = f"; {twice} {name} pairs that are there more than once count once" if twice else ""
    return words + (f"; {lost} {name} pairs of rows that were left out are not used" if lost else "")


def _distance_hints(path: Path, matrix: Matrix, whole: Matrix) -> Hints:
    found = read_pairs("--distances", path, whole, values=True)
    loops = found.index[:, 0] == found.index[:, 1]
    if loops.any():
        raise found.wrong("pairs a row with itself", loops)
    if not found.values.any():
        raise found.wrong("every distance is 0, so there is nothing to tell apart")
    index, here = found.placed(matrix, whole.n_rows)
    lost = len(here) - len(index)
    words = count_of(len(index), "distance") + (f"; {lost} of rows that were left out are not used" if lost else "")
    return Hints("DistanceMetric", {"pairs": index, "distances": found.values[here]}, words, {"distances": len(index)})


def _attribute_hints(table: pd.DataFrame) -> Hints:
    words = [_attribute(str(name), table[name]) for name in table.columns]
    answer = {"attributes": [str(name) for name in table.columns]}
    if len(words) == 1:
        return Hints("EquivalenceMetric", {"y": table.iloc[:, 0]}, f"the attribute {words[0]}", answer)
    return Hints("MultiAttributeMetric", {"y": table}, f"the attributes {', '.join(words)}", answer)


def _attribute(name: str, column: pd.Series[Any]) -> str:
    """Describe an attribute in words, after checking that it is neither constant nor different in every row."""
    here = column.dropna()
    counts = here.value_counts()
    if len(counts) < 2:
        seen = f"has the one value {counts.index[0]}" if len(counts) else "has no entry"
        raise CommandError(f"--attribute {name}: {seen}, so there is nothing to tell apart")
    if pd.api.types.is_float_dtype(here) and (here != np.rint(here)).any():
        rule = "holds quantities, not groups; give a column of groups, or --distances"
        raise CommandError(f"--attribute {name}: {rule}")
    if int(counts.max()) < 2:
        raise CommandError(f"--attribute {name}: differs in every row, so no two rows are the same")
    gaps = f", {count_of(len(column) - len(here), 'row')} unknown" if len(here) < len(column) else ""
    return f"{name} ({count_of(len(counts), 'value')}{gaps})"


def metric_settings(settings: Mapping[str, Any], hints: Hints | None) -> tuple[dict[str, Any], dict[str, Any]]:
    """Split settings into those of the method and those of the metric (prefix ``metric__``)."""
    own = {name.removeprefix(PREFIX): value for name, value in settings.items() if name.startswith(PREFIX)}
    rest = {name: value for name, value in settings.items() if not name.startswith(PREFIX)}
    if own and hints is None:
        wanted = "say with --same, --different, --distances or --attribute what it is learned from"
        raise CommandError(f"--set {PREFIX}{next(iter(own))}: there is no metric; {wanted}")
    if hints is not None:
        known = sorted(set(inspect.signature(_kind(hints)).parameters) - {"callback", "verbose"})
        unknown = [name for name in own if name not in known]
        if unknown:
            offered = ", ".join(PREFIX + name for name in known)
            raise CommandError(f"--set {PREFIX}{unknown[0]}: {hints.metric} has no such setting; there are {offered}")
    return rest, own


def learn(hints: Hints, X: Any, dims: int, settings: Mapping[str, Any]) -> tuple[Any, str, dict[str, Any]]:
    """Fit the metric; return it with a sentence and a JSON description of it.

    A metric that chooses its own rank may have fewer columns than the map has dimensions, and most methods cannot
    return more columns than they get. It is then refitted with as many columns as the map has dimensions.
    """
    metric = _kind(hints)(**settings).fit(X, **hints.said)
    width = min(dims, X.shape[1])
    if metric.n_components_ < width and "n_components" not in settings:
        each = -(-width // max(1, len(hints.answer.get("attributes", ()))))
        metric.set_params(n_components=each).fit(X, **hints.said)
    directions = int(metric.n_components_)
    words = f"{hints.metric} learns a metric of {directions} directions from {hints.words}."
    misfit = {"misfit": float(metric.misfit_)} if "distances" in hints.said else {}
    return metric, words, {"name": hints.metric, "directions": directions, **hints.answer, **misfit}


def _kind(hints: Hints) -> Any:
    import sidelight

    return getattr(sidelight, hints.metric)
