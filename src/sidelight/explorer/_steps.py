"""Sessions one after the other: a step, undo and redo; and a statement with something of it changed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sidelight.base.messages import error_message

from .session import Session
from .statement import Statement

__all__ = ["Steps", "changed_statement"]

_OWNER = "explore"
_CHANGEABLE = ("rows", "others", "column", "value", "period")


class Steps:
    """The present session, those that undo and redo go to, and a version that grows with every change."""

    def __init__(self, session: Session) -> None:
        self.session, self.version = session, 0
        self.done: list[Session] = []
        self.undone: list[Session] = []

    def take(self, new: Session) -> None:
        """Go on to another session, unless it is the same."""
        if new != self.session:
            self.undone.clear()
            self.done.append(self.session)
            self._show(new)

    def undo(self) -> None:
        """Go back to the session before the last step."""
        if not self.done:
            raise ValueError(error_message(_OWNER, "undo", "nothing", "was done yet", "Say something first"))
        self.undone.append(self.session)
        self._show(self.done.pop())

    def redo(self) -> None:
        """Take the last step that was undone again."""
        if not self.undone:
            raise ValueError(error_message(_OWNER, "redo", "nothing", "was undone", "Undo something first"))
        self.done.append(self.session)
        self._show(self.undone.pop())

    def _show(self, session: Session) -> None:
        self.session = session
        self.version += 1


def changed_statement(old: Statement, changes: Mapping[str, Any]) -> Statement:
    """A statement with other rows, column, value or period; places of pinned rows are left out, to be found again."""
    if not changes or not set(changes) <= set(_CHANGEABLE):
        rule, seen = "does not say what to change", ", ".join(sorted(changes)) or "nothing"
        raise ValueError(error_message(_OWNER, "edit", seen, rule, f"Change {', '.join(_CHANGEABLE)}"))
    if old.kind == "move":
        raise ValueError(error_message(_OWNER, "edit", "a move", "has places", "Undo it, or move the rows again"))
    kept = old.to_json()
    for name in ("places", "others") if old.places else ():
        kept.pop(name, None)
    return Statement.from_json(kept | dict(changes))
