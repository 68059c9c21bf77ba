"""Open a file or standard input, unpack it, and detect its format by name and content."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import sys
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from sidelight.base.messages import require_extra

from ._columns import suggestion
from ._output import CommandError

__all__ = ["FORMATS", "STANDARD_INPUT", "Source", "open_source", "title_of"]

STANDARD_INPUT = Path("-")

FORMATS = {
    "text": (".csv", ".tsv", ".txt", ".tab", ".psv", ".dat", ".data"),
    "parquet": (".parquet", ".pq"),
    "arrow": (".feather", ".arrow", ".arrows", ".ipc"),
    "json": (".jsonl", ".ndjson", ".json"),
    "sheet": (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods"),
    "sqlite": (".sqlite", ".sqlite3", ".db"),
    "duckdb": (".duckdb", ".ddb"),
    "array": (".npy", ".npz"),
    "mtx": (".mtx",),
    "anndata": (".h5ad",),
}
"""The endings of a file name that say its format."""

_BY_SUFFIX = {suffix: name for name, suffixes in FORMATS.items() for suffix in suffixes}
_BY_CONTENT = (
    (0, b"PAR1", "parquet"),
    (0, b"ARROW1", "arrow"),
    (0, b"FEA1", "arrow"),
    (0, b"\xff\xff\xff\xff", "arrow"),
    (0, b"SQLite format 3\0", "sqlite"),
    (8, b"DUCK", "duckdb"),
    (0, b"\x93NUMPY", "array"),
    (0, b"%%MatrixMarket", "mtx"),
    (0, b"\x89HDF\r\n\x1a\n", "anndata"),
    (0, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "sheet"),
)
"""Place, bytes and format: what the beginning of a file says."""

_PACKED = {".gz": b"\x1f\x8b", ".bz2": b"BZh", ".xz": b"\xfd7zXZ\0", ".zst": b"\x28\xb5\x2f\xfd", ".zip": b"PK\x03\x04"}
_ZIPPED_FORMATS = (*FORMATS["sheet"], ".npz")
_DELIMITERS = (b",", b";", b"\t", b"|")
_HEAD = 4096


@dataclass(frozen=True)
class Source:
    """A file to be read, or the bytes that were unpacked from it or came through standard input.

    Parameters
    ----------
    path : Path
        The file as the user named it, for messages.
    name : str
        Its name without the ending of a compression.
    format : str
        One of ``FORMATS``.
    content : bytes, optional
        What was unpacked or piped; None if the file itself is to be read.
    """

    path: Path
    name: str
    format: str
    content: bytes | None = None

    @property
    def title(self) -> str:
        """The name for messages."""
        return title_of(self.path)

    @property
    def suffix(self) -> str:
        """The ending of the name that says the format."""
        return Path(self.name).suffix.lower()

    def read_bytes(self) -> bytes:
        """Return the whole content."""
        return self.path.read_bytes() if self.content is None else self.content

    def open(self) -> BinaryIO:
        """Return the content as an open file, which the caller closes."""
        return open(self.path, "rb") if self.content is None else io.BytesIO(self.content)

    def for_reader(self) -> Any:
        """Return what libraries read from: the path, or the unpacked bytes as an open file."""
        return self.path if self.content is None else io.BytesIO(self.content)


def title_of(path: Path) -> str:
    """Return the name of a file for messages."""
    return "standard input" if path == STANDARD_INPUT else str(path)


def open_source(path: Path) -> Source:
    """Return the source at ``path`` (``-``: standard input), unpacked, with its format.

    Raises CommandError if there is no such file, if it is empty, cannot be unpacked, or is of no known format.
    """
    if path == STANDARD_INPUT:
        content = sys.stdin.buffer.read()
        if not content:
            raise CommandError("standard input is empty; pipe a table into it, or name a file instead of -")
        name, unpacked = _unpack(path, "", content)
        return Source(path, name, _format(path, name, unpacked), unpacked)
    if not path.exists():
        raise CommandError(f"{path}: there is no such file or folder{_near(path)}")
    if path.is_dir():
        return Source(path, path.name, "parquet")  # many files that are one table
    with open(path, "rb") as file:
        head = file.read(_HEAD)
    if not head:
        raise CommandError(f"{path}: the file is empty")
    if _packing(path.name, head) is None:
        return Source(path, path.name, _format(path, path.name, head))
    name, unpacked = _unpack(path, path.name, path.read_bytes())
    return Source(path, name, _format(path, name, unpacked), unpacked)


def _near(path: Path) -> str:
    folder = path.parent
    return suggestion(path.name, [other.name for other in folder.iterdir()]) if folder.is_dir() else ""


def _packing(name: str, head: bytes) -> str | None:
    """Return the ending of the compression (".gz", ...), by content and not by name; None if there is none."""
    found = next((suffix for suffix, magic in _PACKED.items() if head.startswith(magic)), None)
    if found == ".zip" and Path(name).suffix.lower() in _ZIPPED_FORMATS:
        return None
    if found is None and Path(name).suffix.lower() in _PACKED:
        return Path(name).suffix.lower()
    return found


def _unpack(path: Path, name: str, content: bytes) -> tuple[str, bytes]:
    """Return name and bytes without compression; unpacked bytes that are packed again are left so."""
    packing = _packing(name, content[:_HEAD])
    if packing is None:
        return name, content
    title = title_of(path)
    inner = name[: -len(packing)] if name.lower().endswith(packing) else name
    if packing == ".zip":
        return _unpack_zip(title, name, content)
    try:
        unpacked = _UNPACKERS[packing](content)
    except EOFError as error:
        raise CommandError(f"{title}: the {packing[1:]} file ends too early; copy or download it again") from error
    except (OSError, lzma.LZMAError, zlib.error, ValueError) as error:
        raise CommandError(f"{title}: cannot be unpacked as {packing[1:]} ({error})") from error
    if not unpacked:
        raise CommandError(f"{title}: the unpacked file is empty")
    if inner.lower().endswith(".tar") or unpacked[257:262] == b"ustar":
        raise CommandError(f"{title}: is an archive of files; unpack it and give one of them")
    return inner, unpacked


def _unpack_zst(content: bytes) -> bytes:
    zstandard = require_extra("zstandard", "Reading .zst files", "cli")
    try:
        with zstandard.ZstdDecompressor().stream_reader(io.BytesIO(content), read_across_frames=True) as reader:
            unpacked: bytes = reader.read()
        # The reader ends without a word where the file was cut, so the frame is asked for its size, if it knows it.
        expected = zstandard.frame_content_size(content)
    except zstandard.ZstdError as error:
        raise ValueError(str(error)) from error
    if len(unpacked) < expected:
        raise EOFError
    return unpacked


_UNPACKERS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.decompress,
    ".bz2": bz2.decompress,
    ".xz": lzma.decompress,
    ".zst": _unpack_zst,
}


def _unpack_zip(title: str, name: str, content: bytes) -> tuple[str, bytes]:
    """Return name and bytes of the one file in a zip archive; a spreadsheet or NPZ file without its name is whole."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = [member for member in archive.infolist() if _is_data(member.filename)]
            names = [member.filename for member in members]
            if "[Content_Types].xml" in names or "content.xml" in names:
                return (name or "sheet") + (".xlsx" if "[Content_Types].xml" in names else ".ods"), content
            if names and all(member.endswith(".npy") for member in names):
                return f"{name}.npz", content
            if len(members) != 1:
                listed = ", ".join(names[:8]) or "none"
                raise CommandError(f"{title}: needs one file in the archive and has {listed}; unpack it and give one")
            return Path(names[0]).name, archive.read(members[0])
    except NotImplementedError as error:
        raise CommandError(f"{title}: is packed in a way that is not known here ({error}); unpack it first") from error
    except RuntimeError as error:  # zipfile's word for a password
        raise CommandError(f"{title}: is protected by a password; unpack it first") from error
    except (zipfile.BadZipFile, zlib.error, EOFError, ValueError, OSError) as error:
        raise CommandError(f"{title}: not a readable zip file ({error}); copy or download it again") from error


