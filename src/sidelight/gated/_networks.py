r"""Torch modules of the auto-encoders: plain, gated by an input, and after a predictor.

    plain    z = a(y A + a₀),                  ŷ = z W + b₀;   deep: networks for both                     (S0 2.2.1)
    gated    z = a(Σ_ij A_ijk φ_i y_j + b_z),  ŷ = Σ_ik W_ijk φ_i z_k + b_y,   φ = φ(x)                    (S0 6.3, 6.4)
             b_z = A^xz φ + A^yz y + A^z,      b_y = W^xy φ + W^zy z + W^y: each can be switched off
    biased   ŷ = decode(encode(p(x))):  an auto-encoder applied to the output of a predictor             (S0 fig. 6.1 b)

A code k sums over i and j only (the source's formula below 6.3 also sums over k). Three-way weights are full or
factored, as in ``_interactions.py``; they are contracted with an input once, however many outputs are encoded with it.

Every network returns raw outputs r; ``error`` and ``finished`` interpret them, like the unit types of ``_units.py``:

    squared         numbers                 mean (r - y)²                          Gaussian, up to a constant
    cross-entropy   log odds                mean log(1 + e^r) - r y                binary
    multinomial     scores of the levels    mean of -Σ y log softmax(r)            multinomial

(means over rows and columns; multinomial y are one-hot rows, groups side by side, or probabilities)
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from ._interactions import Contracted, FactoredInteraction, FullInteraction
from ._premapping import layers
from ._units import MultinomialUnits

__all__ = [
    "ACTIVATIONS",
    "LOSSES",
    "PATHS",
    "AutoencoderNetwork",
    "BiasedNetwork",
    "ConditionedCode",
    "GatedNetwork",
    "decayed_parameters",
    "error",
    "finished",
    "half_squares",
    "is_decayed",
    "total_weight",
]

ACTIVATIONS: dict[str, type[nn.Module]] = {
    "linear": nn.Identity,
    "sigmoid": nn.Sigmoid,
    "tanh": nn.Tanh,
    "relu": nn.ReLU,
}
LOSSES = ("squared", "cross-entropy", "multinomial")
PATHS = ("xz", "yz", "z", "xy", "zy", "y")
"""Generalised biases of a gated auto-encoder: those of the codes, and those of the outputs."""


def error(loss: str, raw: Tensor, target: Tensor, levels: int | None = None) -> Tensor:
    """Mean loss of raw outputs against targets, a scalar. ``levels``: columns of a multinomial group; None: all."""
    if loss == "squared":
        return functional.mse_loss(raw, target)
    if loss == "cross-entropy":
        return functional.binary_cross_entropy_with_logits(raw, target)
    family = MultinomialUnits(raw.shape[1], levels=levels)
    return (family.log_partition(raw) - (raw * target).sum(dim=1)).mean() / raw.shape[1]


def finished(loss: str, raw: Tensor, levels: int | None = None) -> Tensor:
    """Outputs from raw ones: unchanged for "squared", else probabilities."""
    if loss == "squared":
        return raw
    return torch.sigmoid(raw) if loss == "cross-entropy" else MultinomialUnits(raw.shape[1], levels=levels).mean(raw)


class AutoencoderNetwork(nn.Module):
    """An encoder with layers of ``sizes``, from columns (first) to code (last), and a decoder in reverse.

    Outputs are linear, and so is the code, unless it has an activation ``code``. ``tied``: the decoder has the
    transposed weights of the encoder.
    """

    def __init__(
        self, sizes: tuple[int, ...], activation: str = "tanh", *, tied: bool = False, code: str = "linear"
    ) -> None:
        super().__init__()
        self.code = ACTIVATIONS[code]()
        self.encoder = layers(sizes, ACTIVATIONS[activation])
        if tied:
            self.decoder: nn.Module = _Transposed(sizes[::-1], ACTIVATIONS[activation])
        else:
            self.decoder = layers(sizes[::-1], ACTIVATIONS[activation])
        self.tied = tied

    def encode(self, y: Tensor) -> Tensor:
        """Codes (n, q)."""
        return self.code(self.encoder(y))

    def decode(self, z: Tensor) -> Tensor:
        """Raw outputs (n, j)."""
        if self.tied:
            weights = [layer.weight for layer in self.encoder if isinstance(layer, nn.Linear)]
            return self.decoder(z, weights[::-1])
        return self.decoder(z)

    def forward(self, y: Tensor) -> Tensor:
        """Raw reconstructions (n, j)."""
        return self.decode(self.encode(y))

    def code_size(self, y: Tensor) -> Tensor:
        """Mean over rows of Σ_k |z_k| |w_k|, a scalar; w_k: weights of code k in the first layer of the decoder.

        The same for codes twice as large and weights half as large: Σ_k |z_k| of a decoder with |w_k| = 1.
        """
        if self.tied:
            last = [layer for layer in self.encoder if isinstance(layer, nn.Linear)][-1]
            sizes = torch.linalg.vector_norm(last.weight, dim=1)
        else:
            sizes = torch.linalg.vector_norm(self.decoder[0].weight, dim=0)
        return (self.encode(y).abs() * sizes).sum(dim=1).mean()


class _Transposed(nn.Module):
    """Layers whose weights are another network's, transposed."""

    def __init__(self, sizes: tuple[int, ...], activation: type[nn.Module]) -> None:
        super().__init__()
        self.biases = nn.ParameterList([torch.zeros(size) for size in sizes[1:]])
        self.activation = activation()

    def forward(self, z: Tensor, weights: list[Tensor]) -> Tensor:
        for bias, weight in list(zip(self.biases, weights, strict=True))[:-1]:
            z = self.activation(functional.linear(z, weight.T, bias))
        return functional.linear(z, weights[-1].T, self.biases[-1])


