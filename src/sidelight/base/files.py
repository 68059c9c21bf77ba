"""Atomic writing of files: a file appears complete or not at all."""

from __future__ import annotations

import os
import stat
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

__all__ = ["atomic_write"]


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Context manager: a temporary file beside ``path`` that replaces it on success and is deleted on failure.

    Examples
    --------
    >>> import tempfile
    >>> target = Path(tempfile.mkdtemp()) / "numbers.csv"
    >>> with atomic_write(target) as unfinished:
    ...     _ = unfinished.write_text("1,2")
    >>> target.read_text()
    '1,2'
    """
    target = Path(path)
    # The suffix stays last because some writers choose the format by it.
    unfinished = target.with_name(f".{target.stem}.{uuid.uuid4().hex[:12]}{target.suffix}")
    mode = _reserve(unfinished, target)
    try:
        yield unfinished
        _flush(unfinished)
        os.chmod(unfinished, mode)
        os.replace(unfinished, target)
    except BaseException:
        with suppress(OSError):
            unfinished.unlink()
        raise
    _flush_folder(target.parent)


def _reserve(unfinished: Path, target: Path) -> int:
    """Create the temporary file; return the permissions that the final file is to have."""
    try:
        os.close(os.open(unfinished, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
    except OSError as error:  # of a file whose name the user never gave
        raise OSError(error.errno, error.strerror, str(target)) from None
    known = target if target.exists() else unfinished
    return stat.S_IMODE(known.stat().st_mode)


def _flush(path: Path) -> None:
    """Flush a file to disk."""
    with open(path, "rb+") as file:
        os.fsync(file.fileno())


def _flush_folder(folder: Path) -> None:
    """Make the renaming itself durable, where the system lets a folder be flushed."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
