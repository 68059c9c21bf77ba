"""Fit a mixture to a stream of batches by stepwise (online) EM.

After each batch the running means of the sufficient statistics move towards those of the batch, and the M step follows:

    s ← (1 - γ) s + γ s(batch),      θ ← M(s),      γ = (t + 2)^-0.7

t is the number of earlier rows in units of the batch (O. Cappé and E. Moulines, "On-line expectation-maximization
algorithm for latent data models", Journal of the Royal Statistical Society B 71, 593-613, 2009).
A stream is a value: each step returns a new one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

import numpy.typing as npt

from sidelight.base.random import start_seed
from sidelight.rows import Rows, Sums

from .frames import Frame
from .mixture_fit import EMSettings, Family, FittedMixture, Mixture, MixtureKind, start_mixture
from .row_summary import summarise_rows
from .truncated import is_sparse

__all__ = ["MixtureStream", "advance_stream", "begin_stream", "resume_stream", "stepwise_em"]

Array = npt.NDArray[Any]
P = TypeVar("P", bound=Mixture)
F = TypeVar("F", bound=Family[Any])


@dataclass(frozen=True)
class MixtureStream(Generic[P, F]):
    """State of stepwise (online) EM.

    ``sums`` are running means of the sufficient statistics (None before the first batch), ``n_seen`` the rows so far.
    """

    frame: Frame
    family: F
    mixture: P
    sums: Sums | None
    n_seen: int


def begin_stream(rows: Rows, kind: MixtureKind[P, F], settings: EMSettings, n_charts: int) -> MixtureStream[P, F]:
    """Initialise stepwise EM on the first batch of a stream, in memory; no step is taken yet."""
    seed = start_seed(settings.random_state)
    summary = summarise_rows(settings.owner, rows, n_charts, seed, framed=kind.framed, by_column=kind.by_column)
    family = kind.family(summary, stream=True)
    mixture = start_mixture(kind, family, summary, n_charts, settings)
    return MixtureStream(summary.frame, family, mixture, None, 0)


def resume_stream(found: FittedMixture[P], kind: MixtureKind[P, F]) -> MixtureStream[P, F]:
    """Continue a fit as a stream; its running statistics are those of the fit's sample."""
    family = kind.family(found.summary, stream=True)
    sums = stepwise_em(family, found.mixture, None, found.summary.sample, 1.0)[1]
    return MixtureStream(found.summary.frame, family, found.mixture, sums, found.summary.n)


def advance_stream(stream: MixtureStream[P, F], kind: MixtureKind[P, F], X: Any) -> MixtureStream[P, F]:
    """One step of stepwise EM on a batch ``X`` (n, d); it may be sparse where the frame is the identity.

    The batch gets weight (t + 2)^-0.7, t the earlier rows in units of its size. With such weights stepwise EM converges
    to where EM on all its rows would (Cappé and Moulines 2009).
    """
    inside = X if is_sparse(X) else stream.frame.inside(X)
    stream = kind.joined(stream, inside)
    share = (stream.n_seen / X.shape[0] + 2.0) ** -0.7
    mixture, sums = stepwise_em(stream.family, stream.mixture, stream.sums, inside, share)
    return replace(stream, mixture=mixture, sums=sums, n_seen=stream.n_seen + X.shape[0])


def stepwise_em(family: Family[P], mixture: P, kept: Sums | None, X: Any, share: float) -> tuple[P, Sums]:
    """One step of stepwise EM: update running statistics by exponential averaging, then do the M step.

    Parameters
    ----------
    family : Family
    mixture : parameters
    kept : dict of arrays or None
        Running mean statistics of earlier rows; None: there were none.
    X : array of shape (n, d)
        The batch, scaled.
    share : float
        Weight of the batch in the average.

    Returns
    -------
    mixture, sums
        The new mixture and the updated statistics.
    """
    own = {name: value / X.shape[0] for name, value in family.sums(mixture, X).items()}
    sums = own if kept is None else {name: (1.0 - share) * kept[name] + share * own[name] for name in own}
    new = family.maximised(sums, mixture)
    return new, family.carried(sums, mixture, new)
