r"""Weights between visible and hidden units: a matrix, a three-way tensor contracted with an input, or its factors.

    plain     S = Σ_jk W_jk y_j z_k                                                     (S0 2.9)
    full      S = Σ_ijk W_ijk x_i y_j z_k = Σ_jk Ŵ_jk(x) y_j z_k,  Ŵ(x) = Σ_i W_ijk x_i      (S0 5.1, 5.10)
    factored  S = Σ_f (Σ_i W^x_if x_i) (Σ_j W^y_jf y_j) (Σ_k W^z_kf z_k)

Contracting the tensor with an input ("folding") gives a bipartite machine. All conditionals of an update share it, and
both phases are backpropagated to the weights together. For n rows the full form takes n i j k multiplications forward,
as many backward, and memory for a few times n j k numbers; the factored form takes n f (i + j + k) multiplications and
n f numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor, nn

__all__ = ["Contracted", "FactoredInteraction", "FullInteraction", "PlainInteraction"]


class Contracted(Protocol):
    """Weights between t(y) (n, j) and t(z) (n, k) for n inputs, the input already contracted."""

    def to_hidden(self, y: Tensor) -> Tensor:
        """∂S/∂z (n, k)."""
        ...

    def to_visible(self, z: Tensor) -> Tensor:
        """∂S/∂y (n, j)."""
        ...

    def score(self, y: Tensor, z: Tensor) -> Tensor:
        """S (n,)."""
        ...

    def contrast(self, y: Tensor, z: Tensor, y_model: Tensor, z_model: Tensor) -> Tensor:
        """Mean S of the model's states minus mean S of the data's states."""
        ...

    def filters(self, n: int) -> Tensor:
        """The weights as a dense tensor (n, j, k)."""
        ...


@dataclass(frozen=True)
class _Matrix:
    """The same weights (j, k) for every row."""

    weights: Tensor

    def to_hidden(self, y: Tensor) -> Tensor:
        return y @ self.weights

    def to_visible(self, z: Tensor) -> Tensor:
        return z @ self.weights.T

    def score(self, y: Tensor, z: Tensor) -> Tensor:
        return ((y @ self.weights) * z).sum(dim=1)

    def contrast(self, y: Tensor, z: Tensor, y_model: Tensor, z_model: Tensor) -> Tensor:
        difference = y_model.T @ z_model / len(y_model) - y.T @ z / len(y)
        return (difference * self.weights).sum()

    def filters(self, n: int) -> Tensor:
        return self.weights.expand(n, -1, -1)


@dataclass(frozen=True)
class _Filters:
    """Weights of each row (n, j, k)."""

    folded: Tensor

    def to_hidden(self, y: Tensor) -> Tensor:
        return torch.bmm(y[:, None, :], self.folded)[:, 0]

    def to_visible(self, z: Tensor) -> Tensor:
        return torch.bmm(z[:, None, :], self.folded.transpose(1, 2))[:, 0]  # six times faster than filters first

    def score(self, y: Tensor, z: Tensor) -> Tensor:
        return (self.to_hidden(y) * z).sum(dim=1)

    def contrast(self, y: Tensor, z: Tensor, y_model: Tensor, z_model: Tensor) -> Tensor:
        # One array (n, j, k) for both phases, so that backpropagation to the weights is one product.
        model = y_model[:, :, None] * z_model[:, None, :]
        difference = torch.addcmul(model, y[:, :, None], z[:, None, :], value=-1)
        return torch.dot(difference.reshape(-1), self.folded.reshape(-1)) / len(y)

    def filters(self, n: int) -> Tensor:
        del n
        return self.folded


@dataclass(frozen=True)
class _Factors:
    """Factors of each row (n, f) between y's (j, f) and z's (k, f)."""

    factors: Tensor
    visible: Tensor
    hidden: Tensor

    def to_hidden(self, y: Tensor) -> Tensor:
        return ((y @ self.visible) * self.factors) @ self.hidden.T

    def to_visible(self, z: Tensor) -> Tensor:
        return ((z @ self.hidden) * self.factors) @ self.visible.T

    def score(self, y: Tensor, z: Tensor) -> Tensor:
        return ((y @ self.visible) * self.factors * (z @ self.hidden)).sum(dim=1)

    def contrast(self, y: Tensor, z: Tensor, y_model: Tensor, z_model: Tensor) -> Tensor:
        return (self.score(y_model, z_model) - self.score(y, z)).mean()

    def filters(self, n: int) -> Tensor:
        del n
        return torch.einsum("jf,nf,kf->njk", self.visible, self.factors, self.hidden)


def _small(*shape: int, size: float) -> nn.Parameter:
    return nn.Parameter(size * torch.randn(*shape))


class PlainInteraction(nn.Module):
    """W (j, k)."""

    def __init__(self, n_visible: int, n_hidden: int, *, size: float = 0.01) -> None:
        super().__init__()
        self.weights = _small(n_visible, n_hidden, size=size)

    def contract(self, x: Tensor | None = None) -> Contracted:
        """The same weights for any input."""
        del x
        return _Matrix(self.weights)


class FullInteraction(nn.Module):
    """W (i, j, k)."""

    def __init__(self, n_inputs: int, n_visible: int, n_hidden: int, *, size: float = 0.01) -> None:
        super().__init__()
        self.weights = _small(n_inputs, n_visible, n_hidden, size=size)

    def contract(self, x: Tensor) -> Contracted:
        """The input-dependent filters Ŵ(x) (n, j, k)."""
        i, j, k = self.weights.shape
        return _Filters((x @ self.weights.reshape(i, j * k)).reshape(len(x), j, k))


class FactoredInteraction(nn.Module):
    """W^x (i, f), W^y (j, f), W^z (k, f)."""

    def __init__(self, n_inputs: int, n_visible: int, n_hidden: int, n_factors: int, *, size: float = 0.1) -> None:
        super().__init__()
        self.inputs = _small(n_inputs, n_factors, size=size)
        self.visible = _small(n_visible, n_factors, size=size)
        self.hidden = _small(n_hidden, n_factors, size=size)

    def contract(self, x: Tensor) -> Contracted:
        """The input's factors (n, f)."""
        return _Factors(x @ self.inputs, self.visible, self.hidden)
