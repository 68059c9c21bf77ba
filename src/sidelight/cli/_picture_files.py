"""Rows of a model of pictures as picture files: ``--out FOLDER`` of invert, counterfactual and corrected."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sidelight.base.messages import count_of, require_extra

from ._model_file import ModelFile
from ._output import CommandError
from ._write import check_format, check_free

__all__ = ["check_place_of_rows", "is_folder", "refuse_pictures_of_tables", "told_pictures", "write_pictures"]

_INDEX = "pictures.csv"
_BLACK, _WHITE = 0, 255


def is_folder(out: Path) -> bool:
    """Whether ``--out`` names a folder for pictures and no table: it has no ending."""
    return not out.suffix


def check_place_of_rows(out: Path, *, force: bool) -> None:
    """Complain before any work is done about a place where neither a table nor pictures can be written."""
    if not is_folder(out):
        check_format(out)
        check_free([out], force=force)
        return
    if out.is_dir() and any(out.iterdir()) and not force:
        raise CommandError(f"{out}: this folder is not empty; use --force to write into it, or choose another --out")
    check_free([out / _INDEX] if out.is_dir() else [out], force=force)


def refuse_pictures_of_tables(file: ModelFile, out: Path, columns: Sequence[str] = ()) -> None:
    """Raise an error for a folder if the model's rows are no pictures."""
    if not is_folder(out):
        return
    if file.image_shape is None:
        check_format(out)
    if columns:
        raise CommandError(f"--out {out}: pictures have all pixels; leave --columns out, or end the name with .csv")
    if float(np.max(file.means)) > _WHITE:
        raise CommandError(f"--out {out}: the pixels exceed {_WHITE} and are no grey values; end the name with .npy")


def write_pictures(out: Path, file: ModelFile, table: pd.DataFrame, rows: pd.DataFrame) -> None:
    """Write each of the rows (m, pixels) as a grey PNG, and what else the table says of it as ``pictures.csv``.

    Grey values are those of the data: from 0 to 1, or to 255 if pixels of the fit exceed 1 on average. Pictures are
    called after the files that they come from, or numbered. They appear in the folder when all are written.
    """
    Image = require_extra("PIL.Image", "A folder of pictures", "cli")
    white = 1.0 if float(np.max(file.means)) <= 1.0 else float(_WHITE)
    pixels = np.clip(rows.to_numpy(dtype=np.float64) * (_WHITE / white), _BLACK, _WHITE).round().astype(np.uint8)
    about = table.drop(columns=list(rows.columns))
    names = _names(about, len(rows))
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=f".{out.name}-") as place:
        for name, picture in zip(names, _shaped(pixels, file), strict=True):
            _place(Path(place), name).parent.mkdir(parents=True, exist_ok=True)
            Image.fromarray(picture).save(_place(Path(place), name))
        about.insert(0, "picture", names)
        about.to_csv(Path(place) / _INDEX, index=False)
        for name in [*names, _INDEX]:
            _place(out, name).parent.mkdir(parents=True, exist_ok=True)
            os.replace(_place(Path(place), name), _place(out, name))


def told_pictures(n: int, out: Path) -> str:
    """What was written, and where."""
    return f"wrote {count_of(n, 'picture')} and {_INDEX} into {out}"


def _shaped(pixels: NDArray[np.uint8], file: ModelFile) -> NDArray[np.uint8]:
    assert file.image_shape is not None
    return pixels.reshape(-1, *file.image_shape)


def _names(about: pd.DataFrame, n: int) -> list[str]:
    """Names of the pictures: of the files that the rows come from, if all differ, else their numbers."""
    if "file" in about.columns:
        own = [PurePosixPath(str(name)).with_suffix(".png") for name in about["file"]]
        if len(set(own)) == n and not any(name.is_absolute() or ".." in name.parts for name in own):
            return [name.as_posix() for name in own]
    return [f"{k:0{max(4, len(str(n)))}d}.png" for k in range(n)]


def _place(folder: Path, name: str) -> Path:
    return folder.joinpath(*PurePosixPath(name).parts)
