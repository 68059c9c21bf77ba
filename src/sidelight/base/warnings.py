"""Warnings that point at the user's line of code, from however deep inside the library."""

from __future__ import annotations

import os
import sys
import warnings

import joblib
import sklearn

__all__ = ["CostWarning", "DesignWarning", "ExtrapolationWarning", "SmallDataWarning", "warn"]


class SmallDataWarning(UserWarning):
    """A fit to few distinct rows, to noise in many columns, or with more dimensions than columns."""


class CostWarning(UserWarning):
    """Before a fit: it will take minutes or hours. Said once for fits of about the same length of a class."""


class DesignWarning(UserWarning):
    """Confounded columns of ``given``, groups with too few rows, or groups so unlike that nothing of a row is kept."""


class ExtrapolationWarning(UserWarning):
    """A result where the training rows say little, such as a counterfactual of rows unlike any row of its group."""


_INSIDE = tuple(
    os.path.join(os.path.dirname(os.path.abspath(module)), "")
    for module in (os.path.dirname(__file__), sklearn.__file__, joblib.__file__)  # the first: all of sidelight
)
"""Folders of library code. A fit in a pipeline or a search is called by scikit-learn, which calls joblib."""


def warn(message: str, category: type[Warning]) -> None:
    """Warn, attributed to the innermost stack frame outside sidelight, scikit-learn and joblib."""
    if sys.version_info >= (3, 12):
        warnings.warn(message, category, skip_file_prefixes=_INSIDE)
    else:
        warnings.warn(message, category, stacklevel=_frames_inside())


def _frames_inside() -> int:
    """The ``stacklevel`` of the first frame outside, for a warning given by the caller; needed up to Python 3.11."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_INSIDE):
        level, frame = level + 1, frame.f_back
    return level
