"""The state of an explorer: a session, its undo stack, the maps of its history and the running fit. Nothing of HTTP."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from sidelight.base.capabilities import capabilities
from sidelight.base.chain import as_chain, last_step_of, name_of
from sidelight.base.messages import error_message
from sidelight.persistence import save
from sidelight.plot._colouring import Numbers

from ._align import Similarity, aligned
from ._code import command_of, python_of
from ._fit import Fitted, can_say, embedding_of, hints_of
from ._job import Job, idle_worker
from ._questions import Map
from ._reliable import Reliable
from ._rows import exported, found_rows, heads_of, page_of_rows, ranks_of, values_of
from ._table import Column, Table, labelled, shown_columns
from .session import MapRecord, Session
from .statement import Statement

__all__ = ["Explorer", "Setting", "begin_session"]

Array = NDArray[Any]
_OWNER = "explore"
Saver = Callable[[Any, Path], None]


@dataclass(frozen=True)
class Setting:
    """What does not change while a page is open: title, folder for results, files for the command line, periods."""

    title: str = "Sidelight"
    folder: Path = Path("sidelight-explore")
    files: Mapping[str, str] = field(default_factory=dict)
    periods: Mapping[str, float] = field(default_factory=dict)
    save_model: Saver | None = None


def begin_session(model: Any, table: Table, statements: Sequence[Statement] = ()) -> tuple[Session, Fitted]:
    """The session that begins with a fitted model: what it was given is said already."""
    chain = as_chain(model)
    known = chain.given_ if capabilities(chain).has_given else None
    said = tuple(Statement("factor_out", column=column.name) for column in (() if known is None else known.columns))
    fitted = Fitted(model, embedding_of(model, table, said, fitted_on_them=False))
    if fitted.embedding.shape[1] < 2:
        seen, rule = "1 dimension", "is no plane that a page could show"
        raise ValueError(error_message(_OWNER, "model", seen, rule, "Fit a map of two dimensions or more"))
    base = {"model": name_of(chain), "parameters": repr(_unfitted(model))}
    session = Session(table.n, table.digest, base, (*said, *statements))
    return session.with_map(MapRecord(0, said, fitted.digest)), fitted


def _unfitted(model: Any) -> Any:
    base = clone(model)
    last = last_step_of(as_chain(base))
    if "callback" in last.get_params(deep=False):
        last.set_params(callback=None)
    return base


class Explorer:
    """Answers questions about maps and makes new ones; every answer is a plain value."""

    def __init__(
        self, model: Any, table: Table, statements: Sequence[Statement] = (), setting: Setting | None = None
    ) -> None:
        self.table, self.setting = table, setting or Setting()
        self.base = _unfitted(model)
        self.session, first = begin_session(model, table, statements)
        places = Similarity.identity(first.embedding.shape[1])
        self._maps = {0: Map(first, table, self.session.maps[0].statements, places)}
        self._undo: list[Session] = []
        self._number = 1
        self._measures: dict[tuple[int, tuple[str, ...]], dict[str, Any]] = {}
        self._lock = threading.RLock()
        self.job: Job | None = None
        self._shown: tuple[tuple[Statement, ...], tuple[Column, ...]] | None = None
        self._reliable: dict[int, Reliable] = {}
        self._worker: subprocess.Popen[str] | None = None
        self.version = 0

    # ---- what is there

    def map(self, at: int | None = None) -> Map:
        """A map of the history; None: the current one."""
        position = self.session.current if at is None else at
        if not 0 <= position < len(self.session.maps):
            rule = f"is none of the {len(self.session.maps)} maps"
            raise ValueError(error_message(_OWNER, "map", position, rule, "Count maps from 0"))
        return self._maps[self.session.maps[position].number]

    @property
    def columns(self) -> dict[str, Array]:
        """The columns beside the features, with the labels of all statements that are on."""
        return labelled(self.table, self.session.statements)

    def state(self) -> dict[str, Any]:
        """Everything about the session that the page shows besides points."""
        with self._lock:
            self._collect()
            session, shown = self.session, self.map()
            offers = capabilities(shown.model)
            units = self.table.in_units(self.table.take(np.arange(1)))
            return {
                "version": self.version,
                "title": self.setting.title,
                "rows": self.table.n,
                "dims": shown.places.shape[1],
                "features": list(units.names),
                "texts": [column.name for column in units.categories],
                "dates": sorted(units.dates),
                "image": self.table.image_shape,
                "range": self.table.value_range,
                "columns": heads_of(self._colours(), set(self.columns), self.setting.periods),
                "statements": [self._stated(one) for one in session.statements],
                "maps": [{"number": one.number, "words": _map_words(one)} for one in session.maps],
                "current": session.current,
                "fresh": session.maps[session.current].statements == session.heard,
                "controls": shown.controls(),
                "say": can_say(self.base),
                "can": {
                    "decode": offers.has_inverse,
                    "counterfactual": offers.has_counterfactual and bool(shown.given_names),
                    "density": offers.has_latent_density, "uncertainty": offers.has_variance, "undo": bool(self._undo),
                    "reliability": self.table.n >= Reliable.FEWEST,
                },
                "reliability": self.reliable(),
                "model": name_of(shown.model),
                "remarks": list(shown.fitted.remarks),
                "seconds": shown.seconds,
                "code": self._code(),
                "job": self._job_state(),
            }  # fmt: skip

    def _code(self) -> dict[str, str]:
        try:
            python = python_of(self.base, self.table, self.session.statements)
        except ValueError as error:  # statements that contradict each other
            python = f"# {error}\n"
        return {"python": python, "command": command_of(self.setting.files)}

    def _colours(self) -> tuple[Column, ...]:
        """The columns that the page offers as colours: those beside the features, then the features."""
        labels = tuple(one for one in self.session.statements if one.kind == "label" and one.on)
        if self._shown is None or self._shown[0] != labels:  # reading the columns of many rows takes its time
            self._shown = labels, (*shown_columns(self.columns, self.table.n), *self.table.colours)
        judged = self._reliable.get(self.session.maps[self.session.current].number)
        own = () if judged is None or judged.values is None else (Numbers(self._reliable_name, judged.values),)
        return (*self._shown[1], *own)

    @property
    def _reliable_name(self) -> str:
        """What the column of reliability is called beside the user's own columns."""
        taken = {*self.columns, *self.table.features}
        return next(name for name in ("reliability", "reliability of the map", "∗reliability") if name not in taken)

    def _column(self, at: int) -> Column:
        found = self._colours()
        if not 0 <= at < len(found):
            raise ValueError(error_message(_OWNER, "column", at, "is not there", "Count columns from 0"))
        return found[at]

    def column(self, at: int) -> Array:
        """Values of a column (n,) as float32: numbers, or codes of categories (-1: missing)."""
        return values_of(self._column(at))

    def ranks(self, at: int | None) -> Array:
        """Ranks of the rows (n,) by a column, or by their names (None), as float32; NaN where missing."""
        return ranks_of(self.table.row_names if at is None else self._column(at))

    def page(self, rows: Array) -> dict[str, Any]:
        """Some rows of the table: number, name and a cell for each column of ``state``."""
        return {"rows": page_of_rows(self.table, self._colours(), rows)}

    def search(self, text: str) -> Array:
        """Rows that have a text in their name or in a category, or this number."""
        return found_rows(text, self.table, (*self._colours(), *self.table.texts))

    def reliable(self, *, start: bool = False) -> dict[str, Any]:
        """How far the reliability of the rows of this map is computed; ``start`` begins with it."""
        with self._lock:
            number = self.session.maps[self.session.current].number
            if start and (number not in self._reliable or self._reliable[number].state == "failed"):
                self._reliable[number] = Reliable(self.map())
            found = self._reliable.get(number)
        return {"column": self._reliable_name} | ({"state": "none"} if found is None else found.told())

    def layer(self, kind: str, extent: Sequence[float], axes: tuple[int, ...], chosen: Any) -> dict[str, Any]:
        """A grid over a window of the map: what the model says there, or the reliability of the rows around."""
        judged = self._reliable.get(self.session.maps[self.session.current].number)
        values = None if judged is None else judged.values
        return self.map().layer(kind, extent, axes, chosen, values)

    def points(self, at: int | None, axes: tuple[int, ...]) -> Array:
        """Places (n, 2), or (n, 3), of the rows of a map on the page, as float32."""
        return np.ascontiguousarray(self.map(at).places[:, list(axes)], dtype="<f4")

    def measures(self, at: int) -> dict[str, Any]:
        """Measures of a map, with the columns that any statement names."""
        names = dict.fromkeys(one.column for one in self.session.statements if one.kind in ("factor_out", "bring_out"))
        key = (self.session.maps[at].number if 0 <= at < len(self.session.maps) else -1, tuple(names))
        if key not in self._measures:
            columns = self.columns
            self._measures[key] = self.map(at).measures({name: columns[name] for name in names if name in columns})
        return self._measures[key]

    def checked_rows(self, rows: Any, *, empty: bool = False) -> Array:
        """Row numbers that a page sent."""
        found = np.unique(np.asarray(rows if isinstance(rows, list) else [-1]))
        if found.dtype.kind == "f" and not len(found):
            found = found.astype(np.int64)
        wrong = found.dtype.kind not in "iu" or (not empty and not len(found))
        if wrong or (len(found) and (found[0] < 0 or found[-1] >= self.table.n)):
            rule = f"are no numbers of the {self.table.n} rows"
            raise ValueError(error_message(_OWNER, "rows", str(rows)[:40], rule, "Select rows of the map"))
        return np.asarray(found, dtype=np.int64)

    def checked_axes(self, *axes: int) -> tuple[int, ...]:
        """Two or three axes of the map that a page sent."""
        dims = self.map().places.shape[1]
        if len(set(axes)) < len(axes) or min(axes) < 0 or max(axes) >= dims:
            rule = f"are not {len(axes)} of {dims} axes"
            raise ValueError(error_message(_OWNER, "axes", axes, rule, "Choose others"))
        return axes

    # ---- what is said

    def say(self, statements: Sequence[Statement]) -> None:
        """Add statements; they are switched on. One step of undo."""
        for one in statements:
            one.check_rows(self.table.n)
            if not can_say(self.base)[one.kind]:
                raise ValueError(
                    error_message(_OWNER, "statement", one.kind, "means nothing to this model", "Use another")
                )
        with self._lock:
            new = replace(self.session, statements=(*self.session.statements, *statements))
            hints_of(self.table, new.statements)  # refuses what no fit could listen to
            shown_columns(labelled(self.table, new.statements), self.table.n)  # and what no page could show
            self._step(new)

    def switch(self, at: int) -> None:
        """Switch a statement on or off."""
        with self._lock:
            self._step(self.session.switched(at))

    def forget(self, at: int) -> None:
        """Take a statement out of the list."""
        with self._lock:
            self._step(self.session.without(at))

    def visit(self, at: int) -> None:
        """Show another map of the history."""
        with self._lock:
            self._step(self.session.visiting(at))

    def undo(self) -> None:
        """Go back to the session before the last step."""
        with self._lock:
            if not self._undo:
                raise ValueError(error_message(_OWNER, "undo", "nothing", "was done yet", "Say something first"))
            self.session = self._undo.pop()
            self.version += 1

    def _step(self, new: Session) -> None:
        if new != self.session:
            self._undo.append(self.session)
            self.session = new
            self.version += 1

    # ---- fits

    def refit(self) -> None:
        """Start a fit of the statements that are on, in a process of its own."""
        with self._lock:
            self._collect()
            if self.job is not None and self.job.state == "running":
                raise ValueError(error_message(_OWNER, "refit", "another one", "is still running", "Wait, or stop it"))
            hints_of(self.table, self.session.heard)
            self.job = Job(self.base, self.table, self.session.heard, self._worker)
            self._worker = None

    def warm(self) -> None:
        """Start the worker of the next fit, so that it need not import anything then."""
        with self._lock:
            if self._worker is None or self._worker.poll() is not None:
                self._worker = idle_worker()

    def close(self) -> None:
        """End the worker, and a running fit."""
        self.stop()
        if self._worker is not None:
            self._worker.terminate()
            for pipe in (self._worker.stdin, self._worker.stdout):
                if pipe is not None:
                    pipe.close()
            self._worker.wait()
            self._worker = None

    def stop(self) -> None:
        """Stop the running fit; the old map is kept."""
        if self.job is not None:
            self.job.stop()

    def job_state(self) -> dict[str, Any]:
        """Progress of the running fit, or how the last one ended."""
        with self._lock:
            self._collect()
            return self._job_state() | {"version": self.version}

    def _job_state(self) -> dict[str, Any]:
        if self.job is None:
            return {"state": "none", "message": "", "progress": {}, "seconds": 0.0}
        job = self.job
        return {"state": job.state, "message": job.message, "progress": job.progress, "seconds": job.seconds}

    def _collect(self) -> None:
        """Take over the map of a fit that is done."""
        job = self.job
        if job is None or job.state != "done" or job.fitted is None:
            return
        fitted, job.fitted = job.fitted, None
        before = self.map()
        pinned = [row for one in job.statements if one.kind == "pin" for row in one.rows]
        rows = np.unique(pinned) if pinned else None
        placed = aligned(fitted.embedding, before.places, rows)
        record = MapRecord(self._number, job.statements, fitted.digest)
        self._number += 1
        self._maps[record.number] = Map(fitted, self.table, job.statements, placed, job.seconds)
        self._step(self.session.with_map(record))

    # ---- keep

    def save(self) -> list[str]:
        """Write the current model and the session into the folder; return the paths."""
        folder = self.setting.folder
        folder.mkdir(parents=True, exist_ok=True)
        model, session = folder / "model.sidelight", folder / "session.json"
        with self._lock:
            (self.setting.save_model or _save)(self.map().fitted.model, model)
            self.session.save(session)
        return [str(model), str(session)]

    def export(self, rows: Array, kind: str = "csv") -> str | bytes:
        """Rows as a file: number, name, places, columns and features."""
        shown, data = self.map(), self.table.in_units(self.table.take(rows))
        names = {"name": [self.table.row_names[row] for row in rows]} if self.table.row_names else {}
        places = {f"z{k + 1}": shown.fitted.embedding[rows, k].tolist() for k in range(shown.fitted.embedding.shape[1])}
        known = {name: values[rows].tolist() for name, values in self.columns.items()}
        numbers = {name: data.numbers[:, k].tolist() for k, name in enumerate(data.names)}
        return exported(kind, {"row": rows.tolist(), **names, **places, **known, **numbers})

    def _stated(self, one: Statement) -> dict[str, Any]:
        return {"kind": one.kind, "words": one.words(), "on": one.on, "column": one.column, "count": len(one.rows)}


def _save(model: Any, path: Path) -> None:
    save(model, path)


def _map_words(made: MapRecord) -> str:
    said = [one.words() for one in made.statements]
    return "; ".join(said) if said else "nothing said"
