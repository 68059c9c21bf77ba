r"""The filters of a model, read from its ``parameters_``.

    rows          z = t(Σ_j W_jk y_j)                       the column k of W
    factored      Σ_f (Σ_i W^x_if x_i) (Σ_j W^y_jf y_j) ..  the columns f of W^x and W^y, which belong together
    of an input   Ŵ_jk(x) = Σ_i W_ijk x_i + W^yz_jk         the column k of Ŵ(x): a filter that the input has made
    of a unit     W_ij for one k                            for each input value, a filter of the output

Networks have those of the layer next to the data.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from sidelight.plot._plane import Floats

__all__ = ["FilterSet", "ThreeWay", "filter_sets", "strongest", "three_way"]


@dataclass(frozen=True)
class FilterSet:
    """Filters (n, values) of inputs or of outputs, and what they are."""

    title: str
    words: str
    weights: Floats


@dataclass(frozen=True)
class ThreeWay:
    """The weights between inputs, outputs and mapping units: full (i, j, k), or three factors (·, f)."""

    full: Floats | None
    factors: tuple[Floats, Floats, Floats] | None
    common: Floats | None
    """W^yz (j, k): the part that no input changes."""

    def of_input(self, x: Floats) -> Floats:
        """Filters (k, j) of an input (i,), in the frame of the model."""
        if self.full is not None:
            made: Floats = np.einsum("i,ijk->kj", x, self.full)
        else:
            assert self.factors is not None
            inputs, visible, hidden = self.factors
            made = (hidden * (x @ inputs)) @ visible.T
        return made if self.common is None else made + self.common.T

    def of_unit(self, k: int) -> Floats:
        """Filters (i, j) of a mapping unit."""
        if self.full is not None:
            return np.asarray(self.full[:, :, k])
        assert self.factors is not None
        inputs, visible, hidden = self.factors
        return np.asarray((inputs * hidden[k]) @ visible.T)

    @property
    def sizes(self) -> Floats:
        """How strong each mapping unit is (k,)."""
        if self.full is not None:
            return np.asarray(np.sqrt(np.square(self.full).sum(axis=(0, 1))))
        assert self.factors is not None
        inputs, visible, hidden = self.factors
        together = (inputs.T @ inputs) * (visible.T @ visible)
        return np.asarray(np.sqrt(np.einsum("kf,fg,kg->k", hidden, together, hidden)))


def three_way(parameters: Mapping[str, Any]) -> ThreeWay | None:
    """The three-way weights of a gated machine or of the decoder of a gated auto-encoder, where there are such."""
    name = next((name for name in ("gated", "decoding") if any(key.startswith(f"{name}.") for key in parameters)), None)
    if name is None:
        return None
    common = parameters.get("tie.weights")
    if common is None and "to_output.zy" in parameters:
        common = np.asarray(parameters["to_output.zy"]).T
    shared = None if common is None else _floats(common)
    if f"{name}.weights" in parameters:
        return ThreeWay(_floats(parameters[f"{name}.weights"]), None, shared)
    inputs, visible, hidden = (_floats(parameters[f"{name}.{part}"]) for part in ("inputs", "visible", "hidden"))
    return ThreeWay(None, (inputs, visible, hidden), shared)


def filter_sets(parameters: Mapping[str, Any]) -> list[FilterSet]:
    """The filters that no input changes, the strongest first."""
    gated = three_way(parameters)
    if gated is not None:
        return _of_factors(gated, any(name.startswith("premapping.") for name in parameters))
    if "tie.weights" in parameters:
        words = "Weights between a hidden unit and the columns of a row."
        return [FilterSet("Hidden units", words, _sorted(_floats(parameters["tie.weights"]).T))]
    found = []
    first, last = _layer(parameters, r"(predictor|encoder)\.0\.weight"), _last_layer(parameters)
    if first is not None:
        found.append(FilterSet("First layer", "Input weights of each unit.", _sorted(first)))
    if last is not None:
        found.append(FilterSet("Last layer", "Output weights of each unit.", _sorted(last.T)))
    return found


def strongest(filters: Floats) -> Floats:
    """Return each filter by its own largest weight: -1 to 1."""
    largest = np.abs(filters).max(axis=1, keepdims=True)
    scaled: Floats = filters / np.where(largest > 0, largest, 1.0)
    return scaled


def _of_factors(gated: ThreeWay, premapped: bool) -> list[FilterSet]:
    if gated.factors is None:
        return []
    inputs, visible, hidden = gated.factors
    order = np.argsort(-np.linalg.norm(inputs, axis=0) * np.linalg.norm(visible, axis=0), kind="stable")
    del hidden
    of_outputs = FilterSet("Factors: outputs", "Output weights of the factor at the same position.", visible.T[order])
    if premapped:
        return [of_outputs]
    return [FilterSet("Factors: inputs", "Input weights of each factor.", inputs.T[order]), of_outputs]


def _layer(parameters: Mapping[str, Any], pattern: str) -> Floats | None:
    name = next((name for name in parameters if re.fullmatch(pattern, name)), None)
    return None if name is None else _floats(parameters[name])


def _last_layer(parameters: Mapping[str, Any]) -> Floats | None:
    """The layer before the outputs: the decoder's, or that of a predictor which has none after it."""
    for network in ("autoencoder.decoder", "decoder", "predictor"):
        named = [name for name in parameters if re.fullmatch(rf"{re.escape(network)}\.\d+\.weight", name)]
        if named:
            return _floats(parameters[max(named, key=lambda name: int(name.split(".")[-2]))])
    return None


def _sorted(filters: Floats) -> Floats:
    return np.asarray(filters[np.argsort(-np.linalg.norm(filters, axis=1), kind="stable")])


def _floats(values: Any) -> Floats:
    return np.asarray(values, dtype=np.float64)
