"""A map of the explorer as a report."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from sidelight.report import write

from ._questions import Map

__all__ = ["write_report"]


def write_report(shown: Map, path: Path, title: str, periods: Mapping[str, float]) -> Path:
    """Write the report of a map and of its rows, with the columns beside them as colours; return its path."""
    table, options = shown.table, dict(shown.side())
    X = np.asarray(table.X)
    if table.to_data is not None:
        options |= {"table": table.to_data(X), "to_data": table.to_data}
    elif hasattr(table.X, "columns"):
        options |= {"table": table.X}
    known = {name: period for name, period in periods.items() if name in shown.columns}
    options |= {"row_names": list(table.row_names)} if table.row_names else {}
    options |= {"colours": dict(shown.columns)} if shown.columns else {}
    seconds: Any = {"seconds": shown.seconds} if shown.seconds else {}
    return write(
        shown.fitted.model, path, X=X, image_shape=table.image_shape, periods=known, title=title, **options, **seconds
    )
