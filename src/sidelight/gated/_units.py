r"""Unit types: exponential families with one natural parameter η per component.

    p(y | η) = exp(Σ_j η_j t(y_j) + h(y_j) - A(η_j))

    binary        t = y        h = 0            A = log(1 + e^η)              mean σ(η)
    Gaussian      t = y / ν    h = -y²/(2ν²)    A = η²/2 + log ν + ½ log 2π   mean ν η        (S0 5.11, 5.12)
    Poisson       t = y        h = -log y!      A = e^η                       mean e^η
    multinomial   t = y        h = 0            A = log Σ e^η in each group   mean softmax

(multinomial y are one-hot rows, groups side by side)

Weights multiply t and add to η (S0 5.13-5.15, with + in 5.13), so inference and learning are the same for all.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod

import torch
from torch import Tensor, nn
from torch.nn import functional

from sidelight.base.messages import error_message

__all__ = ["KINDS", "BinaryUnits", "GaussianUnits", "MultinomialUnits", "PoissonUnits", "Units", "units"]

_LARGEST_RATE = 8.0  # natural parameter of a Poisson unit: rates up to e⁸ = 2981, or one bad batch overflows


class Units(nn.Module, ABC):
    """``size`` units of one type."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.size = size

    def statistic(self, y: Tensor) -> Tensor:
        """t(y) (n, size), what weights multiply."""
        return y

    def base(self, y: Tensor) -> Tensor:
        """Σ_j h(y_j) (n,)."""
        return y.new_zeros(y.shape[0])

    def noise_base(self) -> Tensor | float:
        """Σ_j E[h(y_j)] - h(E[y_j]), as a function of what h depends on; the distribution itself is a constant."""
        return 0.0

    @abstractmethod
    def log_partition(self, eta: Tensor) -> Tensor:
        """Σ_j A(η_j) (n,)."""

    @abstractmethod
    def mean(self, eta: Tensor) -> Tensor:
        """E[y | η] (n, size)."""

    @abstractmethod
    def sample(self, eta: Tensor, generator: torch.Generator | None = None) -> Tensor:
        """Draw y (n, size)."""

    def mode(self, eta: Tensor) -> Tensor:
        """The most probable y (n, size)."""
        return self.mean(eta)


class BinaryUnits(Units):
    """0 or 1."""

    def log_partition(self, eta: Tensor) -> Tensor:
        return functional.softplus(eta).sum(dim=1)

    def mean(self, eta: Tensor) -> Tensor:
        return torch.sigmoid(eta)

    def sample(self, eta: Tensor, generator: torch.Generator | None = None) -> Tensor:
        draws = torch.rand(eta.shape, generator=generator, dtype=eta.dtype, device=eta.device)
        return (draws < torch.sigmoid(eta)).to(eta.dtype)

    def mode(self, eta: Tensor) -> Tensor:
        return (eta > 0).to(eta.dtype)


class GaussianUnits(Units):
    """Numbers with standard deviation ν: one for all components, fixed or ``learned`` (then one for each)."""

    def __init__(self, size: int, *, scale: float = 1.0, learned: bool = False) -> None:
        super().__init__(size)
        log_scale = torch.full((size if learned else 1,), math.log(scale))
        if learned:
            self.log_scale = nn.Parameter(log_scale)
        else:
            self.register_buffer("log_scale", log_scale)

    @property
    def scale(self) -> Tensor:
        """ν."""
        return self.log_scale.exp()

    @property
    def is_standard(self) -> bool:
        """Whether ν is 1 and stays so: then nothing is divided by it, as steps of small machines are mostly calls."""
        return not isinstance(self.log_scale, nn.Parameter) and self.log_scale.item() == 0.0

    def statistic(self, y: Tensor) -> Tensor:
        return y if self.is_standard else y / self.scale

    def base(self, y: Tensor) -> Tensor:
        return -0.5 * (self.statistic(y) ** 2).sum(dim=1)

    def noise_base(self) -> Tensor:
        ratio = (self.scale.detach() / self.scale) ** 2
        return -0.5 * ratio.sum() * (self.size / ratio.numel())

    def log_partition(self, eta: Tensor) -> Tensor:
        return (0.5 * eta**2 + self.log_scale + 0.5 * math.log(2 * math.pi)).sum(dim=1)

    def mean(self, eta: Tensor) -> Tensor:
        return eta if self.is_standard else eta * self.scale

    def sample(self, eta: Tensor, generator: torch.Generator | None = None) -> Tensor:
        noise = torch.randn(eta.shape, generator=generator, dtype=eta.dtype, device=eta.device)
        return self.mean(eta + noise)


class PoissonUnits(Units):
    """Counts."""

    def base(self, y: Tensor) -> Tensor:
        return -torch.lgamma(y + 1).sum(dim=1)

    def log_partition(self, eta: Tensor) -> Tensor:
        return self.mean(eta).sum(dim=1)

    def mean(self, eta: Tensor) -> Tensor:
        return eta.clamp(max=_LARGEST_RATE).exp()

    def sample(self, eta: Tensor, generator: torch.Generator | None = None) -> Tensor:
        return torch.poisson(self.mean(eta), generator=generator)

    def mode(self, eta: Tensor) -> Tensor:
        return self.mean(eta).floor()


class MultinomialUnits(Units):
    """One of ``levels`` in each group; groups are ``levels`` neighbouring columns, one-hot."""

    def __init__(self, size: int, *, levels: int | None = None) -> None:
        super().__init__(size)
        self.levels = size if levels is None else levels
        if size % self.levels:
            rule = f"does not divide the {size} columns"
            raise ValueError(
                error_message("MultinomialUnits", "levels", self.levels, rule, "Give the columns of one group")
            )

    def _groups(self, eta: Tensor) -> Tensor:
        return eta.reshape(len(eta), -1, self.levels)

    def log_partition(self, eta: Tensor) -> Tensor:
        return torch.logsumexp(self._groups(eta), dim=2).sum(dim=1)

    def mean(self, eta: Tensor) -> Tensor:
        return torch.softmax(self._groups(eta), dim=2).reshape(eta.shape)

    def sample(self, eta: Tensor, generator: torch.Generator | None = None) -> Tensor:
        draws = torch.rand(eta.shape, generator=generator, dtype=eta.dtype, device=eta.device)
        gumbel = -torch.log(-torch.log(draws.clamp(1e-12, 1 - 1e-7)))
        return self.mode(eta + gumbel)

    def mode(self, eta: Tensor) -> Tensor:
        groups = self._groups(eta)
        return functional.one_hot(groups.argmax(dim=2), self.levels).to(eta.dtype).reshape(eta.shape)


KINDS = ("binary", "gaussian", "gaussian-learned", "poisson", "multinomial")


def units(kind: str, size: int, **options: float) -> Units:
    """Units by name: one of ``KINDS``.

    >>> units("binary", 3).mean(torch.zeros(1, 3)).tolist()
    [[0.5, 0.5, 0.5]]
    """
    if kind == "gaussian-learned":
        return GaussianUnits(size, learned=True, **options)
    kinds: dict[str, type[Units]] = {
        "binary": BinaryUnits,
        "gaussian": GaussianUnits,
        "poisson": PoissonUnits,
        "multinomial": MultinomialUnits,
    }
    return kinds[kind](size, **options)
