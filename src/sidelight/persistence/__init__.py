"""A fitted model in one file: arrays and one JSON document, never code.

The container is a `safetensors <https://huggingface.co/docs/safetensors>`_ file. Its ``__metadata__`` holds
a single entry, ``"sidelight"``: a JSON document with the format version, a SHA-256 digest of everything else
in the file, the caller's notes and the tree of the model (class names, parameters, fitted attributes), whose
arrays are the tensors of the file. Class names are looked up in tables of this package
(:mod:`sidelight.persistence._tables`; steps of scikit-learn in ``_sklearn_steps``), so a file can name only what these
list: nothing is imported, unpickled or called on its behalf.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sidelight.base.files import atomic_write

from ._container import ModelFileError, quoted, read_document, unreadable, write_container
from ._decode import Decoder
from ._encode import Encoder, ForeignEstimator
from ._schema import MismatchError, Sizes, check_value

__all__ = [
    "ForeignEstimator",
    "MismatchError",
    "ModelFileError",
    "atomic_write",
    "check_notes",
    "load",
    "load_notes",
    "save",
]

# What reading a well-signed but absurd tree can raise: all of it means "not a model", and is said as such.
_ABSURD = (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError, MemoryError)


def save(model: object, path: str | os.PathLike[str], *, notes: dict[str, Any] | None = None) -> None:
    """Save a Sidelight model, or a scikit-learn Pipeline with one, fitted or not, to one file.

    The file is written beside its destination and renamed, so that a save which fails leaves an older file as
    it was. The parameter ``callback`` is not saved, nor is ``memory`` of a Pipeline, nor are the ``seconds``
    of the records in ``history_``: the same fit gives the same bytes, whatever time it took. A foreign estimator among
    the parameters is saved as a description (:class:`ForeignEstimator`), any other object that is not plain data is
    refused.

    Parameters
    ----------
    model : estimator or Pipeline
        A model of this library, or a Pipeline of such models and of scikit-learn steps that are saved as data: scalers,
        encoders, imputers, PCA, a ColumnTransformer of these (``docs/saving.md`` lists them).
    path : path-like
        Where to write; the folder must exist.
    notes : dict, optional
        Plain data to store with the model (:func:`load_notes` returns it).

    Raises
    ------
    TypeError
        If the model, or something it holds, cannot be written as plain data.

    See Also
    --------
    load : Reads the file.

    Examples
    --------
    >>> import numpy as np, sidelight, tempfile, pathlib
    >>> X = np.random.default_rng(0).normal(size=(40, 3))
    >>> model = sidelight.TwoWayEmbedding().fit(X, embedding=X[:, :2])
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "model.sidelight"
    >>> sidelight.save(model, file)
    >>> bool((sidelight.load(file).embedding_ == model.embedding_).all())
    True
    """
    encoder = Encoder()
    tree = encoder.model(model)
    document = {"notes": encoder.value(notes or {}, "notes"), "model": tree}
    with atomic_write(path) as unfinished:
        write_container(unfinished, document, encoder.tensors)


def load(path: str | os.PathLike[str]) -> Any:
    """Load the model that :func:`save` wrote.

    Raises
    ------
    ModelFileError
        If the file is damaged, cut short, from a newer Sidelight, or not a model at all.

    See Also
    --------
    save : Writes the file.
    sidelight.persistence.load_notes : The notes of a file, without the model.
    """
    return _decode(Path(path), "model")


def load_notes(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the notes that were passed to :func:`save`, without loading the model."""
    notes = _decode(Path(path), "notes")
    if not isinstance(notes, dict):
        raise unreadable(path, "has notes that are not a dictionary", "Save the model again")
    return notes


def check_notes(notes: Mapping[str, Any], lines: Mapping[str, str], sizes: Mapping[str, int]) -> None:
    """Raise ``MismatchError`` if notes do not match the schema ``lines`` (see ``_schema.py``).

    Examples
    --------
    >>> import numpy as np
    >>> check_notes({"means": np.zeros(3)}, {"means": "float (d)"}, {"d": 3})
    """
    known = Sizes(sizes)
    for name, line in lines.items():
        if name in notes:
            try:
                check_value(notes[name], line, known, {})
            except MismatchError as error:
                raise MismatchError(f"its note {name} {error}") from None


def _decode(path: Path, part: str) -> Any:
    document, tensors = read_document(path)
    try:
        decoder = Decoder(path, tensors)
        return decoder.model(document["model"]) if part == "model" else decoder.value(document[part])
    except ModelFileError:
        raise
    except _ABSURD as error:
        rule = f"describes a model that cannot be built ({type(error).__name__}: {quoted(str(error))})"
        raise unreadable(path, rule, "Save the model again with this version of Sidelight") from error
