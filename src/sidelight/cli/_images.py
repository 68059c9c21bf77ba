"""A folder of pictures as rows of grey values between 0 and 1."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sidelight.base.messages import require_extra

from ._matrix import Matrix
from ._output import CommandError

if TYPE_CHECKING:
    from ._read import Reading

__all__ = ["find_images", "read_images"]

_SUFFIXES = (".png", ".jpg", ".jpeg", ".bmp", ".gif", ".tif", ".tiff", ".webp", ".pgm", ".ppm")
_SHOWN = 8


def read_images(folder: Path, how: Reading) -> Matrix:
    """Read every picture of ``folder``; of its sub-folders only if ``how.recursive``, and these become a colour."""
    Image = require_extra("PIL.Image", "A folder of pictures", "cli")
    files, below = find_images(folder, recursive=how.recursive)
    sizes = [_size(Image, file) for file in files]
    size, remark = _common_size(sizes, how.image_size)
    X = np.stack([_grey(Image, file, size).ravel() for file in files])
    groups = [str(file.parent.relative_to(folder)) for file in files]
    colours = pd.DataFrame({"folder": groups}) if len(set(groups)) > 1 else pd.DataFrame()
    how.wishes.check(colours.columns, f"the folder {folder.name}")
    return Matrix(
        X=X,
        colours=colours,
        given=how.wishes.known(colours),
        attributes=how.wishes.labels(colours),
        related=how.wishes.related(colours),
        row_names=pd.Series([file.relative_to(folder).as_posix() for file in files], name="file"),
        image_shape=size,
        remarks=[f"{len(files)} pictures are embedded as grey values, {remark}.", *below],
    )


def find_images(folder: Path, *, recursive: bool) -> tuple[list[Path], list[str]]:
    """Return the pictures to read, and a remark on those in sub-folders that are not read."""
    everywhere = sorted(path for path in folder.rglob("*") if path.suffix.lower() in _SUFFIXES and path.is_file())
    own = [path for path in everywhere if path.parent == folder]
    below = Counter(path.relative_to(folder).parts[0] for path in everywhere if path.parent != folder)
    if not everywhere:
        raise CommandError(f"{folder}: there are no pictures in this folder ({', '.join(_SUFFIXES)})")
    if recursive or not below:
        return everywhere, []
    some = [f"{name} ({count})" for name, count in list(below.items())[:_SHOWN]]
    listed = ", ".join(some) + (" ..." if len(below) > _SHOWN else "")
    if not own:
        has = f"its sub-folders have {sum(below.values())}: {listed}"
        raise CommandError(f"{folder}: there are no pictures in this folder itself; {has}; add --recursive")
    return own, [f"Pictures in sub-folders are left out: {listed}; --recursive takes them."]


def _size(Image: Any, file: Path) -> tuple[int, int]:
    try:
        with Image.open(file) as picture:
            return int(picture.height), int(picture.width)
    except (OSError, ValueError, SyntaxError) as error:
        raise CommandError(f"{file}: not a readable picture; remove it from the folder") from error


def _common_size(sizes: list[tuple[int, int]], wanted: tuple[int, int] | None) -> tuple[tuple[int, int], str]:
    """Return the size that all pictures get: the wanted one, their own, or the most frequent of several."""
    if wanted is not None:
        return wanted, f"brought to {wanted[1]}x{wanted[0]} pixels as asked"
    counts = Counter(sizes)
    height, width = counts.most_common(1)[0][0]
    if len(counts) == 1:
        return (height, width), f"{width}x{height} pixels"
    different = len(sizes) - counts[(height, width)]
    return (height, width), f"{different} of them resized to {width}x{height} (--image-size chooses another)"


def _grey(Image: Any, file: Path, size: tuple[int, int]) -> NDArray[np.float64]:
    try:
        with Image.open(file) as picture:
            # 16-bit greys would be clipped, not scaled, by a conversion to "L".
            deep = picture.mode.startswith("I")
            grey = picture.convert("F" if deep else "L")
            if (grey.height, grey.width) != size:
                grey = grey.resize((size[1], size[0]), Image.Resampling.LANCZOS)
            return np.asarray(grey, dtype=np.float64) / (65535.0 if deep else 255.0)
    except (OSError, ValueError, SyntaxError) as error:
        raise CommandError(f"{file}: not a readable picture; remove it from the folder") from error
