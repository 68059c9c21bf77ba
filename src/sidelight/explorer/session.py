"""What was said and which maps were made of it: a plain value, a JSON file, and nothing of a server."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from sidelight.base.files import atomic_write
from sidelight.base.messages import error_message

from .statement import Statement

__all__ = ["MapRecord", "Session"]

_FORMAT, _VERSION = "sidelight session", 1


@dataclass(frozen=True)
class MapRecord:
    """One map of a session: the statements that it was fitted with, and the SHA-256 digest of its embedding.

    See Also
    --------
    Session : The session that holds it.
    """

    number: int
    statements: tuple[Statement, ...]
    digest: str


@dataclass(frozen=True)
class Session:
    """What was said about some rows, what of it is switched on, and the maps that were made.

    Parameters
    ----------
    n_rows : int
    data : str
        SHA-256 digest of the rows, so that a replay notices other ones.
    base : dict of str
        Name and parameters of the model that all maps are refits of, to be read by people.
    statements : tuple of Statement
    maps : tuple of MapRecord
        The history, oldest first.
    current : int
        Position of the map that is shown.

    See Also
    --------
    Statement : What was said.
    replay : Does it again.

    Examples
    --------
    >>> from sidelight.explorer import Session, Statement
    >>> session = Session(10).saying(Statement("drop", rows=[3]))
    >>> Session.from_json(session.to_json()) == session
    True
    >>> session.switched(0).heard
    ()
    """

    n_rows: int
    data: str = ""
    base: Mapping[str, str] = field(default_factory=dict)
    statements: tuple[Statement, ...] = ()
    maps: tuple[MapRecord, ...] = ()
    current: int = 0

    def __post_init__(self) -> None:
        for one in (*self.statements, *(said for made in self.maps for said in made.statements)):
            one.check_rows(self.n_rows)
        if not 0 <= self.current < max(len(self.maps), 1):
            rule = f"is no map: there are {len(self.maps)}"
            raise ValueError(error_message(self, "current", self.current, rule, "Count maps from 0"))

    @property
    def heard(self) -> tuple[Statement, ...]:
        """The statements that are switched on."""
        return tuple(one for one in self.statements if one.on)

    def saying(self, statement: Statement) -> Session:
        """The session with one more statement at the end."""
        return replace(self, statements=(*self.statements, statement))

    def switched(self, at: int) -> Session:
        """The session with statement ``at`` switched on if it was off, and off if it was on."""
        kept = list(self.statements)
        kept[at] = replace(self.said(at), on=not self.said(at).on)
        return replace(self, statements=tuple(kept))

    def edited(self, at: int, statement: Statement) -> Session:
        """The session with another statement in the place of statement ``at``."""
        self.said(at)
        return replace(self, statements=(*self.statements[:at], statement, *self.statements[at + 1 :]))

    def without(self, at: int) -> Session:
        """The session without statement ``at``."""
        self.said(at)
        return replace(self, statements=self.statements[:at] + self.statements[at + 1 :])

    def mapped(self, digest: str) -> Session:
        """The session with a new map of the statements that are on, which becomes the current one."""
        number = max((made.number for made in self.maps), default=-1) + 1
        return self.with_map(MapRecord(number, self.heard, digest))

    def with_map(self, made: MapRecord) -> Session:
        """The session with one more map, which becomes the current one."""
        return replace(self, maps=(*self.maps, made), current=len(self.maps))

    def visiting(self, at: int) -> Session:
        """The session with map ``at`` as the current one."""
        return replace(self, current=at)

    def said(self, at: int) -> Statement:
        """The statement at a position of the list."""
        if not 0 <= at < len(self.statements):
            rule = f"is no statement: there are {len(self.statements)}"
            raise ValueError(error_message(self, "statement", at, rule, "Count statements from 0"))
        return self.statements[at]

    def to_json(self) -> str:
        """The session file as text; the same session gives the same text."""
        maps = [
            {"number": made.number, "digest": made.digest, "statements": [one.to_json() for one in made.statements]}
            for made in self.maps
        ]
        document = {
            "format": _FORMAT,
            "version": _VERSION,
            "rows": self.n_rows,
            "data": self.data,
            "base": dict(self.base),
            "statements": [one.to_json() for one in self.statements],
            "maps": maps,
            "current": self.current,
        }
        return json.dumps(document, ensure_ascii=False, indent=1) + "\n"

    @classmethod
    def from_json(cls, text: str) -> Session:
        """The session of a file's text; raises ValueError for anything else."""
        try:
            document = json.loads(text)
            if document["format"] != _FORMAT or document["version"] != _VERSION:
                raise ValueError("another format or version")
            maps = tuple(
                MapRecord(int(made["number"]), tuple(map(Statement.from_json, made["statements"])), str(made["digest"]))
                for made in document["maps"]
            )
            statements = tuple(map(Statement.from_json, document["statements"]))
            base = {str(name): str(value) for name, value in document["base"].items()}
            return cls(int(document["rows"]), str(document["data"]), base, statements, maps, int(document["current"]))
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            rule = f"is no session file of version {_VERSION} ({error})"
            raise ValueError(
                error_message(cls.__name__, "text", text[:40], rule, "Give a file that was saved")
            ) from error

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the session file, all or nothing."""
        with atomic_write(Path(path)) as place:
            Path(place).write_text(self.to_json(), encoding="utf-8")

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Session:
        """Read a session file."""
        return cls.from_json(Path(path).read_text(encoding="utf-8"))
