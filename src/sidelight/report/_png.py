"""PNG files without an image library, and sheets of many small pictures in one file.

A PNG (RFC 2083) is a signature and three chunks: the header, the filtered rows compressed by zlib, the end.
Of the row filters (section 6) *none*, *sub* and *up* are tried on the whole picture; the smallest wins.
"""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from sidelight.plot._pictures import Bytes

__all__ = ["data_uri", "mosaic", "png", "sheet"]

COLOUR_TYPE = {1: 0, 3: 2, 4: 6}
"""PNG's number for grey, RGB and RGBA, by channels."""


def png(pixels: Bytes) -> bytes:
    r"""Return ``pixels``, (height, width) grey or (height, width, 3 or 4), as the bytes of a PNG file.

    Examples
    --------
    >>> png(np.zeros((2, 3), dtype=np.uint8))[:4]
    b'\x89PNG'
    """
    height, width = pixels.shape[:2]
    channels = 1 if pixels.ndim == 2 else pixels.shape[2]
    rows = np.ascontiguousarray(pixels).reshape(height, width * channels)
    header = struct.pack(">IIBBBBB", width, height, 8, COLOUR_TYPE[channels], 0, 0, 0)
    packed = min((zlib.compress(filtered, 9) for filtered in _filtered(rows, channels)), key=len)
    return b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", header) + _chunk(b"IDAT", packed) + _chunk(b"IEND", b"")


def _filtered(rows: Bytes, channels: int) -> list[bytes]:
    """The rows under the filters none (0), sub (1) and up (2), the filter's number before each row."""
    sub, up = rows.copy(), rows.copy()
    sub[:, channels:] -= rows[:, :-channels]
    up[1:] -= rows[:-1]
    return [
        np.hstack([np.full((len(rows), 1), number, dtype=np.uint8), filtered]).tobytes()
        for number, filtered in enumerate((rows, sub, up))
    ]


def _chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def data_uri(pixels: Bytes) -> str:
    """Return a PNG as an address that holds the picture itself."""
    return "data:image/png;base64," + base64.b64encode(png(pixels)).decode("ascii")


def sheet(pictures: Bytes, columns: int | None = None) -> dict[str, Any]:
    """Return ``pictures`` (m, height, width[, 3]) as one sheet: its address, columns, size of a picture.

    Examples
    --------
    >>> made = sheet(np.zeros((5, 4, 6), dtype=np.uint8))
    >>> made["columns"], made["width"], made["height"]
    (3, 6, 4)
    """
    m, height, width = pictures.shape[:3]
    columns = columns or int(np.ceil(np.sqrt(m)))
    rows = -(-m // columns)
    cells = np.zeros((rows * columns, *pictures.shape[1:]), dtype=np.uint8)
    cells[:m] = pictures
    grid = cells.reshape(rows, columns, *pictures.shape[1:]).swapaxes(1, 2)
    joined = grid.reshape(rows * height, columns * width, *pictures.shape[3:])
    return {"src": data_uri(joined), "columns": columns, "width": width, "height": height}


def mosaic(pictures: Sequence[Bytes], columns: int) -> Bytes:
    """Return grey or coloured pictures, of any sizes, as one (height, width, 4) with gaps that are see-through.

    Examples
    --------
    >>> mosaic([np.zeros((4, 6), dtype=np.uint8)] * 5, 3).shape
    (9, 20, 4)
    """
    height, width = (max(picture.shape[axis] for picture in pictures) for axis in (0, 1))
    gap = max(1, min(height, width) // 12)
    lines, columns = -(-len(pictures) // columns), min(columns, len(pictures))
    canvas = np.zeros((lines * (height + gap) - gap, columns * (width + gap) - gap, 4), dtype=np.uint8)
    for number, picture in enumerate(pictures):
        i, j = divmod(number, columns)
        cell = canvas[i * (height + gap) :, j * (width + gap) :][: picture.shape[0], : picture.shape[1]]
        cell[..., :3] = picture if picture.ndim == 3 else picture[..., None]
        cell[..., 3] = 255
    return canvas
