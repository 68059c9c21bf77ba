"""A table of mixed columns as numbers of equal weight, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted

from sidelight.base.capabilities import ENCODER
from sidelight.base.cost import Cost, announce_cost
from sidelight.base.fitting import all_or_nothing
from sidelight.base.messages import error_message
from sidelight.base.random import random_numbers
from sidelight.base.tiles import one_blas_thread
from sidelight.base.validation import check_choice, check_integer, check_number, checked_array, refuse_too_large

from ._category_code import CategoryCode
from ._column_fill import has_interval
from ._column_kinds import ColumnUse, read_by, understood_columns
from ._encoding import Code, ColumnBlock, EncoderSettings, blocks_of, decode_columns, encode_columns, fit_codes
from ._matching import matched_columns
from ._table_columns import Table, read_table
from ._table_entries import frame_of
from ._table_layout import TableLayout, layout_of
from ._takes_tables import TakesTables

__all__ = ["TableEncoder"]

Array = npt.NDArray[Any]
_SCALINGS = ("robust", "standard", "none")
_TAILS = ("auto", "keep")


class TableEncoder(TransformerMixin, TakesTables):
    """Encode a table of numbers, categories, dates and text as numbers of equal weight, and decode them.

    A transformer, to be put before any embedding. Each column counts the same: its code has a total variance of 1,
    whether it is a number (1 if it is Gaussian, since quartiles set its scale) or a category of many levels. The kind
    of a column is inferred from its type, its entries and its name (``columns_`` has the kind and the reason; ``kinds``
    overrides it). Identifiers, constant and empty columns are left out. Missing entries stay missing: NaN in all
    columns of their code.

    Parameters
    ----------
    kinds : dict or None, default=None
        Column -> "number", "category", "ordinal", "boolean", "date", "angle", "text", "identifier" (left out) or "drop"
        (left out), to override the inferred kind.
    scaling : {"robust", "standard", "none"}, default="robust"
        Scaling of numbers: median and interquartile range / 1.349 (the standard deviation, if that is 0), mean and
        standard deviation, or none.
    tails : {"auto", "keep"}, default="auto"
        "auto": asinh for a number with heavy tails, if held-out entries are then more likely under a Gaussian.
    min_frequency : int or float, default=2
        Categories with fewer rows (below 1: with a smaller share of the rows) share one level "other", if there are at
        least two of them. Its inverse is the most frequent of them.
    n_text : int, default=16
        Number of columns of the code of free text.
    random_state : int, RandomState or None, default=None
        Seed of the singular vectors of text. None is a fixed seed: the same call gives the same result.

    Attributes
    ----------
    columns_ : tuple of ColumnUse
        Inferred kind of each column: ``name``, ``kind``, ``reason``, ``used``, ``number_format``, ``n_missing``;
        ``sentence()`` describes it in one line.
    blocks_ : tuple of ColumnBlock
        For each used column its ``name`` and the slice ``columns`` of the code that it occupies.
    n_features_in_ : int
    feature_names_in_ : array of str
        Only if the columns had names.

    Notes
    -----
    At ``transform`` columns are matched by name: their order does not matter, new ones are ignored with a warning, and
    missing ones raise an error unless they were left out. A category that was not in the fit counts as missing, with a
    warning. Columns of another type are converted if possible (numbers written as text, for example).

    The inverse has the same columns and types. Identifiers, empty columns and free text cannot be reconstructed and are
    missing (in pandas, missing whole numbers have the type ``Int64``). Dates are reconstructed from their trend, in the
    original resolution. In tables of numbers without names, such as arrays, all columns are numbers.

    See Also
    --------
    KernelInformationEmbedding : the embedding to put behind it.

    References
    ----------
    .. [1] J. C. Gower. A general coefficient of similarity and some of its properties. Biometrics 27, 1971.
    .. [2] J. Pagès. Analyse factorielle de données mixtes. Revue de statistique appliquée 52, 2004.

    Examples
    --------
    >>> import pandas as pd
    >>> from sidelight import TableEncoder
    >>> table = pd.DataFrame({"mass": [3750.0, 3800, 3250, 5000], "sex": ["f", "m", "f", "m"]})
    >>> encoder = TableEncoder().fit(table)
    >>> for column in encoder.columns_:
    ...     print(column.sentence())
    mass: number (from 3250 to 5000)
    sex: category (2 different words in 4 rows)
    >>> A = encoder.transform(table)
    >>> A.shape, bool((encoder.inverse_transform(A) == table).all(axis=None))
    ((4, 3), True)
    """

    _capabilities = ENCODER

    columns_: tuple[ColumnUse, ...]
    blocks_: tuple[ColumnBlock, ...]
    codes_: tuple[Code, ...]
    layout_: TableLayout

    def __init__(
        self,
        kinds: Mapping[str, str] | None = None,
        *,
        scaling: str = "robust",
        tails: str = "auto",
        min_frequency: float = 2,
        n_text: int = 16,
        random_state: Any = None,
    ) -> None:
        self.kinds = kinds
        self.scaling = scaling
        self.tails = tails
        self.min_frequency = min_frequency
        self.n_text = n_text
        self.random_state = random_state

    @all_or_nothing
    @one_blas_thread
    def fit(self, X: Any, y: Any = None) -> TableEncoder:
        """Infer the kinds of the columns and fit their codes.

        Parameters
        ----------
        X : table of shape (n, d)
            Of pandas, polars, pyarrow or another library that narwhals knows; or an array, or a list of rows.
        y : ignored
        """
        settings = self._settings()
        read = read_table(X)
        announce_cost(self, self.estimate_cost(read.n_rows, len(read.columns)), read.n_rows)
        table, uses = understood_columns(read, self.kinds)
        self._refuse_nothing_to_encode(table, uses)
        codes = fit_codes(table, uses, settings)
        self._remember_columns(X, table)
        self.columns_, self.codes_, self.layout_ = uses, codes, layout_of(table, uses)
        self.blocks_ = blocks_of([use.name for use in uses if use.used], codes)
        return self

    @one_blas_thread
    def transform(self, X: Any) -> Array:
        """Return the code (n, p) of a table; NaN where an entry is missing.

        Parameters
        ----------
        X : table of shape (n, d)
            Columns are matched by name if both tables have names, else by position.
        """
        check_is_fitted(self, "codes_")
        table = read_table(X)
        used = [use for use in self.columns_ if use.used]
        A = encode_columns(read_by(self._matched(table), used), used, self.codes_)
        refuse_too_large(self, "X", A)
        return A.astype(np.float32) if isinstance(X, np.ndarray) and X.dtype == np.float32 else A

    def inverse_transform(self, X: Any, *, probabilities: bool = False) -> Any:
        """Decode codes to a table with the columns and types of the fit.

        Parameters
        ----------
        X : array of shape (n, p)
            Codes; categories are decoded to the level of largest probability.
        probabilities : bool, default=False
            Add columns with the probability of each level after categories and booleans.

        Returns
        -------
        table of shape (n, d)
            Of the same library as the table of the fit. NaN in a code gives a missing entry.
        """
        check_is_fitted(self, "codes_")
        A = np.asarray(checked_array(self, X, dtype=np.float64, ensure_all_finite="allow-nan"))
        width = self.blocks_[-1].stop
        if A.shape[1] != width:
            rule, remedy = f"does not match the {width} columns of the code", "Give what transform returns"
            raise ValueError(error_message(self, "X", f"{A.shape[1]} columns", rule, remedy))
        extra = self._probabilities(A) if probabilities else {}
        index = X.index if hasattr(X, "iloc") else None
        return self.layout_.build(decode_columns(A, self.blocks_, self.codes_), len(A), extra, index)

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Return the names of the columns of the code: name of the table column, then its level or part."""
        check_is_fitted(self, "codes_")
        names = [name for block, code in zip(self.blocks_, self.codes_, strict=True) for name in code.names(block.name)]
        return np.array(names, dtype=object)

    def estimate_cost(self, n: int, d: int) -> Cost:
        """Return the estimated cost of a fit on ``n`` rows and ``d`` columns."""
        return Cost(64 * n * d, 0.01 + 3e-7 * n * d)

    def _ends_of_tables(self, lower: Array, upper: Array, mean: Array) -> tuple[Any, Any, dict[str, Any]]:
        """Tables of both ends of intervals of codes (n, p), and probabilities of levels at their means, by column.

        The codes of numbers, dates and ordered categories are increasing; categories and angles have no ends.
        """
        ends = []
        for A in (lower.copy(), upper.copy()):
            for block, code in zip(self.blocks_, self.codes_, strict=True):
                if not has_interval(code):
                    A[:, block.columns] = np.nan
            ends.append(self.layout_.build(decode_columns(A, self.blocks_, self.codes_), len(A), {}))
        levels = {}
        for block, code in zip(self.blocks_, self.codes_, strict=True):
            if isinstance(code, CategoryCode):
                P = code.probabilities(mean[:, block.columns])
                found = {str(level): P[:, k] for k, level in enumerate(code.levels)}
                levels[block.name] = frame_of(self.layout_.library, found, None)
        return ends[0], ends[1], levels

    def _settings(self) -> EncoderSettings:
        check_choice(self, "scaling", self.scaling, _SCALINGS)
        check_choice(self, "tails", self.tails, _TAILS)
        check_number(self, "min_frequency", self.min_frequency, 0)
        check_integer(self, "n_text", self.n_text, 1)
        random = random_numbers(self.random_state)
        return EncoderSettings(self.scaling, self.tails, self.min_frequency, int(self.n_text), random)

    def _refuse_nothing_to_encode(self, table: Table, uses: tuple[ColumnUse, ...]) -> None:
        if any(use.used for use in uses):
            return
        seen = "; ".join(use.sentence() for use in uses[:3])
        rows = "1 sample" if table.n_rows == 1 else f"{table.n_rows} samples"
        rule = f"({rows}) has no column that can be encoded"
        raise ValueError(
            error_message(self, "X", seen, rule, "Give columns that vary, or say with kinds what they are")
        )

    def _matched(self, table: Table) -> dict[str, Any]:
        """The columns of a new table by the names of the fit; new ones are named in a warning, missing ones refused."""
        names, needed = [use.name for use in self.columns_], {use.name for use in self.columns_ if use.used}
        named = self.layout_.library != "array"
        return matched_columns(table, names, needed=needed, named=named, owner=type(self).__name__)

    def _probabilities(self, A: Array) -> dict[str, Array]:
        """Probabilities of all levels: "column, zero byte, column_level" -> (n,)."""
        found: dict[str, Array] = {}
        for block, code in zip(self.blocks_, self.codes_, strict=True):
            if isinstance(code, CategoryCode):
                P = code.probabilities(A[:, block.columns])
                found |= {f"{block.name}\0{block.name}_{level}": P[:, k] for k, level in enumerate(code.levels)}
        return found
