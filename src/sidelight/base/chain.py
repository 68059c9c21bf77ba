"""A scikit-learn Pipeline as one model: its last step is the embedding, the steps before it preprocess the rows.

    z = last(before(x)),      x = before⁻¹(last⁻¹(z))

scikit-learn's Pipeline hides what the last step has beside ``transform`` (embedding, density, history), and does not
pass ``given`` on unless metadata routing is enabled. A chain does both. The :func:`capabilities` of a chain are those
that its steps have together.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, cast

import narwhals.stable.v2 as nw
import numpy as np
import numpy.typing as npt
from sklearn.pipeline import Pipeline

from .capabilities import Capabilities, capabilities
from .columns import chosen_columns
from .cost import Cost
from .intervals import Intervals
from .model import FittedModel
from .tiles import spans
from .way_back import goes_back, needs_inputs, undone, undone_variance

__all__ = ["Chain", "as_chain", "last_step_of", "name_of", "steps_of"]

Array = npt.NDArray[Any]
_BLOCK = 2048  # rows whose columns are all computed at a time, where some columns are asked for

_OF_THE_MAP = frozenset({
    "embedding_", "given_", "explained_", "confounded_", "only_here_", "no_shift_", "history_", "n_iter_",
    "gram_eigenvalues_", "certificate_", "relations_", "relation_names_", "relation_weights_", "relation_shares_",
    "axis_names_", "latent_log_density", "latent_typicality", "transform_view", "inverse_transform_view", "change_",
    "adapted_", "training_typicality",
})  # fmt: skip
"""Attributes of the embedding itself, independent of preprocessing: taken from the last step."""


@dataclass(frozen=True)
class Chain:
    """The fitted steps of a Pipeline as one model; ``given`` goes to the last step.

    Parameters
    ----------
    pipeline : Pipeline
        The original, as it is saved.
    before : tuple of transformers
        Preprocessing steps, without "passthrough".
    last : fitted model
        The step that computes the embedding.
    tables : bool
        Rows go back to a table where the first step makes one (``TableEncoder``); otherwise to an array of its entries.
    """

    pipeline: Pipeline
    before: tuple[Any, ...]
    last: Any
    tables: bool = False

    @classmethod
    def of(cls, pipeline: Pipeline, *, tables: bool = False) -> Chain:
        """Return the chain of a Pipeline of fitted steps."""
        *before, last = [step for _, step in _steps(pipeline)]
        return cls(pipeline, tuple(before), last, tables)

    @property
    def steps(self) -> tuple[Any, ...]:
        """Every step, the last one included."""
        return (*self.before, self.last)

    @property
    def _capabilities(self) -> Capabilities:
        """The capabilities of the last step, without those that need an inverse that a step before it lacks."""
        last, first = capabilities(self.last), capabilities(self.steps[0])
        way_back = last.has_inverse and all(goes_back(step) for step in self.before)
        by_column = all(map(_is_by_column, self.before))
        has_ends = all(map(_is_by_column, self._after_the_encoder)) if self.tables else by_column
        return replace(
            last,
            has_inverse=way_back,
            has_counterfactual=way_back and last.has_counterfactual,
            has_corrected=way_back and last.has_corrected,
            has_score=way_back,
            has_row_interval=last.has_row_interval and has_ends,
            has_counterfactual_interval=last.has_counterfactual_interval and has_ends,
            has_impute=last.has_impute and by_column,
            has_impute_interval=last.has_impute_interval and by_column,
            score_is_log_density=False,
            has_cost=all(capabilities(step).has_cost for step in self.steps),
            has_columns=first.has_columns,
            has_feature_names=first.has_feature_names,
            has_column_weights=False,
            has_predictor=False,
            takes_distances=False,
        )

    def __getattr__(self, name: str) -> Any:
        if name not in _OF_THE_MAP:
            raise AttributeError(f"a chain of steps has no {name}")
        return getattr(self.last, name)

    @property
    def n_features_in_(self) -> int:
        """Number of columns of the data."""
        return int(self.steps[0].n_features_in_)

    @property
    def feature_names_in_(self) -> Any:
        """Names of the columns of the data, if any."""
        return self.steps[0].feature_names_in_

    def rows(self, X: Any) -> Any:
        """Return rows as the last step sees them, after preprocessing."""
        for step in self.before:
            X = step.transform(X)
        return X

    def transform(self, X: Any, **side: Any) -> Array:
        """Return the latent coordinates (m, q) of rows (m, d)."""
        return np.asarray(self.last.transform(self.rows(X), **side))

    def inverse_transform(self, Z: Any, **side: Any) -> Any:
        """Return rows of data (m, d) at latent points (m, q); with ``columns``, in these, by name or number."""
        columns = side.pop("columns", None)
        return self._back(self.last.inverse_transform(Z, **side), columns)

    def counterfactual(
        self, X: Any, *, given: Any, columns: Any = None, return_std: bool = False, **options: Any
    ) -> Any:
        """Return rows (m, d) as they would be under another value of ``given``; options as the last step has them.

        With ``return_std`` also standard deviations, those of the last step carried back through linear steps.
        """
        inputs = self._seen(X)
        if not return_std:
            return self._back(self.last.counterfactual(inputs[-1], given=given, **options), columns, inputs)
        rows, std = self.last.counterfactual(inputs[-1], given=given, return_std=True, **options)
        spread = np.asarray(self._blocks(np.square(std), columns, inputs, self._back_variance))
        return self._back(rows, columns, inputs), np.sqrt(spread).astype(std.dtype, copy=False)

    def corrected(self, X: Any, *, given: Any, to: Any = None, columns: Any = None) -> Any:
        """Return rows (m, d) without the effect of ``given``, or with that of ``to`` instead; in some ``columns``."""
        inputs = self._seen(X)
        return self._back(self.last.corrected(inputs[-1], given=given, to=to), columns, inputs)

    def adapt(self, X: Any, *, given: Any) -> Chain:
        """Return a chain whose last step knows one more category of ``given``, from a few rows of it."""
        wider = copy(self.pipeline)
        wider.steps = [
            *self.pipeline.steps[:-1],
            (self.pipeline.steps[-1][0], self.last.adapt(self.rows(X), given=given)),
        ]
        return Chain.of(wider)

    def overlap(self, X: Any, *, given: Any, given_now: Any = None) -> Array:
        """Return how usual rows are among the training rows of another value of ``given``, shape (m,)."""
        return np.asarray(self.last.overlap(self.rows(X), given=given, given_now=given_now))

    def typicality(self, X: Any, **side: Any) -> Array:
        """Return how usual rows are among the training rows, after preprocessing, shape (m,)."""
        return np.asarray(self.last.typicality(self.rows(X), **side))

    def novelty_p_value(self, X: Any, **side: Any) -> Array:
        """Return how often a row like the training rows would be as unusual as these, shape (m,)."""
        return np.asarray(self.last.novelty_p_value(self.rows(X), **side))

    def is_novel(self, X: Any, *, false_alarm: float = 0.01, **side: Any) -> Array:
        """Return whether each row is unlike all training rows, shape (m,)."""
        return np.asarray(self.last.is_novel(self.rows(X), false_alarm=false_alarm, **side))

    def transform_interval(self, X: Any, **options: Any) -> Intervals:
        """Return intervals of the places of rows."""
        return cast("Intervals", self.last.transform_interval(self.rows(X), **options))

    def transform_radius(self, X: Any, **options: Any) -> Array:
        """Return the radius around the place of each row that holds a share of the places of such rows."""
        return np.asarray(self.last.transform_radius(self.rows(X), **options))

    def inverse_transform_interval(self, Z: Any, *, columns: Any = None, **options: Any) -> Intervals:
        """Return prediction intervals for rows at latent points, if the steps before scale columns separately."""
        return self._back_interval(self.last.inverse_transform_interval(Z, **options), columns)

    def counterfactual_interval(self, X: Any, *, given: Any, **options: Any) -> Intervals:
        """Return prediction intervals around counterfactuals, under the same condition."""
        return self._back_interval(self.last.counterfactual_interval(self.rows(X), given=given, **options))

    def predict_interval(self, X: Any, **options: Any) -> Intervals:
        """Return intervals of the second view predicted from rows."""
        return cast("Intervals", self.last.predict_interval(self.rows(X), **options))

    def impute(self, X: Any) -> Array:
        """Return rows (m, d) with estimates in place of missing entries (NaN), where steps before scale each column."""
        return self._observed(X, self._back(self.last.impute(self.rows(X))))

    def impute_interval(self, X: Any, **options: Any) -> Intervals:
        """Return intervals for the missing entries of rows, under the same condition."""
        found = self._back_interval(self.last.impute_interval(self.rows(X), **options))
        lower, upper = (self._observed(X, end) for end in (found.lower, found.upper))
        return Intervals(lower, upper, level=found.level)

    @staticmethod
    def _observed(X: Any, estimates: Array) -> Array:
        """The entries of rows (m, d), and estimates where they are missing: steps may round what they give back."""
        rows = np.asarray(X, dtype=estimates.dtype)
        return np.where(np.isnan(rows), estimates, rows)

    @property
    def _after_the_encoder(self) -> tuple[Any, ...]:
        """The steps before the last, without an encoder of tables that comes first."""
        return self.before[1:] if self.before and hasattr(self.before[0], "_ends_of_tables") else self.before

    def _back_interval(self, found: Intervals, columns: Any = None) -> Intervals:
        if self.tables and len(self._after_the_encoder) < len(self.before):
            return self._back_to_tables(found, columns)
        ends = [self._back(end, columns) for end in (found.lower, found.upper)]  # a scale may be negative
        return Intervals(np.minimum(*ends), np.maximum(*ends), level=found.level)

    def _back_to_tables(self, found: Intervals, columns: Any) -> Intervals:
        """Intervals as tables: ends of numbers, and the probabilities of categories at their middles."""
        middle = 0.5 * (np.asarray(found.lower) + np.asarray(found.upper))
        inner = replace(self, before=self._after_the_encoder)
        one, mean, other = (inner._back(rows) for rows in (found.lower, middle, found.upper))
        lower, upper, levels = self.before[0]._ends_of_tables(np.minimum(one, other), np.maximum(one, other), mean)
        if columns is not None:
            names = getattr(self.before[0], "feature_names_in_", None)
            at = chosen_columns(self.pipeline, columns, self.n_features_in_, names)
            lower, upper = _in_columns(lower, at), _in_columns(upper, at)
        return Intervals(lower, upper, levels, found.level)

    def score(self, X: Any, **side: Any) -> float:
        """Share of the variance of the data, in their own units, that the reconstruction explains."""
        rows, inputs = np.asarray(X, dtype=np.float64), self._seen(X)
        back = self.last.inverse_transform(self.last.transform(inputs[-1], **side), **side)
        lost = rows - np.asarray(self._back(back, None, inputs), dtype=np.float64)
        spread = float(np.square(rows - rows.mean(axis=0)).sum())
        return 1.0 - float(np.square(lost).sum()) / spread if spread > 0 else 0.0

    def predict(self, X: Any) -> Array:
        """Return the second view predicted from rows."""
        return np.asarray(self.last.predict(self.rows(X)))

    def estimate_cost(self, n: int, d: int) -> Cost:
        """Return the estimated cost of fitting all steps, one after the other."""
        costs = []
        for step in self.steps:
            costs.append(step.estimate_cost(n, d))
            d = len(step.get_feature_names_out())
        return Cost(max(cost.bytes for cost in costs), sum(cost.seconds for cost in costs))

    def _seen(self, X: Any) -> list[Any]:
        """Input rows of each step, including the last; None if the inverse does not need them."""
        inputs: list[Any] = []
        for step in self.before:
            inputs.append(X if needs_inputs(step) else None)
            X = step.transform(X)
        return [*inputs, X]

    def _back(self, rows: Any, columns: Any = None, inputs: list[Any] | None = None) -> Any:
        """Apply the inverse of the preprocessing steps; with ``columns``, keep no more than a block of all columns.

        ``inputs``: the rows that each step was given, where rows come from rows.
        """

        def whole(rows: Any, inputs: list[Any]) -> Any:
            for step, own in zip(reversed(self.before), reversed(inputs[:-1]), strict=True):
                rows = undone(step, rows, own)
            return rows if self.tables and hasattr(rows, "columns") else np.asarray(rows)

        return self._blocks(rows, columns, inputs or [None] * len(self.steps), whole)

    def _back_variance(self, V: Array, inputs: list[Any]) -> Array:
        """Variances (m, d) of the columns of the data, from those of the columns that the last step sees."""
        for step, own in zip(reversed(self.before), reversed(inputs[:-1]), strict=True):
            V = undone_variance(self.pipeline, step, V, own)
        return V

    def _blocks(self, values: Any, columns: Any, inputs: list[Any], back: Callable[[Any, list[Any]], Any]) -> Any:
        """What ``back(values, inputs)`` makes of rows (m, k), in all columns or block by block in some."""
        if columns is None:
            return back(values, inputs)
        names = getattr(self.steps[0], "feature_names_in_", None)
        at = chosen_columns(self.pipeline, columns, self.n_features_in_, names)
        if len(self._after_the_encoder) < len(self.before):
            return _in_columns(back(values, inputs), at)
        parts = spans(len(values), _BLOCK)
        return np.concatenate([back(values[part], [_some(own, part) for own in inputs])[:, at] for part in parts])


_BY_COLUMN = frozenset({
    "MaxAbsScaler", "MinMaxScaler", "PowerTransformer", "QuantileTransformer", "RobustScaler", "StandardScaler",
})  # fmt: skip
"""Steps of scikit-learn that take each column by itself, and keep the order of its entries."""


def _is_by_column(step: Any) -> bool:
    """Whether the ends of an interval before a step are those after it, taken back."""
    return type(step).__module__.startswith("sklearn.") and type(step).__name__ in _BY_COLUMN


def _in_columns(table: Any, at: Array) -> Any:
    """Some columns of an array or of a table of any library, by number."""
    return table[:, at] if isinstance(table, np.ndarray) else nw.from_native(table)[:, at.tolist()].to_native()


def _some(rows: Any, part: slice) -> Any:
    """Some of the rows of an array, a table or a sparse matrix of any format; None: there are none."""
    if rows is None or hasattr(rows, "iloc"):
        return None if rows is None else rows.iloc[part]
    return rows.tocsr()[part] if hasattr(rows, "tocsr") else rows[part]


def as_chain(model: Any) -> Any:
    """Return a Pipeline as a ``Chain``, anything else unchanged."""
    return Chain.of(model) if isinstance(model, Pipeline) else model


def steps_of(model: FittedModel) -> list[tuple[str, Any]]:
    """Return the named steps of a chain; of any other model, the model itself with an empty name."""
    return _steps(model.pipeline) if isinstance(model, Chain) else [("", model)]


def last_step_of(model: FittedModel) -> Any:
    """Return the last step of a chain, anything else unchanged."""
    return model.last if isinstance(model, Chain) else model


def name_of(model: FittedModel) -> str:
    """Return the class name of a model; of a chain, those of its steps.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sidelight import EquivalenceMetric, HybridEmbedding
    >>> name_of(as_chain(make_pipeline(EquivalenceMetric(), HybridEmbedding())))
    'EquivalenceMetric and HybridEmbedding'
    """
    return " and ".join(type(step).__name__ for _, step in steps_of(model))


def _steps(pipeline: Pipeline) -> list[tuple[str, Any]]:
    return [(name, step) for name, step in pipeline.steps if step is not None and step != "passthrough"]
