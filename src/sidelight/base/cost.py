"""Memory and time of a fit, estimated before fitting.

Seconds are those of one core of the machine that the estimates were fitted to (docs/decisions/0040-costs.md), and meant
to be right within a factor of three. A fit of more than ``LONG`` seconds says so before it begins.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from .messages import error_message
from .warnings import CostWarning, warn

__all__ = ["LONG", "Cost", "announce_cost", "available_memory", "check_cost", "one_notice", "refuse_if_too_large"]

LONG = 120.0
"""Estimated seconds from which on a fit says beforehand how long it will take."""
_told: dict[str, float] = {}
"""Seconds that this process was last told of, by the name of the class."""
_announced: ContextVar[float] = ContextVar("_announced", default=0.0)
"""Seconds that the fit under way has announced; an estimator that it fits inside itself does not say them again."""


@dataclass(frozen=True)
class Cost:
    """Estimated peak memory in bytes, and rough seconds on one core."""

    bytes: int
    seconds: float

    def __str__(self) -> str:
        size = f"{self.bytes / 2**30:.1f} GiB" if self.bytes >= 2**29 else f"{self.bytes / 2**20:.0f} MiB"
        time = f"{self.seconds / 60:.0f} min" if self.seconds >= 120 else f"{self.seconds:.1f} s"
        return f"about {size} and {time}"


def available_memory() -> int:
    """Bytes that can be used without swapping; all memory of the machine where that is not known."""
    try:
        with open("/proc/meminfo") as lines:
            for line in lines:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return 1 << 62


def refuse_if_too_large(owner: object, cost: Cost, n: int) -> None:
    """Raise ``MemoryError``, with advice, if ``cost`` exceeds the memory available."""
    available = available_memory()
    if cost.bytes > available:
        raise MemoryError(
            error_message(
                owner,
                "X",
                f"{n} rows",
                f"needs {cost}, and {available / 2**30:.1f} GiB are free",
                "Fit on a random sample of the rows and place the rest with transform",
            )
        )


def check_cost(owner: object, cost: Cost, n: int) -> None:
    """Refuse a fit of n rows that memory does not hold, and announce one that will take minutes."""
    refuse_if_too_large(owner, cost, n)
    announce_cost(owner, cost, n)


def announce_cost(owner: object, cost: Cost, n: int) -> None:
    """Say how long a fit of n rows will take (``CostWarning``), if that is more than ``LONG`` seconds.

    A fit says it once, whatever it fits inside itself, and fits of about the same length of one class say it once in a
    process: the folds of a search, and repeats. Call it inside ``all_or_nothing``.
    """
    if cost.seconds < LONG or cost.seconds < 3 * _announced.get():
        return
    _announced.set(cost.seconds)
    name = owner if isinstance(owner, str) else type(owner).__name__
    before = _told.get(name, 0.0)
    if before / 2 <= cost.seconds <= 2 * before:
        return
    _told[name] = cost.seconds
    rule = f"will take about {_in_words(cost.seconds)} on one core (an estimate, right within a factor of three)"
    remedy = "Fit a random sample of the rows first, and place the rest with transform; verbose=1 shows progress"
    warn(error_message(owner, "X", f"{n} rows", rule, remedy), CostWarning)


@contextmanager
def one_notice() -> Iterator[None]:
    """Within it, a fit and the fits inside it say once how long they will take."""
    token = _announced.set(_announced.get())
    try:
        yield
    finally:
        _announced.reset(token)


def _in_words(seconds: float) -> str:
    """Seconds in minutes, hours or days.

    >>> [_in_words(seconds) for seconds in (150.0, 1e4, 1e6)]
    ['2 minutes', '2.8 hours', '12 days']
    """
    for unit, length, format_of in (("days", 86400.0, ".0f"), ("hours", 3600.0, ".1f")):
        if seconds >= 2 * length:
            return f"{seconds / length:{format_of}} {unit}"
    return f"{seconds / 60:.0f} minutes"
