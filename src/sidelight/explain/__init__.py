"""What a map means: which features move a row, what puts rows where they are, and what its axes stand for.

=====================  ============================================================================
:func:`local`          which features move each row along each axis, at its place
:func:`rows`           contributions of features to the place of each row, which sum to it exactly
:func:`difference`     the same for two rows, or two selections of rows, with intervals and false discovery rates
:func:`selection`      a selection of rows against all others
:func:`groups`         each group of rows against all others
:func:`axes`           how features change along each axis, over the whole map and region by region
:func:`reliability`    how far each row of the map can be believed, and why
:func:`in_words`       such a table in sentences
=====================  ============================================================================

All return tidy tables of pandas (or polars). They use the derivatives of the maps in closed form
(``model.jacobian``, ``model.inverse_jacobian``), never numerical ones. With ``given``, features are looked at after its
effect. Pipelines are explained through linear steps: scalers, PCA, TruncatedSVD and linear metrics in the units of the
data, ``CountEncoder`` in deviance residuals of each gene; after any other step, in the columns that it returns.
"""

from ._axes import axes
from ._difference import difference, groups, selection
from ._reliability import reliability
from ._rows import local, rows
from ._words import in_words

__all__ = ["axes", "difference", "groups", "in_words", "local", "reliability", "rows", "selection"]
