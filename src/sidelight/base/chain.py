"""A Pipeline seen as one model: its last step makes the map, the steps before it change the rows.

    z = last(before(x)),      x = before⁻¹(last⁻¹(z))

scikit-learn's Pipeline hides what the last step has beside ``transform`` (its map, density and history), and does not
hand on ``given`` unless metadata routing is on. A chain does both; :func:`capabilities` of a chain are those that all
its steps have together.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.pipeline import Pipeline

from .capabilities import Capabilities, capabilities
from .cost import Cost
from .model import FittedModel

__all__ = ["Chain", "chained", "last_of", "name_of", "steps_of"]

Array = npt.NDArray[Any]

_OF_THE_MAP = frozenset({
    "embedding_", "given_", "explained_", "confounded_", "history_", "n_iter_", "gram_eigenvalues_",
    "certificate_", "relations_", "relation_names_", "relation_weights_", "relation_shares_", "axis_names_",
    "latent_log_density", "transform_view", "inverse_transform_view",
})  # fmt: skip
"""What is said of the map alone, whatever was done to the rows before: the last step answers."""


@dataclass(frozen=True)
class Chain:
    """The fitted steps of a Pipeline as one model; what is ``given`` is for the last.

    Parameters
    ----------
    pipeline : Pipeline
        As it is saved.
    before : tuple of transformers
        Steps that change rows, without those that pass them through.
    last : fitted model
        The step that makes the map.
    """

    pipeline: Pipeline
    before: tuple[Any, ...]
    last: Any

    @classmethod
    def of(cls, pipeline: Pipeline) -> Chain:
        """Return the chain of a Pipeline of fitted steps."""
        *before, last = [step for _, step in _steps(pipeline)]
        return cls(pipeline, tuple(before), last)

    @property
    def steps(self) -> tuple[Any, ...]:
        """Every step, the last one included."""
        return (*self.before, self.last)

    @property
    def _capabilities(self) -> Capabilities:
        """What the last step offers, less what needs a way back through steps that have none."""
        last, first = capabilities(self.last), capabilities(self.steps[0])
        goes_back = all(capabilities(step).has_inverse for step in self.steps)
        return replace(
            last,
            has_inverse=goes_back,
            has_counterfactual=goes_back and last.has_counterfactual,
            has_score=goes_back,
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
        """Columns of the data."""
        return int(self.steps[0].n_features_in_)

    @property
    def feature_names_in_(self) -> Any:
        """Names of these columns, where they have some."""
        return self.steps[0].feature_names_in_

    def rows(self, X: Any) -> Any:
        """Return rows as the last step sees them."""
        for step in self.before:
            X = step.transform(X)
        return X

    def transform(self, X: Any, **side: Any) -> Array:
        """Return the latent coordinates (m, q) of rows (m, d)."""
        return np.asarray(self.last.transform(self.rows(X), **side))

    def inverse_transform(self, Z: Any, **side: Any) -> Array:
        """Return rows of data (m, d) at latent points (m, q)."""
        return self._back(self.last.inverse_transform(Z, **side))

    def counterfactual(self, X: Any, *, given: Any) -> Array:
        """Return rows as they would be under another value of what was given."""
        return self._back(self.last.counterfactual(self.rows(X), given=given))

    def score(self, X: Any, **side: Any) -> float:
        """Share of the variance of the data that survives the way there and back."""
        rows = np.asarray(X, dtype=np.float64)
        lost = rows - np.asarray(self.inverse_transform(self.transform(X, **side), **side), dtype=np.float64)
        spread = float(np.square(rows - rows.mean(axis=0)).sum())
        return 1.0 - float(np.square(lost).sum()) / spread if spread > 0 else 0.0

    def predict(self, X: Any) -> Array:
        """Return the second view of rows."""
        return np.asarray(self.last.predict(self.rows(X)))

    def estimate_cost(self, n: int, d: int) -> Cost:
        """Return what the steps take one after the other."""
        costs = []
        for step in self.steps:
            costs.append(step.estimate_cost(n, d))
            d = len(step.get_feature_names_out())
        return Cost(max(cost.bytes for cost in costs), sum(cost.seconds for cost in costs))

    def _back(self, rows: Any) -> Array:
        """Undo the steps before the last."""
        for step in reversed(self.before):
            rows = step.inverse_transform(rows)
        return np.asarray(rows)


def chained(model: Any) -> Any:
    """Return a Pipeline as a chain, anything else as it is."""
    return Chain.of(model) if isinstance(model, Pipeline) else model


def steps_of(model: FittedModel) -> list[tuple[str, Any]]:
    """Return the steps of a chain by their names; of anything else itself, without one."""
    return _steps(model.pipeline) if isinstance(model, Chain) else [("", model)]


def last_of(model: FittedModel) -> Any:
    """Return the last step of a chain, anything else as it is."""
    return model.last if isinstance(model, Chain) else model


def name_of(model: FittedModel) -> str:
    """Return the class of a model; of a chain, those of its steps.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sidelight import EquivalenceMetric, HybridEmbedding
    >>> name_of(chained(make_pipeline(EquivalenceMetric(), HybridEmbedding())))
    'EquivalenceMetric and HybridEmbedding'
    """
    return " and ".join(type(step).__name__ for _, step in steps_of(model))


def _steps(pipeline: Pipeline) -> list[tuple[str, Any]]:
    return [(name, step) for name, step in pipeline.steps if step is not None and step != "passthrough"]
