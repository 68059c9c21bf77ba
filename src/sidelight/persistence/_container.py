"""The container: a safetensors file, checked before anything in it is believed.

Order of the checks: the declared size of the header against the size of the file (before any memory is
asked for), the header and the extents of the arrays (by the safetensors library, which reads through a memory
map), our signature, the format version, the digest of the document and of every array.
"""

from __future__ import annotations

import hashlib
import json
import os
import reprlib
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidelight.base.messages import error_message

from ._limits import too_much

__all__ = ["FORMAT", "ModelFileError", "Tensors", "quoted", "read_document", "unreadable", "write_container"]

FORMAT = 1
"""Version of the file format; a reader accepts its own and older ones."""

_KEY = "sidelight"
_LARGEST_HEADER = 110_000_000  # a description of the longest kind, all of whose quotes are escaped
_LONGEST_RULE = 300
_SHORT = reprlib.Repr()
_AGAIN = "Copy the file again from its source, or fit and save the model again"
_SAVE = "Give a file that was written by sidelight.save or by `sidelight embed`"
_SIGNATURES = {
    b"\x89PNG": "a PNG image",
    b"\xff\xd8\xff": "a JPEG image",
    b"PK\x03\x04": "a zip archive",
    b"\x1f\x8b": "a gzip archive",
    b"\x89HDF": "an HDF5 file",
    b"\x93NUMPY": "a NumPy array file",
    b"PAR1": "a Parquet file",
    b"%PDF": "a PDF document",
    b"\x80": "a pickle, which Sidelight never opens because a pickle can run code",
}

Tensors = dict[str, NDArray[Any]]


class ModelFileError(ValueError):
    """A model file that cannot be read; the message says what is wrong with it and what to do."""


def unreadable(path: str | os.PathLike[str], rule: str, remedy: str) -> ModelFileError:
    """Return the error for a file, worded like every message of the library."""
    name = os.fspath(path)
    shown = name if len(name) <= 80 else "..." + name[-77:]
    # whatever a file says of itself is cut, so that no message is longer than a few lines
    rule = rule if len(rule) <= _LONGEST_RULE else rule[: _LONGEST_RULE - 3] + "..."
    return ModelFileError(error_message("load", "path", shown, rule, remedy))


def quoted(value: Any) -> str:
    r"""Return text from a file, safe for a message: at most 60 characters, without control characters.

    Examples
    --------
    >>> print(quoted("\x1b[2Jred"), len(quoted("x" * 100)))
    '\x1b[2Jred' 60
    """
    text = repr(value[:60]) if isinstance(value, str) else _SHORT.repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def write_container(path: Path, document: dict[str, Any], tensors: Tensors) -> None:
    """Write the document and the arrays, with format version, writer and digest."""
    from safetensors.numpy import save_file

    head = {"format": FORMAT, "writer": f"sidelight {_version()}"}
    body = head | document
    signed = head | {"digest": _digest(body, tensors)} | document
    text = _dump(signed)
    excess = too_much(text)
    if excess is not None:
        rule = f"is described by {excess} outside arrays, more than a model file takes"
        raise TypeError(error_message("save", "model", "<model>", rule, "Keep long lists as NumPy arrays"))
    save_file(tensors, os.fspath(path), metadata={_KEY: text})


def read_document(path: Path) -> tuple[dict[str, Any], Tensors]:
    """Return the document and the arrays of a file after every check, or raise `ModelFileError`."""
    _check_size(path)
    text, tensors = _read_safetensors(path)
    document = _parse(path, text)
    _check_format(path, document)
    digest = document.pop("digest", None)
    try:
        expected = _digest(document, tensors)
    except (ValueError, RecursionError) as error:  # 1e999 is read as infinity, which cannot be written
        raise unreadable(path, "is damaged: its description holds what JSON has no number for", _AGAIN) from error
    if digest != expected:
        raise unreadable(path, "is damaged: its content does not match its checksum", _AGAIN)
    return document, tensors


def _check_size(path: Path) -> None:
    size = path.stat().st_size
    if size == 0:
        raise unreadable(path, "is empty", _AGAIN)
    with open(path, "rb") as file:
        start = file.read(8)
    header = int.from_bytes(start, "little")
    if len(start) < 8 or header > min(size - 8, _LARGEST_HEADER):
        raise unreadable(path, _looks_like(start), _SAVE)


def _looks_like(start: bytes) -> str:
    kind = next((name for magic, name in _SIGNATURES.items() if start.startswith(magic)), None)
    if kind is not None:
        return f"is not a Sidelight model: it looks like {kind}"
    return "is not a Sidelight model, or is cut short"


def _read_safetensors(path: Path) -> tuple[str, Tensors]:
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(os.fspath(path), framework="np") as file:
            text = (file.metadata() or {}).get(_KEY)
            if text is None:
                raise unreadable(path, "is a safetensors file, but not a Sidelight model", _SAVE)
            tensors: Tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            return text, tensors
    except ModelFileError:
        raise
    except (SafetensorError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise unreadable(path, "is damaged, cut short or not a Sidelight model", _AGAIN) from error


def _parse(path: Path, text: str) -> dict[str, Any]:
    excess = too_much(text)
    if excess is not None:
        rule = f"is not a model of this library: its description has {excess}"
        raise unreadable(path, rule, _SAVE)
    try:
        document = json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise unreadable(path, "is damaged: its description is not readable", _AGAIN) from error
    if not isinstance(document, dict) or type(document.get("format")) is not int:
        raise unreadable(path, "is damaged: it does not say which format it has", _AGAIN)
    return document


def _check_format(path: Path, document: dict[str, Any]) -> None:
    if document["format"] > FORMAT:
        rule = f"has format {quoted(document['format'])}; this Sidelight ({_version()}) reads up to {FORMAT}"
        remedy = f"It was written by {quoted(document.get('writer'))}: run `pip install --upgrade sidelight`"
        raise unreadable(path, rule, remedy)
    if document["format"] < 1:
        raise unreadable(path, f"claims the impossible format {quoted(document['format'])}", _AGAIN)


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not a number of JSON")


def _digest(document: dict[str, Any], tensors: Tensors) -> str:
    """SHA-256 of the document without its digest and of name, type, shape and bytes of every array."""
    digest = hashlib.sha256(_dump(document).encode())
    for name in sorted(tensors):
        tensor = tensors[name]
        digest.update(_dump([name, tensor.dtype.str, list(tensor.shape)]).encode())
        digest.update(np.ascontiguousarray(tensor).reshape(-1).view(np.uint8).data)
    return digest.hexdigest()


def _dump(document: Any) -> str:
    return json.dumps(document, allow_nan=False, separators=(",", ":"))


def _version() -> str:
    try:
        return version("sidelight")
    except PackageNotFoundError:
        return "unknown"
