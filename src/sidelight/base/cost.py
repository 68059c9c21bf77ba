"""Memory and time of a fit, estimated before fitting."""

from __future__ import annotations

import os
from dataclasses import dataclass

from .messages import error_message

__all__ = ["Cost", "available_memory", "refuse_if_too_large"]


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
