"""The process that fits: it reads the name of a FOLDER from standard input, FOLDER/task, and writes FOLDER/result.

It is started before it is needed, so that its imports are done when there is something to fit.

The folder is private to the user, made by the process that asks, so that pickles in it are its own. Progress is printed
as one line of JSON at a time.
"""

from __future__ import annotations

import json
import pickle
import sys
import time
import warnings
from pathlib import Path
from typing import Any

from sidelight.kernels.transform_plans import library

from ._fit import fit_statements

__all__ = ["main"]

_PAUSE = 0.1  # seconds between lines of progress


def main(folder: Path) -> None:
    """Fit as the task says; tell progress on standard output."""
    base, table, statements = pickle.loads((folder / "task").read_bytes())
    last = [0.0]

    def tell(state: Any) -> None:
        now = time.monotonic()
        if now - last[0] > _PAUSE:
            last[0] = now
            done = {"stage": int(state.stage) + 1, "stages": int(state.n_stages), "iteration": int(state.iteration)}
            print(json.dumps(done), flush=True)

    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", UserWarning)
        try:
            result: Any = fit_statements(base, table, statements, tell)
        except (ValueError, TypeError, MemoryError, ArithmeticError) as error:
            result = str(error) or type(error).__name__
    remarks = [str(one.message) for one in said if issubclass(one.category, UserWarning)]
    (folder / "result.part").write_bytes(pickle.dumps((result, remarks)))
    (folder / "result.part").rename(folder / "result")


if __name__ == "__main__":
    library()  # the fast transform is imported at its first use: do that now, too
    line = sys.stdin.readline().rstrip("\n")
    if line:  # nothing: whoever might have asked is gone
        main(Path(line))
