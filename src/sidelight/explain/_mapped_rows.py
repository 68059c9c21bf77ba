"""A fitted model and rows as :func:`reliability` sees them: rows in the model's own units, and their places."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from sidelight.base.capabilities import capabilities
from sidelight.base.chain import Chain, as_chain, last_step_of
from sidelight.base.messages import error_message
from sidelight.information.kernel_information_embedding import KernelInformationEmbedding
from sidelight.information.kernel_options import KernelOptions
from sidelight.maps.left_out_places import left_out_places
from sidelight.maps.two_way_mixin import TwoWayMixin

from ._row_parts import MappedRows

__all__ = ["Read", "read_mapped_rows", "rows_before"]

Array = npt.NDArray[Any]
_FEWEST = 20  # rows, below which there are no neighbourhoods to speak of
_ROWS, _COLUMNS = 10_000, 64  # up to which rows are left out by the map itself, for a tenth of the fit at most


@dataclass(frozen=True)
class Read:
    """Rows that neighbours are looked for among, and the rows ``asked`` for; None: the same rows."""

    rows: MappedRows
    asked: MappedRows | None


def read_mapped_rows(owner: str, model: Any, X: Any, given: Any, n_jobs: int | None = None) -> Read:
    """Read a fitted model, or a Pipeline of steps and a model, and rows; None: its training rows."""
    chain = as_chain(model)
    last = last_step_of(chain)
    check_is_fitted(last)
    if given is not None and not capabilities(last).takes_given:
        rule = "cannot be used by a model that takes none"
        raise ValueError(error_message(owner, "given", "something", rule, "Leave it out"))
    seen = rows_before(chain, X)
    two_way = isinstance(last, TwoWayMixin)
    read = _of_two_way(owner, last, seen, given, n_jobs) if two_way else _of_others(owner, last, seen, given)
    if len(read.rows) < _FEWEST:
        rule = f"is fewer rows than the {_FEWEST} that make a neighbourhood"
        raise ValueError(error_message(owner, "X", f"{len(read.rows)} rows", rule, "Give more rows"))
    return read


def rows_before(chain: Any, X: Any) -> Any:
    """Rows as the last step of a chain sees them; None stays None."""
    return chain.rows(X) if X is not None and isinstance(chain, Chain) else X


def _of_two_way(owner: str, last: TwoWayMixin, X: Any, given: Any, n_jobs: int | None) -> Read:
    trained = last._mapped_rows()
    if trained is None:
        rule = "knows distances or relations, and no rows that neighbours could be looked for among"
        remedy = "Fit a model of the rows themselves"
        raise ValueError(error_message(owner, "model", type(last).__name__, rule, remedy))
    data, places = trained
    rows = MappedRows(data, places, last._neighbour_lists(), _asks_for_all_columns(last), _left_out(last, data, n_jobs))
    if X is None:
        return Read(rows, None)
    seen = last._seen_rows(X, given)
    if seen.shape == rows.data.shape and np.allclose(seen, rows.data, rtol=0.0, atol=1e-9):
        return Read(rows, None)  # placing 10,000 rows of 784 columns takes as long as their fit
    side = {} if given is None else {"given": given}
    return Read(rows, MappedRows(seen, np.asarray(last.transform(X, **side), dtype=np.float64)))


def _left_out(last: TwoWayMixin, data: Array, n_jobs: int | None) -> Array | None:
    """Where the map would place each training row without it; None where that takes long, or is not known."""
    if len(data) > _ROWS or data.shape[1] > _COLUMNS:
        return None
    places = left_out_places(last.backward_, n_jobs)
    return None if places is None else np.asarray(last.latent_frame_.outside(places))


def _asks_for_all_columns(last: TwoWayMixin) -> bool:
    """Whether the model was told to compare rows in all columns, however many."""
    return isinstance(last, KernelInformationEmbedding) and KernelOptions.of(last.kernel).columns == "all"


def _of_others(owner: str, last: Any, X: Any, given: Any) -> Read:
    """Models that keep no rows: those of X are compared with each other."""
    offers = capabilities(last)
    name = type(last).__name__
    if offers.finds_clusters:
        rule = "is a mixture without a map"
        raise ValueError(error_message(owner, "model", name, rule, "Give CoordinatedMixture, or another embedding"))
    if X is None:
        rule = f"is not enough: {name} keeps no rows"
        raise ValueError(error_message(owner, "X", None, rule, "Give the rows of the fit"))
    rows = check_array(X, dtype=[np.float64, np.float32], estimator=owner)
    side = {} if given is None else {"given": given}
    if offers.has_transform:
        places = last.transform(X, **side)
    elif offers.has_embedding and len(last.embedding_) == len(rows):
        places = last.embedding_
    else:
        raise ValueError(error_message(owner, "model", name, "has no map of these rows", "Give a fitted embedding"))
    return Read(MappedRows(rows, check_array(places, dtype=np.float64, estimator=owner)), None)
