"""One format for all messages to users: who, which argument, what was seen, which rule, what to do."""

from __future__ import annotations

import importlib
from types import ModuleType

__all__ = ["error_message", "printable", "require_extra"]


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
    """
    name = owner if isinstance(owner, str) else type(owner).__name__
    shown = seen if isinstance(seen, str) else repr(seen)
    if len(shown) > 80:
        shown = shown[:77] + "..."
    return printable(f"{name}: {argument}={shown} {rule.rstrip('.')}. {remedy.rstrip('.')}.")


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
