r"""Boltzmann machines with one visible and one hidden layer, plain or gated by an input.

    S(y, z; x) = Σ W_ijk x_i t(y_j) t(z_k) + generalised biases + h(y) + h(z)                   (S0 5.7, 5.11, 5.13)
    log p(y | x) = F(y; x) - log Z(x),   F = h(y) + b_y(x)·t(y) + Σ_k A(η_k),   η = to_hidden(t(y)) + b_z(x)

Biases may depend on the input: b_y(x) = W^y + W^xy x, b_z(x) = W^z + W^xz x, and W^yz is added to the weights. Each can
be switched off. Conditioning on an input (``condition``) gives a bipartite machine for each row; all other functions
take that.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from ._interactions import Contracted, FactoredInteraction, FullInteraction, PlainInteraction
from ._units import Units

__all__ = ["BIASES", "Conditioned", "GatedMachine", "PlainMachine"]

BIASES = ("xy", "xz", "yz", "y", "z")


@dataclass(frozen=True)
class Conditioned:
    """A bipartite machine for each row: weights, biases (n or 1, ·) and unit types."""

    ties: tuple[Contracted, ...]
    visible_bias: Tensor
    hidden_bias: Tensor
    visible: Units
    hidden: Units

    def hidden_parameters(self, y: Tensor) -> Tensor:
        """η of the hidden units (n, k), given visible ones."""
        seen = self.visible.statistic(y)
        return sum((tie.to_hidden(seen) for tie in self.ties), self.hidden_bias)

    def visible_parameters(self, z: Tensor) -> Tensor:
        """η of the visible units (n, j), given hidden ones."""
        code = self.hidden.statistic(z)
        return sum((tie.to_visible(code) for tie in self.ties), self.visible_bias)

    def score(self, y: Tensor, z: Tensor) -> Tensor:
        """S(y, z; x) (n,)."""
        seen, code = self.visible.statistic(y), self.hidden.statistic(z)
        tied = sum((tie.score(seen, code) for tie in self.ties), self.visible.base(y) + self.hidden.base(z))
        return tied + (seen * self.visible_bias).sum(dim=1) + (code * self.hidden_bias).sum(dim=1)

    def contrast(self, y: Tensor, z: Tensor, y_model: Tensor, z_model: Tensor) -> Tensor:
        """Mean S of the model's states minus that of the data's: the loss that training minimises."""
        seen, code = self.visible.statistic(y), self.hidden.statistic(z)
        seen_model, code_model = self.visible.statistic(y_model), self.hidden.statistic(z_model)
        total = (self.visible.base(y_model) + self.hidden.base(z_model)).mean()
        total = total - (self.visible.base(y) + self.hidden.base(z)).mean()
        total = total + _mean_of(seen_model, self.visible_bias) - _mean_of(seen, self.visible_bias)
        total = total + _mean_of(code_model, self.hidden_bias) - _mean_of(code, self.hidden_bias)
        return sum((tie.contrast(seen, code, seen_model, code_model) for tie in self.ties), total)

    def free_score(self, y: Tensor) -> Tensor:
        """F(y; x) = log Σ_z exp S (n,): log density up to log Z(x)."""
        inner = self.hidden.log_partition(self.hidden_parameters(y))
        return inner + self.visible.base(y) + (self.visible.statistic(y) * self.visible_bias).sum(dim=1)

    def reconstruct(self, y: Tensor) -> Tensor:
        """Visible means (n, j), given the hidden means of ``y``."""
        return self.visible.mean(self.visible_parameters(self.hidden.mean(self.hidden_parameters(y))))


class PlainMachine(nn.Module):
    """A restricted Boltzmann machine, without inputs. ``chains`` (m, j): states of persistent chains."""

    def __init__(self, visible: Units, hidden: Units, *, size: float = 0.01) -> None:
        super().__init__()
        self.visible, self.hidden = visible, hidden
        self.chains: Tensor | None
        self.register_buffer("chains", None)
        self.tie = PlainInteraction(visible.size, hidden.size, size=size)
        self.visible_bias = nn.Parameter(torch.zeros(visible.size))
        self.hidden_bias = nn.Parameter(torch.zeros(hidden.size))

    def condition(self, x: Tensor | None = None) -> Conditioned:
        """The machine itself, for any number of rows."""
        return Conditioned((self.tie.contract(x),), self.visible_bias, self.hidden_bias, self.visible, self.hidden)


class GatedMachine(nn.Module):
    """A machine whose weights and biases are functions of an input, or of its premapping if there is one.

    ``n_factors=None``: the full three-way tensor. ``biases``: those of ``BIASES`` to include. ``chains`` (n, j): states
    of persistent chains, one for each training row.
    """

    def __init__(
        self,
        n_inputs: int,
        visible: Units,
        hidden: Units,
        *,
        n_factors: int | None = None,
        biases: Collection[str] = BIASES,
        premapping: nn.Module | None = None,
        size: float = 0.01,
    ) -> None:
        super().__init__()
        self.visible, self.hidden = visible, hidden
        self.chains: Tensor | None
        self.register_buffer("chains", None)
        self.premapping = premapping
        j, k = visible.size, hidden.size
        if n_factors is None:
            self.gated: FullInteraction | FactoredInteraction = FullInteraction(n_inputs, j, k, size=size)
        else:
            self.gated = FactoredInteraction(n_inputs, j, k, n_factors, size=max(size, 0.1) if size else 0.0)
        self.tie = PlainInteraction(j, k, size=size) if "yz" in biases else None
        self.input_visible = nn.Parameter(torch.zeros(n_inputs, j)) if "xy" in biases else None
        self.input_hidden = nn.Parameter(torch.zeros(n_inputs, k)) if "xz" in biases else None
        self.visible_bias = nn.Parameter(torch.zeros(j)) if "y" in biases else None
        self.hidden_bias = nn.Parameter(torch.zeros(k)) if "z" in biases else None

    def features(self, x: Tensor) -> Tensor:
        """φ(x): the premapped inputs, or the inputs themselves."""
        return x if self.premapping is None else self.premapping(x)

    def condition(self, x: Tensor) -> Conditioned:
        """The bipartite machine of each input (n, i)."""
        phi = self.features(x)
        ties = (self.gated.contract(phi),) if self.tie is None else (self.gated.contract(phi), self.tie.contract())
        visible = _bias(phi, self.input_visible, self.visible_bias, self.visible.size)
        hidden = _bias(phi, self.input_hidden, self.hidden_bias, self.hidden.size)
        return Conditioned(ties, visible, hidden, self.visible, self.hidden)


def _mean_of(statistic: Tensor, bias: Tensor) -> Tensor:
    """Mean over rows of bias · t."""
    return (statistic * bias).sum() / len(statistic)


def _bias(phi: Tensor, weights: Tensor | None, constant: Tensor | None, size: int) -> Tensor:
    """``constant + φ W``, where each term may be None."""
    base = phi.new_zeros(1, size) if constant is None else constant[None]
    return base if weights is None else torch.addmm(base, phi, weights)
