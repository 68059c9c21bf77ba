"""The reliability of the rows of a map, computed in a thread while the page goes on."""

from __future__ import annotations

import threading
import time
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from sidelight.explain import reliability

from ._questions import Map

__all__ = ["Reliable"]


class Reliable:
    """Starts at once; ``values`` (n,) are there when ``state`` is "done"."""

    FEWEST: ClassVar[int] = 20
    """Rows below which there are no neighbourhoods to speak of."""

    def __init__(self, shown: Map) -> None:
        self.state: Literal["running", "done", "failed"] = "running"
        self.values: NDArray[np.float64] | None = None
        self.message = ""
        self._began, self._ended = time.monotonic(), 0.0
        self._thread = threading.Thread(target=self._run, args=(shown,), daemon=True)
        self._thread.start()

    def wait(self, seconds: float) -> None:
        """Wait until it is done, or for so many seconds."""
        self._thread.join(seconds)

    def told(self) -> dict[str, Any]:
        """State, message and seconds so far, as the page shows them."""
        seconds = (self._ended or time.monotonic()) - self._began
        return {"state": self.state, "message": self.message, "seconds": seconds}

    def _run(self, shown: Map) -> None:
        try:
            found = reliability(shown.fitted.model, shown.table.X, **shown.side(), n_jobs=1)
            self.values = np.asarray(found["reliability"], dtype=np.float64)
            self.state = "done"
        except Exception as error:  # the page says why, and goes on without
            self.message, self.state = f"{error}", "failed"
        self._ended = time.monotonic()
