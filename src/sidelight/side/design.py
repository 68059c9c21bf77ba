"""Warnings about the design of ``given`` before a fit: confounded columns, groups of few rows.

Two columns of categories are the two sides of a graph whose edges are the combinations of values that occur. Effects
that add up can be told apart if that graph is connected, and only then:

same      each value of either column occurs with one value of the other     batch = condition
within    each value of the first occurs with one value of the second        donor within condition
apart     blocks of values that share none                                   runs 1, 2 with doses 0, 1; run 3 with 2

A number is never the first column (most of its values occur once), and can be within-constant as the second: the age of
a donor.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from sidelight.base.messages import count_of, error_message
from sidelight.base.warnings import DesignWarning, warn

from .given import Column, EncodedGiven, Given

__all__ = ["Link", "column_link", "warn_of_design", "warn_of_kept"]

Array = npt.NDArray[Any]
FEWEST_ROWS = 10
"""Rows of a group from which on its counterparts in other groups can be looked for."""
_SHOWN = 3
_MUCH = 0.5  # share of the variance of a number between categories from which on one goes with the other
_ALL = 1.0 - 1e-9


@dataclass(frozen=True)
class Link:
    """How the values of two columns occur together, if their effects cannot be told apart.

    Parameters
    ----------
    kind : "same", "within" or "apart"
        See the head of this file.
    first, second : str
        Names of the columns; with "within", the first is within the second.
    shown : str
        Some of the values that occur together, in words.
    """

    kind: str
    first: str
    second: str
    shown: str


@dataclass(frozen=True)
class _Codes:
    """Values of a column, or of a combination of columns: numbers from 0 (n,), -1 where missing, and their names."""

    name: str
    codes: Array
    names: tuple[str, ...]
    category: bool


def column_link(first: Column, first_values: Array, second: Column, second_values: Array) -> Link | None:
    """How two columns with encoded values (n,) are linked; None if their effects can be told apart.

    Examples
    --------
    >>> donor, condition = Column("donor", "category", ("a", "b", "c")), Column("condition", "category", ("no", "yes"))
    >>> column_link(donor, np.array([0, 0, 1, 1, 2, 2]), condition, np.array([0, 0, 0, 0, 1, 1]))
    Link(kind='within', first='donor', second='condition', shown="'a' with 'no', 'b' with 'no', 'c' with 'yes'")
    """
    return _link(_codes(first, first_values), _codes(second, second_values))


def warn_of_design(owner: str, given: Given, known: EncodedGiven) -> None:
    """Warn (``DesignWarning``) of columns of ``given`` that cannot be told apart, and of groups of few rows."""
    columns = [_codes(column, known.values[:, place]) for place, column in enumerate(given.columns)]
    for column in columns:
        if len(column.names) == 1:
            rule, remedy = "has the same value in every row", "There is nothing to factor out: leave it out"
            warn(error_message(owner, "given", repr(column.name), rule, remedy), DesignWarning)
    columns = [column for column in columns if len(column.names) > 1]
    for place, first in enumerate(columns):
        for second in columns[place + 1 :]:
            link = _link(first, second)
            if link is not None:
                seen, (rule, remedy) = f"{link.first!r} and {link.second!r}", _SEPARATION[link.kind]
                rule, remedy = (text.format(**vars(link)) for text in (rule, remedy))
                warn(error_message(owner, "given", seen, rule, remedy), DesignWarning)
    groups = _combined([column for column in columns if column.category])
    if groups is not None:
        _warn_of_few(owner, groups)


def warn_of_kept(
    owner: str, given: Given, known: EncodedGiven, kept: Given, entries: EncodedGiven, argument: str = "keep"
) -> None:
    """Warn (``DesignWarning``) of columns to be ``kept`` in view that factoring out ``given`` takes out, too.

    ``argument``: the one that names these columns.
    """
    columns = [_codes(column, known.values[:, place]) for place, column in enumerate(given.columns)]
    groups = _combined([column for column in columns if column.category])
    several = groups is not None and sum(column.category for column in columns) > 1
    for place, column in enumerate(kept.columns):
        _warn_of_shares(owner, given, known, column, entries.values[:, place], argument)
        second = _codes(column, entries.values[:, place])
        found = [link for first in columns if (link := _link(first, second)) is not None]
        if not found and several and groups is not None:
            joint = _link(groups, second)
            found = [joint] if joint is not None and joint.kind != "apart" and joint.second == column.name else []
        for link in found:
            inside = link.kind == "within" and link.first == column.name  # a value of the kept column in one group only
            rule, remedy = _KEPT["inside" if inside else link.kind]
            other = link.second if inside else link.first if link.first != column.name else link.second
            words = {"kept": column.name, "given": other, "shown": link.shown}
            rule, remedy = rule.format(**words), remedy.format(**words)
            warn(error_message(owner, argument, repr(column.name), rule, remedy), DesignWarning)


def _warn_of_shares(owner: str, given: Given, known: EncodedGiven, kept: Column, entries: Array, argument: str) -> None:
    """Warn where most of the variance of a number is between the categories of the other column."""
    for place, column in enumerate(given.columns):
        if bool(column.categories) == bool(kept.categories):
            continue
        values = known.values[:, place]
        numbers, codes = (entries, values) if column.categories else (values, entries)
        share = _between(numbers, codes)
        if not _MUCH < share < _ALL:  # all of it: nested, and said so
            continue
        what = f"{column.name!r}" if kept.categories else "its variance"
        rule = f"goes with {column.name!r}: {share:.0%} of {what} is between values of"
        rule = (
            f"{rule} {(kept if kept.categories else column).name!r}, and factoring out {column.name!r} takes that out"
        )
        remedy = f"Leave {column.name!r} out of given" + (
            f", or give it less its mean within each {kept.name!r}" if kept.categories else ""
        )
        warn(error_message(owner, argument, repr(kept.name), rule, remedy), DesignWarning)


def _between(values: Array, codes: Array) -> float:
    """Share of the variance of numbers (n,) between categories (n,), adjusted for how many these are; NaN: missing."""
    here = np.isfinite(values) & np.isfinite(codes)
    unit, member = np.unique(codes[here], return_inverse=True)
    n, k = int(here.sum()), len(unit)
    numbers = values[here] / (np.abs(values[here]).max(initial=0.0) or 1.0)
    total = float(np.square(numbers - numbers.mean()).sum()) if n else 0.0
    if k < 2 or n <= k or total == 0:
        return 0.0
    means = np.bincount(member, numbers) / np.bincount(member)
    return 1.0 - float(np.square(numbers - means[member]).sum()) / (n - k) * (n - 1) / total


_SEPARATION = {
    "same": (
        "split the rows in the same way ({shown}): their effects cannot be told apart and are factored out as one",
        "Leave one of them out, and do not change one alone in a counterfactual",
    ),
    "within": (
        "cannot be told apart: each value of {first!r} occurs with one value of {second!r} only ({shown})",
        "Leave {second!r} out, which {first!r} factors out as well, and do not change one alone in a counterfactual",
    ),
    "apart": (
        "fall into blocks that share no value ({shown}): a difference between blocks can be the effect of either",
        "Add rows that link the blocks, or leave one of the columns out",
    ),
}
_KEPT = {
    "same": (
        "splits the cells as {given!r} does ({shown}): factoring out {given!r} takes it out, too",
        "Leave {given!r} out of given to see it; no method can tell the two apart",
    ),
    "within": (
        "has one value only in each {given!r} ({shown}): factoring out {given!r} takes it out, too",
        "Leave {given!r} out of given, or give what varies within {kept!r} instead",
    ),
    "inside": (
        "has values that occur in one {given!r} each ({shown}): no cell says which difference is that of {given!r}",
        "Leave {given!r} out of given, or read only differences within one {given!r}",
    ),
    "apart": (
        "and {given!r} fall into blocks that share no value ({shown}): differences between blocks are taken out",
        "Leave {given!r} out of given, or read only differences within a block",
    ),
}


def _codes(column: Column, values: Array) -> _Codes:
    """Number the values that occur, in order."""
    here = np.isfinite(values)
    found, places = np.unique(values[here], return_inverse=True)
    codes = np.full(len(values), -1)
    codes[here] = places
    ordered = bool(column.categories)
    names = tuple(repr(column.categories[int(value)]) if ordered else f"{value:.4g}" for value in found)
    return _Codes(column.name, codes, names, ordered)


def _combined(columns: list[_Codes]) -> _Codes | None:
    """The combinations of the values of several columns; missing where one of them is; None without columns."""
    if not columns:
        return None
    table = np.column_stack([column.codes for column in columns])
    here = (table >= 0).all(axis=1)
    found, places = np.unique(table[here], axis=0, return_inverse=True)
    codes = np.full(len(table), -1)
    codes[here] = places.reshape(-1)
    names = tuple(
        " and ".join(column.names[value] for column, value in zip(columns, row, strict=True)) for row in found.tolist()
    )
    return _Codes(" × ".join(column.name for column in columns), codes, names, True)


def _link(first: _Codes, second: _Codes) -> Link | None:
    if second.category and not first.category:
        first, second = second, first
    here = (first.codes >= 0) & (second.codes >= 0)
    pairs = np.unique(np.column_stack([first.codes[here], second.codes[here]]), axis=0)
    counts = [len(np.unique(pairs[:, side])) for side in (0, 1)]
    # a column in which most rows have a value of their own would determine every other
    says = [column.category and 2 * count <= here.sum() for column, count in zip((first, second), counts, strict=True)]
    if min(counts) < 2 or not says[0]:
        return None
    if len(pairs) == counts[0]:
        kind = "same" if counts[0] == counts[1] else "within"
        return Link(kind, first.name, second.name, _pairs_in_words(pairs, first, second))
    if not says[1]:
        return None
    if len(pairs) == counts[1]:
        return Link("within", second.name, first.name, _pairs_in_words(pairs[:, ::-1], second, first))
    return _blocks(pairs, first, second)


def _blocks(pairs: Array, first: _Codes, second: _Codes) -> Link | None:
    """The connected parts of the graph of combinations that occur; None if there is one."""
    sizes = len(first.names), len(second.names)
    ones = np.ones(len(pairs))
    edges = sparse.coo_array((ones, (pairs[:, 0], pairs[:, 1] + sizes[0])), shape=(sum(sizes), sum(sizes)))
    labels = connected_components(edges, directed=False)[1]
    blocks = list(dict.fromkeys(labels[pairs[:, 0]].tolist()))
    if len(blocks) < 2:
        return None
    shown = []
    for block in blocks[:_SHOWN]:
        own = pairs[labels[pairs[:, 0]] == block]
        shown.append(f"{_listed(first, own[:, 0])} with {_listed(second, own[:, 1])}")
    return Link("apart", first.name, second.name, "; ".join(shown) + ("; ..." if len(blocks) > _SHOWN else ""))


def _listed(column: _Codes, codes: Array) -> str:
    names = [column.names[code] for code in np.unique(codes)]
    return ", ".join(names[:_SHOWN]) + (", ..." if len(names) > _SHOWN else "")


def _pairs_in_words(pairs: Array, first: _Codes, second: _Codes) -> str:
    shown = [f"{first.names[a]} with {second.names[b]}" for a, b in pairs[:_SHOWN].tolist()]
    return ", ".join(shown) + (", ..." if len(pairs) > _SHOWN else "")


def _warn_of_few(owner: str, groups: _Codes) -> None:
    """Warn of groups of so few rows that their counterparts in other groups cannot be found."""
    counts = np.bincount(groups.codes[groups.codes >= 0], minlength=len(groups.names))
    few = np.flatnonzero(counts < FEWEST_ROWS)
    if len(few) == 0 or len(counts) < 2:
        return
    shown = ", ".join(f"{groups.names[group]} ({count_of(counts[group], 'row')})" for group in few[:_SHOWN])
    shown += ", ..." if len(few) > _SHOWN else ""
    rule = f"has {len(few)} of {len(counts)} groups with fewer than {FEWEST_ROWS} rows ({shown}): nothing can be said"
    rule = f"{rule} of their counterparts in other groups"
    remedy = "Merge them with groups like them, or leave their rows out of the fit and transform them later"
    warn(error_message(owner, "given", repr(groups.name), rule, remedy), DesignWarning)
