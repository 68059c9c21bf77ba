"""Options of a report."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["ReportOptions"]


@dataclass(frozen=True)
class ReportOptions:
    """The arguments of :func:`sidelight.report.write` about the rows and the page, which describes each of them."""

    X: Any = None
    y: Any = None
    table: Any = None
    to_data: Callable[[Any], Any] | None = None
    n_columns: int | None = None
    row_names: Any = None
    row_numbers: Any = None
    embedding: Any = None
    colours: Any = None
    colour: str | None = None
    labels: Any = None
    given: Any = None
    attributes: Any = None
    plain: Any = None
    periods: Mapping[str, float] | None = None
    image_shape: Sequence[int] | None = None
    title: str | None = None
    command: str | None = None
    notes: Sequence[str] = ()
    seconds: float | None = None
    date: str | None = None
    max_rows: int = 50_000
