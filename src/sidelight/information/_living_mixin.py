"""Methods of a map that lives: ``extend`` lets rows join it, ``forget`` lets rows leave; both keep a record.

Arguments are validated here; ``_extension`` computes.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Self

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from sidelight.base.cost import Cost, check_cost
from sidelight.base.fitting import all_or_nothing_continued, raise_if_interrupted
from sidelight.base.messages import error_message
from sidelight.base.tiles import one_blas_thread
from sidelight.base.types import Array, NamedValues
from sidelight.base.validation import check_integer, check_number
from sidelight.maps.frames import Frame
from sidelight.maps.two_way_mixin import has_data_space
from sidelight.neighbours.sparse_distances import Points, dense_points
from sidelight.side.given import EncodedGiven

from ._drift import drift_of
from ._extension import (
    JoinedRows,
    LivingRows,
    LivingSettings,
    Placed,
    join_rows,
    resolution_of,
    start_places,
    without_effect,
)
from ._representation import described
from ._row_checks import RowChecks
from ._settings import GivenSettings, KernelSettings
from ._solver_choice import current_name
from .annealing import Annealing

__all__ = ["LivingMixin"]

_FEWEST = 30  # rows that ``forget`` leaves
_COUNTED = {"extend": "added", "forget": "forgotten"}


class LivingMixin(RowChecks):
    """``extend`` and ``forget``, and the record of them: ``versions_``, ``drift_``, ``novel_`` and ``region_``."""

    n_components: int
    perplexity: float
    tol: float
    solver_: str
    conditioning_: str | None
    perplexity_: float
    novel_: Array
    region_: Array
    drift_: list[NamedValues]
    versions_: list[NamedValues]

    @available_if(has_data_space)
    @all_or_nothing_continued
    @one_blas_thread
    def extend(
        self,
        X: object,
        *,
        given: object = None,
        hold: float | None = None,
        false_alarm: float = 0.01,
        least: int | None = None,
    ) -> Self:
        """Add new rows to the map. The existing rows do not move, to the bit, unless ``hold`` is set.

        Afterwards ``embedding_`` has the new rows at its end, and maps, density and the effect of ``given`` are
        computed from all rows. A new row is placed at the minimum of the objective of the fit, with all other rows
        fixed. Rows unlike any row of the map are flagged (``novel_``) at a given rate of false alarms. Groups of
        neighbouring new rows with more flags than false alarms explain get a region of their own (``region_``), in free
        space beside the map. Flagged rows without a region are placed beside the nearest rows, and may move to a region
        of a later extension.

        Available for models fitted by the multilevel solver with ``bandwidth="perplexity"`` to complete dense rows. If
        the extension fails, the model is unchanged.

        Parameters
        ----------
        X : array of shape (m, d)
            New rows, with the columns of ``fit``.
        given : array of shape (m,) or (m, g), table, or one value for all rows, default=None
            Their known variables; required, without missing entries, if the model was fitted with ``given``. A category
            that was not in the fit raises an error.
        hold : float or None, default=None
            None: existing rows do not move. A number: they may move, with the penalty ``hold / (2 N) Σ |z_i - z_i
            before|²`` over them in the objective of all N rows, in units of the latent kernel (the attraction of all
            neighbours of a row weighs about 6): with 1 rows make room for new ones, with 100 they hardly move.
        false_alarm : float, default=0.01
            Share of rows like those of the map that may be flagged as novel, as in :meth:`is_novel`.
        least : int or None, default=None
            Minimum number of rows of a new region; None: ``perplexity``, at least 30.

        Returns
        -------
        self

        Examples
        --------
        >>> import numpy as np
        >>> from sidelight import KernelInformationEmbedding
        >>> rng = np.random.default_rng(0)
        >>> X = rng.normal(size=(400, 5)) + 10.0 * rng.integers(2, size=(400, 1))
        >>> model = KernelInformationEmbedding(solver="multilevel", max_iter=30).fit(X[:300])
        >>> before = model.embedding_
        >>> bool((model.extend(X[300:]).embedding_[:300] == before).all()), len(model.embedding_)
        (True, 400)
        """
        checked = dense_points(self._livable(X))
        present, n = self._present(), len(self.embedding_)
        if hold is not None:
            check_number(self, "hold", hold, 0.0)
        least = max(_FEWEST, round(self.perplexity)) if least is None else least
        check_integer(self, "least", least, 2)
        known = self._known_of_all(given, len(checked))
        total = n + len(checked)
        check_cost(self, self.estimate_cost(total, checked.shape[1], given=known is not None), total)
        flagged = self.is_novel(X, false_alarm=false_alarm)
        points, settings = np.asarray(self.frame_.points(checked)), self._living_settings()
        factor = resolution_of(total, self._fitted_rows(), self.n_components) * self.latent_frame_.scale
        rows = without_effect(points, known, self.effect_)
        start = start_places(self.backward_, factor, rows, settings, self.n_jobs)
        new = np.arange(total) >= n
        novel = np.concatenate([self._novel(), flagged])
        free = new | np.concatenate([self._novel() & (self._regions() == 0), np.zeros(len(checked), dtype=bool)])
        placed = Placed(free, novel, false_alarm, least, hold)
        joined = join_rows(present.scaled(factor).with_rows(points, start, known), self._frame(), placed, settings)
        scale = self.latent_frame_.scale / factor
        embedding = np.concatenate([self.embedding_, np.zeros((len(checked), self.n_components))])
        embedding = embedding.astype(self.embedding_.dtype)
        moved = free if hold is None else np.ones(total, dtype=bool)
        embedding[moved] = (joined.embedded.embedding * scale)[moved]
        before, past = self.embedding_, self._previous_versions()
        regions = np.concatenate([self._regions(), np.zeros(len(checked), dtype=np.int64)])
        regions[joined.region > 0] = joined.region[joined.region > 0] + int(regions.max(initial=0))
        record = self._versioned("extend", len(checked), total)
        record |= {"novel": int(flagged.sum()), "regions": int(joined.region.max(initial=0)), "resolution": 1 / scale}
        held = ~free[:n]
        record["moved"] = float(np.sqrt(np.square(embedding[:n][held] - before[held]).sum(axis=1)).max(initial=0.0))
        drift = drift_of(
            int(record["version"]), (present.points, points), (before, embedding[n:]), flagged, false_alarm
        )
        self._keep_joined(joined, embedding, scale)
        self.novel_, self.region_ = novel, regions
        self.versions_, self.drift_ = [*past, record], [*getattr(self, "drift_", []), drift]
        raise_if_interrupted(joined.interrupted)
        return self

    @available_if(has_data_space)
    @all_or_nothing_continued
    @one_blas_thread
    def forget(self, rows: object) -> Self:
        """Remove rows from the map: maps, density and the effect of ``given`` are computed without them.

        The other rows do not move, to the bit. Available for the same models as :meth:`extend`.

        Parameters
        ----------
        rows : array of int, or of bool of shape (n,)
            Numbers of rows of ``embedding_``, or a mask; 30 rows or more must remain.

        Returns
        -------
        self
        """
        check_is_fitted(self)
        self._refuse_unlivable()
        kept = self._remaining(rows)
        gone = len(self.embedding_) - len(kept)
        placed = Placed(np.zeros(len(kept), dtype=bool), self._novel()[kept], 0.01, _FEWEST)
        joined = join_rows(self._present().take(kept), self._frame(), placed, self._living_settings())
        record = self._versioned("forget", gone, len(kept)) | {"resolution": 1 / self.latent_frame_.scale}
        novel, regions, past = self._novel()[kept], self._regions()[kept], self._previous_versions()
        self._keep_joined(joined, self.embedding_[kept], self.latent_frame_.scale)
        self.novel_, self.region_, self.versions_ = novel, regions, [*past, record]
        return self

    @abstractmethod
    def estimate_cost(self, n: int, d: int, *, given: bool = False) -> Cost:
        """Estimate memory and time of a fit."""

    @abstractmethod
    def _kernel_settings(self, solver: str) -> KernelSettings: ...

    @abstractmethod
    def _given_settings(self) -> GivenSettings: ...

    def _livable(self, X: object) -> Points:
        """Validated rows (m, d) of a model that can be extended."""
        check_is_fitted(self)
        self._refuse_unlivable()
        return self._checked(X)

    def _refuse_unlivable(self) -> None:
        """Raise ValueError for models whose rows cannot be added to, with what to do instead."""

        def refuse(argument: str, seen: object, rule: str, remedy: str) -> None:
            raise ValueError(error_message(self, argument, seen, rule, remedy))

        if current_name(self.solver_) != "multilevel":
            refuse(
                "solver", self.solver_, "fits all rows at once, and none can be fixed", "Fit with solver='multilevel'"
            )
        if self.bandwidth != "perplexity":
            refuse("bandwidth", self.bandwidth, "was set for the rows of the fit", "Fit with bandwidth='perplexity'")
        if self.metric != "euclidean" or not isinstance(self.frame_, Frame):
            seen = self.metric if isinstance(self.frame_, Frame) else "sparse rows"
            refuse("metric", seen, "keeps no rows to add to", "Fit to dense rows with metric='euclidean'")
        if getattr(self, "filled_", None) is not None:
            refuse("missing", self.missing, "imputed the fitted rows from each other", "Impute the rows before the fit")
        if self.product_backward_ is not None:
            refuse("conditioning", "product", "cannot take further rows", "Fit with conditioning='balanced'")
        if len(self.embedding_) != len(self.backward_.outputs):
            refuse("given", "NaN", "was missing in rows of the fit", "Fit to rows without missing entries in given")
        if self.adapted_rows_ is not None:
            refuse("given", "a category of adapt", "has no rows in the map", "Extend the model before it is adapted")

    def _known_of_all(self, given: object, n: int) -> EncodedGiven | None:
        if self.given_ is not None and given is None:
            rule = "would leave the effect of the fitted given in the rows"
            raise ValueError(error_message(self, "given", None, rule, "Give the values of the new rows, as in fit"))
        known = self._known(given, n)
        if known is not None and not known.complete.all():
            rule = f"is missing in {int((~known.complete).sum())} rows"
            raise ValueError(error_message(self, "given", "NaN", rule, "Leave these rows out"))
        return known

    def _remaining(self, rows: object) -> Array:
        """Numbers of the rows that are not among ``rows``."""
        n, some = len(self.embedding_), np.asarray(rows)
        fine = some.ndim == 1 and (some.dtype.kind in "iu" or (some.dtype == bool and len(some) == n))
        if not fine or (some.dtype.kind in "iu" and len(some) and not -n <= some.min() <= some.max() < n):
            seen = f"array of {some.dtype} and shape {some.shape}"
            rule = f"does not select rows of the map, which has {n}"
            raise ValueError(error_message(self, "rows", seen, rule, "Give row numbers, or a mask of all rows"))
        stay = np.ones(n, dtype=bool)
        stay[some] = False
        if stay.sum() < _FEWEST:
            rule = f"leaves {int(stay.sum())} rows"
            raise ValueError(error_message(self, "rows", f"{n - int(stay.sum())} rows", rule, f"Keep {_FEWEST} rows"))
        return np.flatnonzero(stay)

    def _frame(self) -> Frame:
        assert isinstance(self.frame_, Frame)
        return self.frame_

    def _present(self) -> LivingRows:
        """The rows of the map, in units of the latent kernel."""
        known = None
        if self.given_ is not None and self.given_features_ is not None:
            known = self.given_.decoded(self.given_features_)
        places = self.embedding_.astype(np.float64) / self.latent_frame_.scale
        return LivingRows(self.density_.points, places, self.given_, known)

    def _living_settings(self) -> LivingSettings:
        weight = Annealing.of(self.regularization).regularization
        return LivingSettings(
            self._kernel_settings("multilevel"), self._given_settings(), self.latent_kernel_, self.perplexity_, weight,
            self.tol,
        )  # fmt: skip

    def _novel(self) -> Array:
        return np.asarray(getattr(self, "novel_", np.zeros(len(self.embedding_), dtype=bool)))

    def _regions(self) -> Array:
        return np.asarray(getattr(self, "region_", np.zeros(len(self.embedding_), dtype=np.int64)))

    def _previous_versions(self) -> list[NamedValues]:
        """The versions so far; the first one is the fit."""
        past: list[NamedValues] | None = getattr(self, "versions_", None)
        return [{"version": 0, "change": "fit", "rows": len(self.embedding_)}] if past is None else past

    def _fitted_rows(self) -> int:
        return int(self._previous_versions()[0]["rows"])

    def _versioned(self, change: str, count: int, n: int) -> NamedValues:
        return {"version": len(self._previous_versions()), "change": change, "rows": n, _COUNTED[change]: count}

    def _keep_joined(self, joined: JoinedRows, embedding: Array, scale: float) -> None:
        """Set the attributes that a fit sets; ``scale``: the unit of the latent kernel in units of the map."""
        problem, known = joined.problem, self.given_ is not None and self.given_features_ is not None
        maps = joined.embedded.maps
        if known:
            assert self.given_ is not None
            assert maps.given is not None
            assert maps.given.features is not None
            encoded = self.given_.decoded(maps.given.features)
            self.represented_, self.only_here_ = described(
                problem.representation, self.given_, encoded, np.arange(len(embedding))
            )
        self.effect_, self.given_bandwidth_ = problem.effect, problem.given_bandwidth
        self.confounded_, self.explained_ = problem.confounded, problem.explained
        self.bandwidth_, self.kernel_error_ = joined.embedded.bandwidth, problem.chosen.error
        if problem.chosen.perplexity is not None:
            self.perplexity_ = problem.chosen.perplexity
        self.sum_error_ = joined.sum_error
        self._keep_informed_maps(maps, embedding)
        self.latent_frame_ = Frame(np.zeros(embedding.shape[1]), scale)
        self.path_, self.regularization_path_ = embedding[None], self.regularization_path_[-1:]
