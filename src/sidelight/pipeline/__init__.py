"""Pipelines that take ``given`` and go back: no global configuration, and ``counterfactual`` through all steps.

from sidelight.pipeline import make_pipeline

model = make_pipeline(StandardScaler(), TruncatedSVD(50), KernelInformationEmbedding())
model.fit(X, given=batch).counterfactual(X, given="treated")
"""

from __future__ import annotations

from typing import Any

from sklearn.pipeline import make_pipeline as _make_pipeline

from sidelight.base.informed_pipeline import InformedPipeline

__all__ = ["InformedPipeline", "make_pipeline"]


def make_pipeline(*steps: Any, verbose: bool = False) -> InformedPipeline:
    """Return an :class:`InformedPipeline` of steps, named after their classes.

    See Also
    --------
    InformedPipeline : What it makes.
    sklearn.pipeline.make_pipeline : Without ``given``.

    Examples
    --------
    >>> from sklearn.decomposition import PCA
    >>> from sidelight import KernelInformationEmbedding
    >>> [name for name, _ in make_pipeline(PCA(5), KernelInformationEmbedding()).steps]
    ['pca', 'kernelinformationembedding']
    """
    return InformedPipeline(_make_pipeline(*steps).steps, verbose=verbose)