def _is_data(member: str) -> bool:
    return not member.endswith("/") and not member.startswith("__MACOSX/")


def _format(path: Path, name: str, head: bytes) -> str:
    """Return the format that content or name say; content wins where it is unmistakable."""
    named = _BY_SUFFIX.get(Path(name).suffix.lower())
    said = next((kind for place, magic, kind in _BY_CONTENT if head[place:].startswith(magic)), None)
    if said == "arrow" and named not in (None, "arrow"):
        said = None  # four bytes of ones may begin any binary file
    if said is not None and not (said == "sheet" and named is None):
        return said
    if named is not None:
        return "sqlite" if named == "duckdb" and head.startswith(b"SQLite") else named
    if path == STANDARD_INPUT or not Path(name).suffix:
        guessed = _guess_text(head, anything=path == STANDARD_INPUT)
        if guessed is not None:
            return guessed
    known = "csv, tsv, txt, parquet, feather, jsonl, xlsx, ods, sqlite, duckdb, npy, npz, mtx, h5ad"
    packed = ", ".join(suffix[1:] for suffix in _PACKED)
    raise CommandError(
        f"{title_of(path)}: unknown kind of file; give one of {known} (also packed: {packed}), or a folder of pictures"
    )


def _guess_text(head: bytes, *, anything: bool) -> str | None:
    """Return "json" or "text" for what looks so; None for binary data and, unless ``anything`` goes, lone words."""
    start = head[:_HEAD].lstrip(b"\xef\xbb\xbf \t\r\n")
    if start[:1] in (b"{", b"["):
        return "json"
    if b"\0" in start and not head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return None
    return "text" if anything or any(mark in start for mark in _DELIMITERS) else None
