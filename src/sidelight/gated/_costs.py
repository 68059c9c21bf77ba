"""Memory and time of a fit of a network, estimated before fitting.

P parameters, n rows, B rows of a batch. An update takes about 3 B P multiplications (forward, and twice that back) and
some passes over the parameters; an iteration on all rows 4 n P (line search included). Where training ends by itself,
half of the most updates are assumed, and every candidate of a search is counted.
"""

from __future__ import annotations

import torch
from torch import nn

from sidelight.base.cost import Cost

from ._architecture import Architecture
from ._settings import TrainingSettings

__all__ = ["n_parameters", "network_cost", "updates"]

_MULTIPLICATIONS = 2.5e10  # per second and core, single precision
_AT_ONCE = 1.5e9  # the same in double precision, with activations
_ITERATIONS = 150  # on all rows at once, where training ends by itself
_CALLS = 1e-3  # seconds of an update beside its multiplications


def n_parameters(architecture: Architecture[nn.Module], n_inputs: int, n_outputs: int) -> int:
    """Number of parameters of the network; nothing is allocated."""
    with torch.device("meta"):
        return sum(p.numel() for p in architecture.build(n_inputs, n_outputs).parameters())


def updates(settings: TrainingSettings) -> int:
    """Expected number of updates: those asked for, or half of the most."""
    return settings.max_iter // 2 if settings.ends_by_itself else settings.max_iter


def network_cost(
    architecture: Architecture[nn.Module],
    settings: TrainingSettings,
    sizes: tuple[int, int],
    *,
    n: int,
    rows: int,
    folded: int,
    n_searched: int | None = None,
) -> Cost:
    """Cost of a fit.

    Parameters
    ----------
    architecture, settings
    sizes : (int, int)
        Columns of inputs and outputs of the network.
    n : int
        Rows, or patches, that are trained on.
    rows : int
        Rows, or patches, of a batch.
    folded : int
        Numbers that a row needs on its way through the network.
    n_searched : int or None
        Fits of a search on all rows at once; None: one for each weight decay.
    """
    parameters = n_parameters(architecture, *sizes)
    values = 3 * n * sum(sizes)
    if settings.at_once(n, parameters):
        fits = (len(settings.decays) if n_searched is None else n_searched) if settings.ends_by_itself else 1
        iterations = fits * (_ITERATIONS if settings.ends_by_itself else settings.max_iter)
        seconds = iterations * (4.0 * n * parameters / _AT_ONCE + 2 * _CALLS)
        return Cost(8 * (45 * parameters + 3 * n * folded + values), seconds)
    seconds = updates(settings) * ((3.0 * rows + 4) * parameters / _MULTIPLICATIONS + _CALLS)
    return Cost(4 * (5 * parameters + 4 * rows * folded + values), seconds)
