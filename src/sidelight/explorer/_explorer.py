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

from ._align import Similarity
from ._axis import axis_names_of
from ._code import FIRST, command_of, python_of
from ._fit import Fitted, can_say, check_statements, embedding_of
from ._held import placed_statement, shown_moves
from ._job import Job, idle_worker
from ._placing import placed_map
from ._questions import Map
from ._reliable import Reliable
from ._reported import write_report
from ._row_answers import RowAnswers
from ._steps import Steps, changed_statement
from ._table import Table, labelled, shown_columns
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


class Explorer(RowAnswers):
    """Answers questions about maps and makes new ones; every answer is a plain value."""

    def __init__(
        self, model: Any, table: Table, statements: Sequence[Statement] = (), setting: Setting | None = None
    ) -> None:
        self.table, self.setting = table, setting or Setting()
        self.base = _unfitted(model)
        session, first = begin_session(model, table, statements)
        self._steps = Steps(session)
        places = Similarity.identity(first.embedding.shape[1])
        self._maps = {0: Map(first, table, self.session.maps[0].statements, places)}
        self._number = 1
        self._measures: dict[tuple[int, tuple[str, ...]], dict[str, Any]] = {}
        self._lock = threading.RLock()
        self.job: Job | None = None
        self._worker: subprocess.Popen[str] | None = None

    @property
    def session(self) -> Session:
        """What was said, and the maps that were made of it."""
        return self._steps.session

    @property
    def version(self) -> int:
        """A number that grows with every step."""
        return self._steps.version

    # ---- what is there

    def map(self, at: int | None = None) -> Map:
        """A map of the history; None: the current one."""
        position = self.session.current if at is None else at
        if not 0 <= position < len(self.session.maps):
            rule = f"is no map: there are {len(self.session.maps)}"
            raise ValueError(error_message(_OWNER, "map", position, rule, "Count maps from 0"))
        return self._maps[self.session.maps[position].number]

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
                "axes": list(axis_names_of(last_step_of(shown.model))),
                "moved": [[at, *self.session.said(at).places[0]] for at in self._moved()],
                "features": list(units.names),
                "texts": [column.name for column in units.categories],
                "dates": sorted(units.dates),
                "image": self.table.image_shape,
                "range": self.table.value_range,
                "columns": self.heads(self.setting.periods),
                "statements": [self._stated(one) for one in session.statements],
                "maps": [{"number": one.number, "words": _map_words(one)} for one in session.maps],
                "current": session.current,
                "fresh": session.maps[session.current].statements == session.heard,
                "controls": shown.controls(),
                "say": can_say(self.base),
                "can": {
                    "decode": offers.has_inverse,
                    "counterfactual": offers.has_counterfactual and bool(shown.given_names),
                    "density": offers.has_latent_density, "uncertainty": offers.has_variance,
                    "undo": bool(self._steps.done), "redo": bool(self._steps.undone),
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

    def points(self, at: int | None, axes: tuple[int, ...]) -> Array:
        """Places (n, 2 or 3) of the rows of a map on the page, as float32; of the current one as rows were moved."""
        places = self.map(at).places
        if at is None or at == self.session.current:
            places = shown_moves(places, [self.session.statements[k] for k in self._moved()])
        return np.ascontiguousarray(places[:, list(axes)], dtype="<f4")

    def _moved(self) -> list[int]:
        """Numbers of the statements that moved rows and that the current map was not fitted with."""
        made = self.map().statements
        said = enumerate(self.session.statements)
        return [k for k, one in said if one.kind == "move" and one.on and one not in made]

    def measures(self, at: int) -> dict[str, Any]:
        """Measures of a map, with the columns that any statement names."""
        named = ("factor_out", "bring_out", "axis")
        names = dict.fromkeys(one.column for one in self.session.statements if one.kind in named)
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
        with self._lock:
            told = [self._placed(one) for one in statements]
            self._step_checked(replace(self.session, statements=(*self.session.statements, *told)))

    def move(self, rows: Array, shift: Sequence[float], axes: tuple[int, ...]) -> None:
        """Say that rows should be elsewhere: shifted along two or three axes of the current map."""
        with self._lock:
            whole = np.zeros(self.map().places.shape[1])
            whole[list(axes)] = shift
            places = shown_moves(self.map().places, [self.session.statements[k] for k in self._moved()])
            said = placed_statement(rows.tolist(), "move", places, whole)
            last = len(self.session.statements) - 1
            again = last in self._moved() and self.session.said(last).rows == said.rows  # dragged further
            self._step_checked(self.session.edited(last, said) if again else self.session.saying(said))

    def edit(self, at: int, changes: Mapping[str, Any]) -> None:
        """Change rows, others, column, value or period of a statement."""
        with self._lock:
            new = changed_statement(self.session.said(at), changes)
            self._step_checked(self.session.edited(at, self._placed(new)))

    def _placed(self, one: Statement) -> Statement:
        """A statement "pin" with the places of its rows, where the model can hold them; others as they are."""
        one.check_rows(self.table.n)
        if one.kind != "pin" or one.places or not can_say(self.base)["move"]:
            return one
        return placed_statement(one.rows, "pin", self.map().places)

    def _step_checked(self, new: Session) -> None:
        check_statements(self.base, self.table, new.statements)  # refuses what no fit could listen to
        shown_columns(labelled(self.table, new.statements), self.table.n)  # and what no page could show
        self._steps.take(new)

    def switch(self, at: int) -> None:
        """Switch a statement on or off."""
        with self._lock:
            self._steps.take(self.session.switched(at))

    def forget(self, at: int) -> None:
        """Take a statement out of the list."""
        with self._lock:
            self._steps.take(self.session.without(at))

    def visit(self, at: int) -> None:
        """Show another map of the history."""
        with self._lock:
            self._steps.take(self.session.visiting(at))

    def undo(self) -> None:
        """Go back to the session before the last step."""
        with self._lock:
            self._steps.undo()

    def redo(self) -> None:
        """Take the last step that was undone again."""
        with self._lock:
            self._steps.redo()

    # ---- fits

    def refit(self) -> None:
        """Start a fit of the statements that are on, in a process of its own."""
        with self._lock:
            self._collect()
            if self.job is not None and self.job.state == "running":
                raise ValueError(error_message(_OWNER, "refit", "another one", "is still running", "Wait, or stop it"))
            check_statements(self.base, self.table, self.session.heard)
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
        fitted, job.fitted = self._with_lost_axes(job.fitted), None
        placed = placed_map(fitted, job.statements, self.map().places)
        record = MapRecord(self._number, job.statements, fitted.digest)
        self._number += 1
        self._maps[record.number] = Map(fitted, self.table, job.statements, placed, job.seconds)
        self._steps.take(self.session.with_map(record))

    def _with_lost_axes(self, fitted: Fitted) -> Fitted:
        """Say which axes of the first model the new one has no more: nothing of their relations is in the table."""
        known = set(axis_names_of(last_step_of(as_chain(fitted.model))))
        first = axis_names_of(last_step_of(self._maps[0].model))
        lost = [name for name in first if name and name not in known]
        words = (
            f"The first model had an axis for {', '.join(lost)}. The page does not know its relations: say them again."
        )
        return replace(fitted, remarks=(*fitted.remarks, words)) if lost else fitted

    # ---- keep

    def save(self) -> list[str]:
        """Write the current model, the session, and the first model to replay it with; return the paths."""
        folder = self.setting.folder
        folder.mkdir(parents=True, exist_ok=True)
        paths = [folder / name for name in ("model.sidelight", "session.json", FIRST)]
        with self._lock:
            for shown, path in ((self.map(), paths[0]), (self._maps[0], paths[2])):
                (self.setting.save_model or _save)(shown.fitted.model, path)
            self.session.save(paths[1])
        return [str(path) for path in paths]

    def report(self) -> str:
        """Write the report of the current map and return its path. It takes seconds: others are answered meanwhile."""
        shown, folder = self.map(), self.setting.folder
        folder.mkdir(parents=True, exist_ok=True)
        return str(write_report(shown, folder / "report.html", self.setting.title, self.setting.periods))

    def _stated(self, one: Statement) -> dict[str, Any]:
        said = {"kind": one.kind, "words": one.words(), "on": one.on, "column": one.column, "value": one.value}
        return said | {"count": len(one.rows), "others": len(one.others)}


def _save(model: Any, path: Path) -> None:
    save(model, path)


def _map_words(made: MapRecord) -> str:
    said = [one.words() for one in made.statements]
    return "; ".join(said) if said else "nothing said"
