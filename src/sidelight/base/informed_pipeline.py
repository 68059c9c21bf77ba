"""A scikit-learn Pipeline that passes ``given`` to its last step, and goes back through the steps before it.

scikit-learn passes ``given`` on only with metadata routing enabled for the whole process and requested for each method,
and a Pipeline has no ``counterfactual``. This one needs neither: what it does with the steps is that of ``base.chain``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn import config_context
from sklearn.pipeline import Pipeline
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from .capabilities import capabilities, given_of
from .chain import Chain
from .columns import chosen_columns
from .estimator import DocumentedMixin
from .intervals import Intervals
from .linear_steps import slopes_by_data, slopes_of_data, step_without_slopes
from .messages import error_message
from .row_order import warn_of_row_order
from .warnings import warn

__all__ = ["InformedPipeline"]

Array = npt.NDArray[Any]


def _has(name: str) -> Any:
    """Whether all steps together have a capability."""

    def check(pipeline: InformedPipeline) -> bool:
        return bool(getattr(capabilities(Chain.of(pipeline, tables=True)), name, False))

    return check


def _last_has_score(pipeline: InformedPipeline) -> bool:
    return capabilities(Chain.of(pipeline).last).has_score


def _slopes(name: str) -> Any:
    """Whether the last step has derivatives and the steps before it are linear; an AttributeError says which is not."""

    def check(pipeline: InformedPipeline) -> bool:
        chain = Chain.of(pipeline)
        getattr(chain.last, name)  # whose own AttributeError says why there are none
        if (step := step_without_slopes(chain.before)) is not None:
            rule = "is not linear, so that derivatives by columns of the data are not known"
            remedy = f"Apply it first, and call {name} of the last step"
            raise AttributeError(error_message(pipeline, "steps", type(step).__name__, rule, remedy))
        return True

    return check


_SCORED_WITHOUT = (
    "InformedPipeline: score without given, with which the model was fitted: every row is averaged over its values. "
    "Pass given to score. GridSearchCV and cross_validate do so only with metadata routing: "
    "sklearn.set_config(enable_metadata_routing=True)."
)


class InformedPipeline(DocumentedMixin, Pipeline):
    """A Pipeline whose methods take ``given`` for its last step, and which has the additional methods of that step.

    These are ``counterfactual``, ``corrected``, ``adapt``, ``overlap``, ``denoise``, ``impute``, ``is_novel``,
    intervals and derivatives (``jacobian``), where the last step has them.

    It is a subclass of scikit-learn's Pipeline. ``sidelight.save`` stores it as data.

    Parameters
    ----------
    steps : list of (name, estimator)
        The last one is a model of this library; those before it preprocess the rows. ``inverse_transform`` exists if
        each of them has an inverse: scalers, PCA, TruncatedSVD, ``CountEncoder``, and a ColumnTransformer of these that
        drops no column. Normalizer works too: rows get back their length, and rows made from latent points have length
        1.
    transform_input, memory, verbose
        As in scikit-learn's Pipeline.

    See Also
    --------
    sidelight.pipeline.make_pipeline : Makes it.
    sklearn.pipeline.Pipeline : Without ``given``.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.preprocessing import StandardScaler
    >>> from sidelight import KernelInformationEmbedding
    >>> from sidelight.pipeline import make_pipeline
    >>> X, group = np.random.default_rng(0).normal(size=(60, 4)), np.arange(60) % 2
    >>> model = make_pipeline(StandardScaler(), KernelInformationEmbedding(max_iter=50))
    >>> model.fit(X + 5 * group[:, None], given=group).counterfactual(X[:3], given=1).shape
    (3, 4)
    """

    def fit(self, X: Any, y: Any = None, *, given: Any = None, **params: Any) -> InformedPipeline:
        """Fit all steps one after the other; ``given`` is passed to the last one."""
        warn_of_row_order(self, X, given)
        with config_context(enable_metadata_routing=False):  # its steps would have to request what they are passed here
            super().fit(X, y, **self._side(given), **params)
        return self

    def fit_transform(self, X: Any, y: Any = None, *, given: Any = None, **params: Any) -> Any:
        """Fit, and return the embedding (n, q) of the rows."""
        warn_of_row_order(self, X, given)
        with config_context(enable_metadata_routing=False):
            return super().fit_transform(X, y, **self._side(given), **params)

    def transform(self, X: Any, *, given: Any = None) -> Any:
        """Embed rows (m, d), each independently of the others."""
        chain = self._chain()
        return chain.last.transform(chain.rows(X), **_given(given))

    @available_if(_has("has_inverse"))
    def inverse_transform(self, X: Any, *, given: Any = None, columns: Any = None) -> Any:
        """Map latent points (m, q) back to rows of data (m, d), through all steps; in some ``columns``.

        After a ``TableEncoder`` that was fitted to a table: a table of the same library, with its columns and types.
        """
        return self._chain().inverse_transform(X, columns=columns, **_given(given))

    @available_if(_slopes("jacobian"))
    def jacobian(self, X: Any, *, given: Any = None, columns: Any = None) -> Array:
        """Derivatives (m, q, d) of ``transform`` by the columns of the data, if the steps before the last are linear.

        These are scalers, PCA, TruncatedSVD and linear metrics. ``given`` is held; in all or some ``columns``.
        """
        chain = self._chain()
        J = np.asarray(chain.last.jacobian(chain.rows(X), **_given(given)))
        return np.asarray(slopes_by_data(J, chain.before, self._numbers(columns)).astype(J.dtype, copy=False))

    @available_if(_slopes("inverse_jacobian"))
    def inverse_jacobian(self, X: Any, *, given: Any = None, columns: Any = None) -> Array:
        """Derivatives (m, d, q) of ``inverse_transform`` at latent points (m, q), under the same condition."""
        chain = self._chain()
        B = np.asarray(chain.last.inverse_jacobian(X, **_given(given)))
        return np.asarray(slopes_of_data(B, chain.before, self._numbers(columns)).astype(B.dtype, copy=False))

    @available_if(_has("has_counterfactual"))
    def counterfactual(
        self,
        X: Any,
        *,
        given: Any,
        given_now: Any = None,
        residual: str | float = "auto",
        return_std: bool = False,
        columns: Any = None,
    ) -> Any:
        """Predict rows (m, d) under another value of ``given``, inverted through all steps; a table for a table.

        Parameters
        ----------
        X : rows of shape (m, d)
        given : array of shape (m,) or (m, g), table, or one value for all rows
            The new value.
        given_now, residual
            With the current value of the rows, they keep their residuals, as far as the steps before the last keep them
            (:meth:`KernelInformationEmbedding.counterfactual <sidelight.KernelInformationEmbedding>`).
        return_std : bool, default=False
            Also return standard deviations (m, d): those of the last step, carried back exactly through scalers, and
            through PCA and TruncatedSVD as if components were independent, without the variance that these discard.
        columns : names, numbers or mask, default=None
            Columns to return, in this order; None: all.
        """
        options: dict[str, Any] = {} if columns is None else {"columns": columns}
        if given_now is not None or residual != "auto":
            options |= {"given_now": given_now, "residual": residual}
        if return_std:
            options["return_std"] = True
        return _with_index_of(X, self._chain().counterfactual(X, given=given, **options))

    @available_if(_has("has_corrected"))
    def corrected(self, X: Any, *, given: Any, to: Any = None, columns: Any = None) -> Any:
        """Rows (m, d) without the effect of ``given``, or with that of ``to`` instead, inverted through all steps."""
        return _with_index_of(X, self._chain().corrected(X, given=given, to=to, columns=columns))

    @available_if(_has("has_adapt"))
    def adapt(self, X: Any, *, given: Any) -> InformedPipeline:
        """Return a copy whose last step has one more category of ``given``, from a few rows; other steps are kept.

        Parameters
        ----------
        X : rows of shape (m, d)
            Of the new category.
        given : scalar, or table or dict of columns
            The category; with numbers in ``given``, all columns.
        """
        wider = self._chain().adapt(X, given=given).pipeline
        assert isinstance(wider, InformedPipeline)
        return wider

    @available_if(_has("has_overlap"))
    def overlap(self, X: Any, *, given: Any, given_now: Any = None) -> Array:
        """Typicality (m,) of rows relative to the training rows of another ``given``."""
        return self._chain().overlap(X, given=given, given_now=given_now)

    @available_if(_has("has_row_interval"))
    def inverse_transform_interval(
        self, X: Any, *, given: Any = None, level: float = 0.9, columns: Any = None
    ) -> Intervals:
        """Prediction intervals for rows at latent points, if the steps before the last scale columns separately.

        After a ``TableEncoder``: tables of the lower and upper ends of numbers, dates and ordered categories. Other
        categories have missing ends, and ``probabilities`` has a table of the probabilities of their levels.
        """
        found = self._chain().inverse_transform_interval(X, level=level, columns=columns, **_given(given))
        return _ends_with_index_of(X, found)

    @available_if(_has("has_place_interval"))
    def transform_interval(self, X: Any, *, given: Any = None, level: float = 0.9) -> Intervals:
        """Intervals for the latent points of rows, from the last step."""
        return self._chain().transform_interval(X, level=level, **_given(given))

    @available_if(_has("has_place_interval"))
    def transform_radius(self, X: Any, *, given: Any = None, level: float = 0.9) -> Array:
        """Radii (m,) about the latent points of rows that hold their places, of the last step."""
        return self._chain().transform_radius(X, level=level, **_given(given))

    @available_if(_has("has_counterfactual_interval"))
    def counterfactual_interval(
        self,
        X: Any,
        *,
        given: Any,
        given_now: Any = None,
        residual: str | float = "auto",
        individuals: Any = None,
        level: float = 0.9,
    ) -> Intervals:
        """Prediction intervals around ``counterfactual``, under the same condition; tables after a ``TableEncoder``.

        ``individuals``: who each training row is, for ``residual="row"``.
        """
        options = {"given_now": given_now, "residual": residual, "level": level}
        if individuals is not None:
            options["individuals"] = individuals
        return _ends_with_index_of(X, self._chain().counterfactual_interval(X, given=given, **options))

    @available_if(_has("has_predict_interval"))
    def predict_interval(self, X: Any, *, level: float = 0.9) -> Intervals:
        """Prediction intervals for the second view, in its own units, around ``predict(X)``."""
        return self._chain().predict_interval(X, level=level)

    @available_if(_has("has_impute"))
    def impute(self, X: Any) -> Array:
        """Impute missing entries (NaN) of rows, if the steps before the last scale columns separately."""
        return self._chain().impute(X)

    @available_if(_has("has_impute_interval"))
    def impute_interval(self, X: Any, *, level: float = 0.9) -> Intervals:
        """Intervals for the missing entries of rows around ``impute(X)``, under the same condition."""
        return self._chain().impute_interval(X, level=level)

    @available_if(_has("has_inverse"))
    def denoise(self, X: Any, *, given: Any = None) -> Any:
        """Rows (m, d) without what the map does not keep: ``inverse_transform(transform(X))``."""
        places = self.transform(X, given=given)
        return _with_index_of(X, self.inverse_transform(places, given=given))

    @available_if(_has("has_typicality"))
    def typicality(self, X: Any, *, given: Any = None) -> Array:
        """How usual rows are among the training rows, shape (m,), between 0 and 1.

        ``given`` is checked and not used: whole rows are compared, with its effect in them.
        """
        return self._chain().typicality(X, **_given(given))

    @available_if(_has("has_training_typicality"))
    def training_typicality(self) -> Array:
        """How usual each training row is among the others, shape (n,)."""
        return np.asarray(self._chain().training_typicality())

    @available_if(_has("has_novelty"))
    def novelty_p_value(self, X: Any, *, given: Any = None) -> Array:
        """How often a row like the training rows would be as unusual as these, shape (m,): a p-value."""
        return self._chain().novelty_p_value(X, **_given(given))

    @available_if(_has("has_novelty"))
    def is_novel(self, X: Any, *, given: Any = None, false_alarm: float = 0.01) -> Array:
        """Whether each row is unlike all training rows, at a given rate of false alarms; shape (m,)."""
        return self._chain().is_novel(X, false_alarm=false_alarm, **_given(given))

    @available_if(_has("has_latent_density"))
    def latent_log_density(self, Z: Any) -> Array:
        """Log density (m,) of latent points (m, q), of the last step."""
        return np.asarray(self._chain().last.latent_log_density(Z))

    @property
    def embedding_(self) -> Array:
        """The map (n, q) of the training rows, of the last step."""
        return np.asarray(self.steps[-1][1].embedding_)

    @available_if(_last_has_score)
    def score(self, X: Any, y: Any = None, *, given: Any = None, sample_weight: Any = None) -> float:
        """The score of the last step, as in scikit-learn's Pipeline: in the columns that it sees, after the others.

        Of an embedding that is the share of the variance of these columns that survives the way there and back, so that
        columns count as the steps before scale them.

        Parameters
        ----------
        X : rows of shape (m, d)
        y : array or None, default=None
            For last steps whose score compares it.
        given : array of shape (m,) or (m, g), table, or one value for all rows
            What the rows are known to be. A model that was fitted with it warns where it is left out: GridSearchCV and
            ``cross_validate`` pass it on to ``score`` only with scikit-learn's metadata routing.
        sample_weight : array of shape (m,) or None, default=None
        """
        chain = self._chain()
        if given is None and given_of(chain.last) is not None:
            warn(_SCORED_WITHOUT, UserWarning)
        options = _given(given) if sample_weight is None else {**_given(given), "sample_weight": sample_weight}
        return float(chain.last.score(chain.rows(X), *(() if y is None else (y,)), **options))

    def _numbers(self, columns: Any) -> Array | None:
        """Numbers (c,) of the columns of the data asked for; None: all."""
        names = getattr(self, "feature_names_in_", None)
        return None if columns is None else chosen_columns(self, columns, self.n_features_in_, names)

    def _chain(self) -> Chain:
        check_is_fitted(self)
        return Chain.of(self, tables=True)

    def _side(self, given: Any) -> dict[str, Any]:
        """``given`` as the argument of the last step that scikit-learn's Pipeline understands."""
        if given is None:
            return {}
        name, last = self.steps[-1]
        if not capabilities(last).takes_given:
            rule = "takes no given"
            remedy = "End the Pipeline with KernelInformationEmbedding, or leave given out"
            raise ValueError(error_message(self, "steps", f"{type(last).__name__}, the last,", rule, remedy))
        return {f"{name}__given": given}


def _given(given: Any) -> dict[str, Any]:
    return {} if given is None else {"given": given}


def _with_index_of(X: Any, found: Any) -> Any:
    """A pandas table with the index of the rows it was made from; anything else as it is."""
    return found.set_axis(X.index, axis=0) if hasattr(X, "iloc") and hasattr(found, "set_axis") else found


def _ends_with_index_of(X: Any, found: Intervals) -> Intervals:
    """Intervals whose pandas tables have the index of the rows they were made from."""
    levels = {name: _with_index_of(X, table) for name, table in found.probabilities.items()}
    return Intervals(_with_index_of(X, found.lower), _with_index_of(X, found.upper), levels, found.level)
