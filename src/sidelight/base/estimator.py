"""The base of every estimator: scikit-learn's, with its callbacks (1.9) and with a link to this documentation.

In a notebook scikit-learn draws an estimator as a box with a question mark, which leads to ``DOCUMENTATION``.
"""

from __future__ import annotations

from typing import ClassVar

from sklearn.base import BaseEstimator

from .sklearn_callbacks import CallbackSupport

__all__ = ["DOCUMENTATION", "DocumentedMixin", "Estimator"]

DOCUMENTATION = "https://sidelight.readthedocs.io/en/latest/"
"""Address of the documentation: the only place in the code that names it."""

_PAGES = {"gated": ("gated", "sidelight.gated."), "base": ("pipeline", "sidelight.pipeline.")}
"""Page and prefix of the anchors of packages that have no page of their own name, or other names; ``base`` holds the
pipeline."""


class DocumentedMixin:
    """The link of a class to its place in the API reference, for scikit-learn's HTML representation."""

    _doc_link_module = "sidelight"
    _doc_link_template = DOCUMENTATION + "api/{page}.html#{name}"

    def _doc_link_url_param_generator(self) -> dict[str, str]:
        """Page and anchor of the class."""
        room = type(self).__module__.split(".")[1]
        page, prefix = _PAGES.get(room, (room, "sidelight."))
        return {"page": page, "name": prefix + type(self).__name__}


class Estimator(DocumentedMixin, CallbackSupport, BaseEstimator):
    """scikit-learn's ``BaseEstimator`` with its callbacks and a link to this documentation."""

    _fit_has_stages: ClassVar[bool] = True
    """Whether a fit may have several stages or starts; False: its iterations are one sequence of at most max_iter."""
