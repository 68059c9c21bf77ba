r"""The linear auto-encoder in closed form: with squared error its best codes are the principal components.

min_{A, W} Σ_r |x_r - W A x_r|²   at   A = Wᵀ = the first q eigenvectors of Σ_r x_r x_rᵀ      (Baldi and Hornik, 1989)
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from sidelight.base.types import Array

from ._batches import tensor
from ._networks import AutoencoderNetwork

__all__ = ["LARGEST", "is_closed_form", "set_principal_components"]

LARGEST = 2000
"""Most columns or rows, whichever are fewer: beyond, an eigenvalue problem takes longer than training."""


def is_closed_form(rows: Array) -> bool:
    """Whether the eigenvalue problem of these rows is small enough."""
    return bool(min(rows.shape) <= LARGEST)


def set_principal_components(module: AutoencoderNetwork, rows: Array) -> float:
    """Set the weights of a linear network to the principal components of centred rows (n, d); return the mean error.

    Codes beyond the rank of the rows are 0.
    """
    X = tensor(rows, (torch.device("cpu"), torch.float64))
    encoder = next(layer for layer in module.encoder if isinstance(layer, nn.Linear))
    A = torch.zeros(encoder.weight.shape, dtype=torch.float64)
    found = _directions(X, len(A))
    A[: len(found)] = found
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.zero_()
        encoder.weight.copy_(A)
        if not module.tied:
            next(layer for layer in module.decoder.modules() if isinstance(layer, nn.Linear)).weight.copy_(A.T)
    return float(((X - (X @ A.T) @ A) ** 2).mean())


def _directions(X: Tensor, q: int) -> Tensor:
    """The first principal directions (at most q, d), each with its largest entry positive."""
    n, d = X.shape
    values, vectors = torch.linalg.eigh(X.T @ X if d <= n else X @ X.T)
    kept = values > 1e-12 * values[-1].clamp(min=1e-300)
    order = torch.nonzero(kept).ravel().flip(0)[:q]
    found = vectors[:, order].T if d <= n else (vectors[:, order] / values[order].sqrt()).T @ X
    largest = found.gather(1, found.abs().argmax(dim=1, keepdim=True))
    return found * torch.where(largest < 0, -1.0, 1.0).to(found)