@dataclass(frozen=True)
class ConditionedCode:
    """The auto-encoder of each input: weights to codes and to outputs, and input-dependent biases."""

    encoding: Contracted
    decoding: Contracted
    code_bias: Tensor
    output_bias: Tensor
    plain_encoding: Tensor | None
    plain_decoding: Tensor | None
    activation: nn.Module

    def encode(self, y: Tensor) -> Tensor:
        """Codes z (n, k) of outputs y (n, j)."""
        total = self.encoding.to_hidden(y) + self.code_bias
        return self.activation(total if self.plain_encoding is None else total + y @ self.plain_encoding)

    def decode(self, z: Tensor) -> Tensor:
        """Raw outputs (n, j) of codes z (n, k)."""
        total = self.decoding.to_visible(z) + self.output_bias
        return total if self.plain_decoding is None else total + z @ self.plain_decoding

    def project(self, y: Tensor) -> Tensor:
        """Project y onto the manifold conditional on its input: raw outputs (n, j)."""
        return self.decode(self.encode(y))


class GatedNetwork(nn.Module):
    """A(x) and W(x) are linear in x, or in its ``premapping``; an optional ``predictor`` gives first guesses."""

    def __init__(
        self,
        n_inputs: int,
        n_outputs: int,
        n_mapping: int,
        *,
        n_factors: int | None = None,
        activation: str = "sigmoid",
        biases: Collection[str] = PATHS,
        premapping: nn.Module | None = None,
        predictor: nn.Module | None = None,
    ) -> None:
        super().__init__()
        self.premapping, self.predictor = premapping, predictor
        self.activation = ACTIVATIONS[activation]()
        shape = (n_inputs, n_outputs, n_mapping)
        if n_factors is None:
            self.encoding: FullInteraction | FactoredInteraction = FullInteraction(*shape)
            self.decoding: FullInteraction | FactoredInteraction = FullInteraction(*shape)
        else:
            self.encoding = FactoredInteraction(*shape, n_factors)
            self.decoding = FactoredInteraction(*shape, n_factors)
        self.to_code, self.to_output = _biases(biases, "z", shape), _biases(biases, "y", shape)

    def condition(self, x: Tensor) -> ConditionedCode:
        """The auto-encoder of each input (n, i)."""
        phi = x if self.premapping is None else self.premapping(x)
        return ConditionedCode(
            self.encoding.contract(phi),
            self.decoding.contract(phi),
            _bias(phi, self.to_code, "z", x),
            _bias(phi, self.to_output, "y", x),
            self.to_code.get("yz"),
            self.to_output.get("zy"),
            self.activation,
        )


def _biases(wanted: Collection[str], target: str, shape: tuple[int, int, int]) -> nn.ParameterDict:
    sizes = dict(zip("xyz", shape, strict=True))
    found = nn.ParameterDict()
    for name in PATHS:
        if name in wanted and name[-1] == target:
            kind = torch.zeros(sizes[target]) if len(name) == 1 else torch.zeros(sizes[name[0]], sizes[target])
            if name in ("yz", "zy"):
                torch.nn.init.normal_(kind, std=0.1)  # codes with equal initial weights would stay equal
            found[name] = nn.Parameter(kind)
    return found


def _bias(phi: Tensor, biases: nn.ParameterDict, target: str, like: Tensor) -> Tensor:
    constant = biases[target] if target in biases else like.new_zeros(1)
    return constant if f"x{target}" not in biases else phi @ biases[f"x{target}"] + constant


class BiasedNetwork(nn.Module):
    """A predictor followed by an auto-encoder of outputs (None: the predictor alone)."""

    def __init__(
        self,
        sizes: tuple[int, ...],
        autoencoder: AutoencoderNetwork | None,
        activation: str = "tanh",
        *,
        loss: str = "squared",
        levels: int | None = None,
    ) -> None:
        super().__init__()
        self.loss, self.levels = loss, levels
        self.predictor = layers(sizes, ACTIVATIONS[activation])
        self.autoencoder = autoencoder

    def guess(self, x: Tensor) -> Tensor:
        """Output of the predictor alone (n, j)."""
        return self.predictor(x)

    def forward(self, x: Tensor) -> Tensor:
        """Output of the predictor, reconstructed by the auto-encoder: raw outputs (n, j)."""
        raw = self.guess(x)
        return raw if self.autoencoder is None else self.autoencoder(finished(self.loss, raw, self.levels))


def total_weight(module: nn.Module, *, biases: bool = False) -> Tensor:
    """½ Σ W² over weights, and over ``biases`` if asked: the weight decay penalty."""
    return half_squares(decayed_parameters(module, biases=biases))


def decayed_parameters(module: nn.Module, *, biases: bool = False) -> list[nn.Parameter]:
    """The parameters that weight decay applies to."""
    return [p for name, p in module.named_parameters() if is_decayed(name, p, biases=biases)]


def half_squares(parameters: list[nn.Parameter]) -> Tensor:
    """½ Σ W² over parameters, a scalar."""
    return 0.5 * torch.stack([(p**2).sum() for p in parameters]).sum()


def is_decayed(name: str, parameter: Tensor, *, biases: bool = False) -> bool:
    """Whether weight decay applies: to weights, and to ``biases`` if asked; never to standard deviations."""
    return parameter.dim() > 1 or (biases and not name.endswith("log_scale"))
