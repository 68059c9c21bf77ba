"""Missing entries of a table of mixed columns: filled, drawn several times, or as intervals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from sidelight.base.capabilities import IMPUTER
from sidelight.base.cost import Cost, check_cost
from sidelight.base.fitting import all_or_nothing
from sidelight.base.intervals import Intervals
from sidelight.base.messages import error_message
from sidelight.base.progress import ProgressBar
from sidelight.base.random import random_numbers, start_seed
from sidelight.base.tiles import one_blas_thread
from sidelight.base.validation import check_choice, check_integer, check_number, refuse_too_large
from sidelight.base.warnings import warn
from sidelight.maps.entry_intervals import draw_scale, half_width
from sidelight.maps.entry_models import MODELS, ColumnErrors, EntryModel, fit_entry_model, hold_out, tries_trees
from sidelight.maps.parameter_draws import RowSample, mean_shifts, sample_rows

from ._column_kinds import ColumnUse, read_by
from ._encoding import EncoderSettings
from ._fill_plan import FillPlan, GappedTable, fit_plan, read_gaps
from ._gap_codes import deviation_code, drawn_code, mean_code
from ._matching import errors_of
from ._table_columns import read_table
from ._takes_tables import TakesTables

__all__ = ["METHODS", "Imputer", "Intervals"]

Array = npt.NDArray[Any]
METHODS = ("auto", *MODELS)
_TRIED = 5000  # rows up to which the trials of models take less than in proportion to them (measured)


class Imputer(OneToOneFeatureMixin, TransformerMixin, TakesTables):
    """Impute the missing entries of a table from the observed entries of each row.

    Columns of any kind are used and filled: numbers, categories, ordered categories, truth values, dates, angles. They
    are encoded as :class:`TableEncoder` does, a model of the codes gives the mean (``transform``), joint draws
    (``draws``) or intervals (``interval``) of the missing entries given the observed ones of the same row. Observed
    entries are returned as they are, in a table of the same library, columns and types.

    Parameters
    ----------
    method : {"auto", "gaussian", "mixture", "neighbours", "trees"}, default="auto"
        The model: one Gaussian; a mixture of Gaussians; local regression on similar rows; regression trees on rows that
        the Gaussian has completed. "auto" blends them by the squared error on a tenth of the observed entries, which it
        holds out (``held_out_``), and keeps the Gaussian alone unless the blend is clearly better.
    kinds : dict or None, default=None
        Column -> kind, to override the inferred kind, as in :class:`TableEncoder`; "drop" leaves a column unchanged.
    n_jobs : int or None, default=None
        Threads; None: all.
    verbose : int, default=0
        1: show progress.
    random_state : int, RandomState or None, default=None
        For the held-out entries, the starts of mixtures and the draws. None is a fixed seed: the same call gives the
        same result.

    Attributes
    ----------
    columns_ : tuple of ColumnUse
        The inferred kind of each column; ``used`` ones are imputed by the model and help to impute others.
    method_ : str
        The model used; "none" if no column varies.
    held_out_ : dict
        Model -> root mean squared error on the held-out entries, in standard deviations of the (encoded) columns; about
        1 is no better than the mean of the column. Empty if there were too few entries to hold any out.
    column_errors_ : dict
        Column -> root mean squared error of the chosen model on its held-out entries, in the same unit; columns without
        held-out entries are not in it.
    n_held_out_ : int
        Number of these entries, on which intervals are calibrated.
    model_ : EntryModel or None
    plan_ : FillPlan
        Codes of the columns, and how each is imputed.
    sample_ : RowSample or None
        Encoded rows of the fit, at most 1,000, from which ``draws`` estimates the uncertainty of the parameters.
    seed_ : int
        Seed of the draws.
    n_features_in_ : int
    feature_names_in_ : array of str
        Only if the columns had names.

    Notes
    -----
    Imputed numbers are whole, non-negative, or within 0 and 1 if all observed entries of the column are (in a table
    with names). A category is the one with the largest expected indicator. A row without any entry gets the
    unconditional mean. A column with one value only is filled with it. Free text, identifiers and columns without any
    entry stay missing, with a warning at the fit, and all columns are kept (as ``keep_empty_features=True`` does in
    scikit-learn). A category that the fit has not seen stays as it is.

    At ``transform`` columns are matched by name and returned in the order of the fit; new ones are left out with a
    warning.

    Each draw has parameters of its own: a Gaussian is fitted to the rows of the fit (at most 1,000 of them are kept for
    it, ``sample_``), drawn with replacement, and its means replace those of the Gaussian of all rows (Efron 1994).
    Trees, neighbours and blends are moved by the same differences.

    See Also
    --------
    TableEncoder : the codes of the columns.
    ProbabilisticPCA : its ``impute``, for numbers alone.

    References
    ----------
    .. [1] D. B. Rubin. Multiple imputation for nonresponse in surveys. Wiley, 1987.
    .. [2] M. E. Tipping and C. M. Bishop. Probabilistic principal component analysis. Journal of the Royal Statistical
       Society B 61, 1999.
    .. [3] B. Efron. Missing data, imputation, and the bootstrap. Journal of the American Statistical Association 89,
       1994.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from sidelight import Imputer
    >>> mass = np.array([3700.0, 5000, 3800, 5200, 3600, 5400, 3750, 5100, 3650, 5300])
    >>> table = pd.DataFrame({"mass": mass, "kind": ["small", "large"] * 5})
    >>> table.loc[2, "kind"] = table.loc[7, "mass"] = None
    >>> filled = Imputer().fit_transform(table)
    >>> filled.loc[2, "kind"], bool(4900 < filled.loc[7, "mass"] < 5500)
    ('small', True)
    """

    _capabilities = IMPUTER

    plan_: FillPlan
    model_: EntryModel | None
    method_: str
    held_out_: dict[str, float]
    column_errors_: dict[str, float]
    n_held_out_: int
    sample_: RowSample | None = None  # files of before version 0.2 have none
    seed_: int

    def __init__(
        self,
        method: str = "auto",
        *,
        kinds: Mapping[str, str] | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.method = method
        self.kinds = kinds
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    @property
    def columns_(self) -> tuple[ColumnUse, ...]:
        """The inferred kind of each column."""
        check_is_fitted(self, "plan_")
        return self.plan_.columns

    @all_or_nothing
    @one_blas_thread
    def fit(self, X: Any, y: Any = None) -> Imputer:
        """Infer the kinds of the columns and fit the model of their entries.

        Parameters
        ----------
        X : table of shape (n, d)
            Of pandas, polars, pyarrow or another library that narwhals knows; or an array, or a list of rows.
        y : ignored
        """
        check_choice(self, "method", self.method, METHODS)
        seed = start_seed(self.random_state)
        owner = type(self).__name__
        with errors_of(owner):
            table = read_table(X)
            plan = fit_plan(table, self.kinds, EncoderSettings("robust", "auto", 2, 1, random_numbers(seed)))
            found = read_gaps(X, plan, owner)
        refuse_too_large(self, "X", found.code)
        check_cost(self, self.estimate_cost(*found.code.shape), table.n_rows)
        rows = found.code[~np.isnan(found.code).all(axis=1)]  # a row without any entry tells nothing
        model, errors, of_columns = self._fitted_model(rows, seed)
        self._remember_columns(X, table)
        self._warn_of_what_stays(found)
        self.plan_, self.model_, self.seed_ = plan, model, seed
        self.sample_ = sample_rows(rows, seed)
        self.held_out_, self.n_held_out_ = errors, int(hold_out(rows, seed).hidden.sum()) if errors else 0
        self.column_errors_ = _errors_by_name(plan, of_columns)
        self.method_ = "none" if model is None else model.name
        return self

    @one_blas_thread
    def transform(self, X: Any) -> Any:
        """Return the table with its missing entries replaced by their expected values.

        Parameters
        ----------
        X : table of shape (n, d)
            Columns are matched by name if both tables have names, else by position.

        Returns
        -------
        table of shape (n, d)
            Of the library and types of ``X``, its columns in the order of the fit.
        """
        found = self._read(X)
        return found.filled(self._mean(found))

    @one_blas_thread
    def draws(self, X: Any, n: int = 5) -> list[Any]:
        """Return ``n`` tables with the missing entries drawn from their joint distribution.

        For multiple imputation: analyse each table, and combine the results by Rubin's rules. Each table has its own
        parameters, fitted to a bootstrap sample of the rows of the fit. The entries of a row are drawn jointly, given
        its observed entries. Draw k does not depend on ``n``.

        Parameters
        ----------
        X : table of shape (m, d)
        n : int, default=5

        Returns
        -------
        list of tables
            Each as ``transform`` returns it.
        """
        check_integer(self, "n", n, 1)
        found, model = self._read(X), self.model_
        if model is None or not len(found.rows):
            return [found.filled(found.code) for _ in range(n)]
        both = self._mean(found), deviation_code(found, model, self.n_jobs)
        scale = draw_scale(model, self.n_held_out_)
        sources = [np.random.default_rng([self.seed_, k]) for k in range(n)]
        again = [np.random.default_rng([self.seed_, k, 1]) for k in range(n)]
        code = found.code[found.rows]
        shifts: Iterable[Array] = [np.zeros_like(code)] * n
        if self.sample_ is not None:
            shifts = mean_shifts(model, self.sample_, code, again, self.n_jobs)
        pairs = zip(sources, shifts, strict=True)
        return [found.filled(drawn_code(found, model, *both, shift, rng, scale, self.n_jobs)) for rng, shift in pairs]

    @one_blas_thread
    def interval(self, X: Any, level: float = 0.9) -> Intervals:
        """Return intervals for the missing entries, and probabilities of missing categories.

        Their width is calibrated so that they contain this share of the entries held out at the fit, in units of each
        entry's standard deviation; the fewer entries (``n_held_out_``), the wider. Whole numbers and ordered categories
        are rounded outwards.

        Parameters
        ----------
        X : table of shape (m, d)
        level : float, default=0.9
            Between 0 and 1.

        Returns
        -------
        Intervals
            ``lower``, ``upper`` and ``probabilities``.
        """
        check_number(self, "level", level, 0.0, 1.0)
        found = self._read(X)
        mean = self._mean(found)
        half = 0.0 if self.model_ is None else half_width(self.model_, level, self.n_held_out_)
        reach = half * deviation_code(found, self.model_, self.n_jobs)
        lower, upper = (found.bounds(mean + side * reach, side) for side in (-1, 1))
        return Intervals(lower, upper, found.probabilities(mean), float(level))

    def estimate_cost(self, n: int, d: int) -> Cost:
        """Return the estimated cost of a fit on ``n`` rows and ``d`` columns (of the code)."""
        tried, rest = min(n, _TRIED), max(n - _TRIED, 0)
        per_fit = d**1.4 * (1.5e-3 * tried**0.6 + 3e-5 * rest) if tries_trees(n, d) else 2e-4 * n * d
        return Cost(64 * n * d + 64 * d * min(n, d), 0.1 + per_fit)

    def _fitted_model(self, A: Array, seed: int) -> tuple[EntryModel | None, dict[str, float], ColumnErrors | None]:
        """The model of the code (n, p), None if it has no columns, and errors of candidate models and columns."""
        if not A.shape[1]:
            return None, {}, None
        of_columns: list[ColumnErrors] = []
        errors: dict[str, float] = {}
        bar = ProgressBar(type(self).__name__) if self.verbose else None

        def tell(name: str, error: float) -> None:
            errors[name] = error
            if bar is not None:
                bar.drawn = 0.0  # these are few, and each is to be seen
                bar.show(f"tried {name}: held-out error {error:.3f}")

        how: Any = {"owner": type(self).__name__, "seed": seed, "n_jobs": self.n_jobs}
        model = fit_entry_model(A, self.method, tell=tell, tell_columns=of_columns.append, **how)
        if bar is not None:
            bar.close(f"fitted {model.name} to {len(A):,} rows")
        return model, errors, of_columns[0] if of_columns else None

    def _read(self, X: Any) -> GappedTable:
        check_is_fitted(self, "plan_")
        with errors_of(type(self).__name__):
            found = read_gaps(X, self.plan_, type(self).__name__)
        refuse_too_large(self, "X", found.code)
        return found

    def _mean(self, found: GappedTable) -> Array:
        """Code (n, p) of a table with means in its gaps."""
        if not self.verbose:
            return mean_code(found, self.model_, self.n_jobs)
        bar = ProgressBar(type(self).__name__)
        filled = mean_code(
            found, self.model_, self.n_jobs, lambda done, n: bar.show(f"{done:,} of {n:,} rows filled", done / n)
        )
        bar.close(f"{len(found.rows):,} rows filled")
        return filled

    def _warn_of_what_stays(self, found: GappedTable) -> None:
        """Name the columns whose gaps are not filled."""
        unfilled = {fill.name for fill in found.plan.fills if fill.source == "nothing"}
        columns = read_by(found.table.by_name(), found.plan.columns)
        gone = {name for name, column in columns.items() if column.missing.any()}
        left = [use for use in found.plan.columns if use.name in unfilled & gone]
        if left:
            shown = ", ".join(f"{use.name!r} ({use.kind})" for use in left[:5])
            more = f" and {len(left) - 5} more" if len(left) > 5 else ""
            one = len(left) == 1
            rule = f"cannot be filled, so {'its' if one else 'their'} missing entries stay missing"
            remedy = f"Say with kinds what {'it is, or drop it' if one else 'they are, or drop them'}"
            warn(error_message(self, "X", f"column{'' if one else 's'} {shown}{more}", rule, remedy), UserWarning)


def _errors_by_name(plan: FillPlan, errors: ColumnErrors | None) -> dict[str, float]:
    """Root mean squared error of each column of the table that has held-out entries, over the columns of its code."""
    if errors is None:
        return {}
    found = {}
    for block in plan.blocks:
        count = int(errors.counts[block.columns].sum())
        if count:
            found[block.name] = float(np.sqrt(errors.squares[block.columns].sum() / count))
    return found
