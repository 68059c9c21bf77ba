"""A Pipeline seen as one model: its last step makes the map, the steps before it change the rows.

    z = last(before(x)),      x = before⁻¹(last⁻¹(z))

scikit-learn's Pipeline hides what the last step has beside ``transform`` (its map, density and history), and does not
hand on ``given`` unless metadata routing is on. A chain does both, and offers nothing that the steps do not have.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils.metaestimators import available_if

from sidelight.base.cost import Cost

__all__ = ["Chain", "chained", "last_of", "name_of", "steps_of"]

Array = npt.NDArray[Any]

_OF_THE_MAP = (
    "embedding_", "given_", "explained_", "confounded_", "history_", "n_iter_", "n_components_", "latent_log_density",
    "transform_view", "inverse_transform_view", "relations_", "relation_names_", "relation_weights_",
    "relation_shares_", "axis_names_",
)  # fmt: skip


def _goes_back(chain: Any) -> bool:
    return all(hasattr(step, "inverse_transform") for step in (*chain.before, chain.last))


def _last_has(name: str) -> Any:
    return lambda chain: hasattr(chain.last, name)


class Chain:
    """The steps of a Pipeline as one model; what is ``given`` is for the last."""

    def __init__(self, pipeline: Pipeline) -> None:
        self.pipeline = pipeline
        *self.before, self.last = [step for _, step in pipeline.steps if step not in (None, "passthrough")]

    def __getattr__(self, name: str) -> Any:
        if name not in _OF_THE_MAP:
            raise AttributeError(f"a chain of steps has no {name}")
        return getattr(self.last, name)

    @property
    def n_features_in_(self) -> int:
        """Columns of the data."""
        return int((*self.before, self.last)[0].n_features_in_)

    @property
    def feature_names_in_(self) -> Any:
        """Names of these columns, where they have some."""
        return (*self.before, self.last)[0].feature_names_in_

    def rows(self, X: Any) -> Any:
        """Rows as the last step sees them."""
        for step in self.before:
            X = step.transform(X)
        return X

    def fit(self, X: Any, **side: Any) -> Chain:
        """Fit the last step; those before it stay as they are."""
        with warnings.catch_warnings():
            # A report keeps its rows as an array, with the columns in their order.
            warnings.filterwarnings("ignore", "X does not have valid feature names", UserWarning)
            rows = self.rows(X)
        self.last.fit(rows, **side)
        return self

    @available_if(_last_has("transform"))
    def transform(self, X: Any, **side: Any) -> Array:
        """Places of rows on the map."""
        return np.asarray(self.last.transform(self.rows(X), **side))

    @available_if(_goes_back)
    def inverse_transform(self, Z: Any, **side: Any) -> Array:
        """Rows of data at places on the map."""
        rows = self.last.inverse_transform(Z, **side)
        for step in reversed(self.before):
            rows = step.inverse_transform(rows)
        return np.asarray(rows)

    @available_if(_goes_back)
    def score(self, X: Any, **side: Any) -> float:
        """Share of the variance of the data that survives the way there and back."""
        rows = np.asarray(X, dtype=np.float64)
        lost = rows - np.asarray(self.inverse_transform(self.transform(X, **side), **side), dtype=np.float64)
        spread = float(np.square(rows - rows.mean(axis=0)).sum())
        return 1.0 - float(np.square(lost).sum()) / spread if spread > 0 else 0.0

    @available_if(_last_has("predict"))
    def predict(self, X: Any) -> Array:
        """The second view of rows."""
        return np.asarray(self.last.predict(self.rows(X)))

    @property
    def counterfactual(self) -> Any:
        """That rows can be shown under another value of what was given: the last step's, if there is a way back."""
        if not _goes_back(self):
            raise AttributeError("a step has no way back")
        return self.last.counterfactual

    @available_if(lambda chain: all(hasattr(step, "estimate_cost") for step in (*chain.before, chain.last)))
    def estimate_cost(self, n: int, d: int) -> Cost:
        """What the steps take one after the other."""
        costs = []
        for step in (*self.before, self.last):
            costs.append(step.estimate_cost(n, d))
            d = int(getattr(step, "n_components_", d))
        return Cost(max(cost.bytes for cost in costs), sum(cost.seconds for cost in costs))

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters of the last step."""
        found: dict[str, Any] = self.last.get_params(deep=deep)
        return found

    def set_params(self, **parameters: Any) -> Chain:
        """Set parameters of the last step."""
        self.last.set_params(**parameters)
        return self

    def __sklearn_clone__(self) -> Chain:
        """The same steps, as they are fitted, before an unfitted last one."""
        return Chain(
            Pipeline([*((f"step{i}", step) for i, step in enumerate(self.before)), ("last", clone(self.last))])
        )


def chained(model: Any) -> Any:
    """Return a Pipeline as a chain, anything else as it is."""
    return Chain(model) if isinstance(model, Pipeline) else model


def steps_of(model: Any) -> list[tuple[str, Any]]:
    """Return the steps of a chain by their names; of anything else itself, without one."""
    return [("", model)] if not isinstance(model, Chain) else list(model.pipeline.steps)


def last_of(model: Any) -> Any:
    """Return the last step of a chain, anything else as it is."""
    return model.last if isinstance(model, Chain) else model


def name_of(model: Any) -> str:
    """Return the class of a model; of a chain, those of its steps.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sidelight import EquivalenceMetric, HybridEmbedding
    >>> name_of(chained(make_pipeline(EquivalenceMetric(), HybridEmbedding())))
    'EquivalenceMetric and HybridEmbedding'
    """
    parts = [*model.before, model.last] if isinstance(model, Chain) else [model]
    return " and ".join(type(part).__name__ for part in parts)
