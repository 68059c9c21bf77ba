"""A fit in a process of its own: start, ask for progress, stop."""

from __future__ import annotations

import contextlib
import json
import os
import pickle
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from ._fit import Fitted
from ._table import Table
from .statement import Statement

__all__ = ["Job", "idle_worker"]


def idle_worker() -> subprocess.Popen[str]:
    """A process that does its imports and waits for the folder of a task on its standard input."""
    paths = os.pathsep.join(path for path in sys.path if path)
    return subprocess.Popen(
        [sys.executable, "-m", "sidelight.explorer.worker"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        env={**os.environ, "PYTHONPATH": paths},
    )  # fmt: skip


class Job:
    """One running fit; ``state`` is "running", "done", "failed" or "stopped"."""

    def __init__(
        self,
        base: Any,
        table: Table,
        statements: tuple[Statement, ...],
        process: subprocess.Popen[str] | None = None,
    ) -> None:
        self.statements = statements
        self.state, self.message = "running", ""
        self.fitted: Fitted | None = None
        self.progress: dict[str, int] = {}
        self._began, self._seconds = time.monotonic(), 0.0
        self._folder = Path(tempfile.mkdtemp(prefix="sidelight-"))  # mode 700
        (self._folder / "task").write_bytes(pickle.dumps((base, replace(table, to_data=None), statements)))
        self.process = process if process is not None and process.poll() is None else idle_worker()
        assert self.process.stdin is not None
        with contextlib.suppress(OSError):  # it ended meanwhile, and the thread will say so
            self.process.stdin.write(f"{self._folder}\n")
            self.process.stdin.close()
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()

    @property
    def seconds(self) -> float:
        """How long the fit has taken."""
        return self._seconds or time.monotonic() - self._began

    def _listen(self) -> None:
        assert self.process.stdout is not None
        with self.process.stdout as lines:
            for line in lines:
                try:
                    self.progress = json.loads(line)
                except ValueError:  # a library printed something
                    continue
        self.process.wait()
        self._seconds = time.monotonic() - self._began
        self._end()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _end(self) -> None:
        if self.state == "stopped":
            return
        try:
            result, remarks = pickle.loads((self._folder / "result").read_bytes())
        except (OSError, EOFError, pickle.UnpicklingError):
            code = self.process.returncode
            self.message = f"The worker ended before there was a map (exit code {code}). The old map is kept."
            self.state = "failed"
            return
        if isinstance(result, str):
            self.message, self.state = f"{result} The old map is kept.", "failed"
            return
        self.fitted = replace(result, remarks=(*result.remarks, *remarks))
        self.state = "done"

    def stop(self) -> None:
        """End the process; the old map is kept."""
        if self.state == "running":
            self.state, self.message = "stopped", "Stopped. The old map is kept."
            self.process.terminate()
            try:
                self.process.wait(timeout=3)
            except subprocess.TimeoutExpired:
                self.process.kill()

    def wait(self, seconds: float | None = None) -> None:
        """Wait for the end of the fit."""
        self._thread.join(seconds)
