"""Encoding and dialect of a text table: delimiter, quotation marks, comment lines, heading."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ._plain_columns import unique_names

__all__ = ["Dialect", "as_text", "find_dialect", "numbered_rows"]

_SAMPLE_LINES = 200
_BYTE_ORDER_MARKS = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))
_DELIMITERS = ("\t", ";", "|", ",")
_NUMBER = re.compile(r"[+-]?(\d+|\d{1,3}([.,' ]\d{3})+)?([.,]\d*)?([eE][+-]?\d+)?\s?%?")
_NAMES = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "pipes", r"\s+": "spaces"}


@dataclass(frozen=True)
class Dialect:
    """How a text table is written.

    Parameters
    ----------
    delimiter : str
        What stands between entries; the pattern of white space for spaces.
    quote : str
        The quotation mark.
    names : tuple of str
        A name for each entry of a row.
    has_heading : bool
        Whether the first line holds the names.
    repeated : tuple of str
        Names that the first line holds more than once.
    """

    delimiter: str
    quote: str
    names: tuple[str, ...]
    has_heading: bool
    repeated: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """Description for people: "separated by semicolons"."""
        return "in one column" if len(self.names) == 1 else f"separated by {_NAMES[self.delimiter]}"


def as_text(content: bytes) -> tuple[str, str]:
    """Return the decoded text and the name of its encoding; ValueError if it is not text.

    Examples
    --------
    >>> as_text("größe".encode("latin-1"))
    ('größe', 'Windows-1252')
    """
    encoding = next((name for mark, name in _BYTE_ORDER_MARKS if content.startswith(mark)), None)
    if encoding is None and b"\0" in content[:1000]:
        encoding = _encoding_without_mark(content)
    try:
        if encoding is not None:
            return content.decode(encoding).lstrip("\ufeff"), "UTF-8" if encoding == "utf-8-sig" else "UTF-16"
    except UnicodeDecodeError as error:
        said = "UTF-8" if encoding == "utf-8-sig" else "UTF-16"
        raise ValueError(f"it begins as {said} text and goes on as something else; save it as UTF-8") from error
    for encoding, words in (("utf-8", "UTF-8"), ("cp1252", "Windows-1252"), ("latin-1", "Latin-1")):
        try:
            return content.decode(encoding), words
        except UnicodeDecodeError:
            continue
    raise AssertionError("latin-1 decodes every byte")


def _encoding_without_mark(content: bytes) -> str:
    """Return the order of bytes of UTF-16 text without its mark; every other byte of plain letters is zero."""
    start = content[:1000]
    low, high = start[1::2].count(0), start[::2].count(0)
    if max(low, high) < 0.4 * len(start) / 2 or min(low, high) > 0.1 * len(start) / 2:
        raise ValueError("it holds zero bytes, so it is not text; give the file its own ending, or save it as UTF-8")
    return "utf-16-le" if low > high else "utf-16-be"


def numbered_rows(text: str, delimiter: str, quote: str = '"') -> Iterator[tuple[int, list[str]]]:
    """Yield the number of the line and the entries of each row that has any; csv.Error if a field is too long."""
    if delimiter == r"\s+":
        yield from ((n, line.split()) for n, line in enumerate(text.splitlines(), 1) if line.strip())
        return
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, quotechar=quote, skipinitialspace=True)
    yield from ((reader.line_num, row) for row in reader if row)


def _rows(text: str, delimiter: str, quote: str) -> list[list[str]]:
    return [row for _, row in numbered_rows(text, delimiter, quote)]


def find_dialect(text: str, suffix: str = ".csv", comment: str = "", delimiter: str | None = None) -> Dialect:
    """Return the dialect that the first lines of ``text`` are written in.

    ``comment`` is the last comment line above the table; it is the heading if it has as many entries as the first row
    and that row has numbers.
    """
    sample = "".join(text[:1_000_000].splitlines(keepends=True)[:_SAMPLE_LINES])
    quote = "'" if re.match(r"'[^'\"\n]*'\s*[,;\t|]", sample) else '"'
    mark = delimiter or _find_delimiter(sample, quote, suffix)
    rows = _rows(sample, mark, quote)
    first = [entry.strip() for entry in rows[0]]
    said = [entry.strip() for entry in next(iter(_rows(comment, mark, quote)), [])]
    numbers = [bool(entry and _NUMBER.fullmatch(entry)) for entry in first]
    if len(said) == len(first) and any(numbers):
        return Dialect(mark, quote, tuple(unique_names(said)), has_heading=False)
    if all(numbers):
        return Dialect(mark, quote, tuple(f"x{i + 1}" for i in range(len(first))), has_heading=False)
    again = tuple(name for name, times in Counter(first).items() if name and times > 1)
    return Dialect(mark, quote, tuple(unique_names(_with_row_names(first, rows[1:]))), has_heading=True, repeated=again)


def _find_delimiter(sample: str, quote: str, suffix: str) -> str:
    """Return the mark that splits most lines into as many entries as the first; decimal commas do not."""
    shares = {mark: _share(sample, mark, quote) for mark in _DELIMITERS}
    best = max(shares, key=lambda mark: shares[mark])  # of equals the first: no decimal comma is a tab
    if shares[best] > 0:
        return best
    if suffix in (".txt", ".dat", ".data") and _share(sample, r"\s+", quote) == 1:
        return r"\s+"
    return ","


def _share(sample: str, mark: str, quote: str) -> float:
    """Return which share of the lines has as many entries as the heading, or one more: the name of the row."""
    try:
        rows = _rows(sample, mark, quote)
    except csv.Error:
        return 0.0
    width = len(rows[0])
    if len(rows) > 1 and len(rows[1]) == width + 1:
        # A decimal comma in each row of one other column looks like this, so it counts less.
        return (0.99 if width > 1 else 0.5) * sum(len(row) == width + 1 for row in rows[1:]) / (len(rows) - 1)
    return sum(len(row) == width for row in rows) / len(rows) if width > 1 else 0.0


def _with_row_names(heading: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return a name for each entry of a row, where rows have one more than the heading.

    R writes the names of rows without a name of their own; other programs end every row with a delimiter.
    """
    if not rows or len(rows[0]) != len(heading) + 1:
        return list(heading)
    if not any(row[-1] for row in rows if len(row) == len(heading) + 1):
        return [*heading, ""]
    return ["rownames", *heading]
