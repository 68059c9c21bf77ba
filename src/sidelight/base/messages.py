"""One format for all messages to users: who, which argument, what was seen, which rule, what to do."""

from __future__ import annotations

import importlib
import re
from types import ModuleType

__all__ = ["count_of", "error_message", "printable", "require_extra"]

_PLURALS = {
    "category": "categories",
    "entry": "entries",
    "class": "classes",
    "batch": "batches",
    "trajectory": "trajectories",
    "query": "queries",
    "person": "people",
}
_SINGULARS = {many: one for one, many in _PLURALS.items()}
_ONE = re.compile(
    r"(?<![\w.,'\"-])1 ((?:[a-z]+ )?)(rows|columns|pairs|points|features|values|numbers|entries|categories|"
    r"classes|groups|samples|neighbours|records|dimensions|components|charts|pieces|steps|batches|views|maps|pictures|cells|actions)\b"
)
"""One thing with its noun in the plural."""


def error_message(owner: object, argument: str, seen: object, rule: str, remedy: str) -> str:
    """Return ``<owner>: <argument>=<seen> <rule>. <remedy>.`` as one line.

    Parameters
    ----------
    owner : estimator or str
        Of an estimator, the class name is used.
    argument : str
        The argument at fault.
    seen : object
        Its value, or a description as text; cut to 80 characters.
    rule : str
        What is wrong with it.
    remedy : str
        What the user can do.

    Examples
    --------
    >>> error_message("Pairs", "index", 7, "points past the last row (5)", "Count rows from 0")
    'Pairs: index=7 points past the last row (5). Count rows from 0.'
    >>> error_message("Pairs", "index", "1 rows", "has 1 given columns", "Give more rows")
    'Pairs: index=1 row has 1 given column. Give more rows.'
    """
    name = owner if isinstance(owner, str) else type(owner).__name__
    shown = seen if isinstance(seen, str) else repr(seen)
    if len(shown) > 80:
        shown = shown[:77] + "..."
    about = shown if not isinstance(seen, str) else _ONE.sub(_in_the_singular, shown)
    said = f"{_ONE.sub(_in_the_singular, rule.rstrip('.'))}. {_ONE.sub(_in_the_singular, remedy.rstrip('.'))}."
    return printable(f"{name}: {argument}={about} {said}")


def _in_the_singular(found: re.Match[str]) -> str:
    """``1 rows`` as ``1 row``: messages count what was seen, which is one now and then."""
    before, noun = found.groups()
    return f"1 {before}{_SINGULARS.get(noun, noun[:-1])}"


def count_of(number: int, noun: str) -> str:
    """Return a number with its noun, in the singular or the plural; the plural follows the last word of ``noun``.

    Examples
    --------
    >>> count_of(1, "row"), count_of(1200, "row"), count_of(0, "given category"), count_of(1, "pair of rows")
    ('1 row', '1,200 rows', '0 given categories', '1 pair of rows')
    """
    if number == 1:
        return f"1 {noun}"
    words, of, rest = noun.partition(" of ")
    *before, last = words.split(" ")
    return f"{number:,} {' '.join([*before, _PLURALS.get(last, last + 's')])}{of}{rest}"


def printable(text: str) -> str:
    r"""Return ``text`` with control characters, such as terminal escape codes, written out.

    Examples
    --------
    >>> print(printable("a\x1b[31mred"))
    a\x1b[31mred
    """
    if text.isprintable():
        return text
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in text)


def require_extra(module: str, owner: str, extra: str) -> ModuleType:
    """Import an optional ``module``; if it is missing, raise ``ImportError`` with the pip command of its ``extra``."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        top = module.partition(".")[0]
        raise ImportError(
            f'{owner} needs {top}, which is not installed. Run: pip install "sidelight[{extra}]".'
        ) from error
