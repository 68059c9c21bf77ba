"""Samples with a model's outputs: inputs, true outputs, predicted outputs.

Models are distinguished by their methods, not by their class:

    transfer, and no predictor    the output seen through mapping units    transfer(X, y, X)
    predict                       the output of an input                   predict(X)
    denoise, reconstruct          a row through its code                   denoise(X), reconstruct(X)

A model with ``n_channels_in_`` takes fields (sequences, or pictures of any size), others take rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidelight.base.capabilities import capabilities
from sidelight.base.messages import error_message
from sidelight.base.model import FittedModel
from sidelight.plot._colouring import column_names
from sidelight.plot._pictures import Bytes, check_image_shape, range_of, shrink, to_pictures

__all__ = ["Examples", "examples_of", "machine_of", "rows_of"]

Array = NDArray[Any]

MOST_ROWS, MOST_FIELDS = 2000, 8
"""Samples that are looked at."""
SHOWN_ROWS, SHOWN_FIELDS = 12, 4
"""Samples that are drawn."""
PICTURE_SIDE, FIELD_SIDE = 48, 160
"""Longer side of a picture in pixels: of a row, of a field."""


@dataclass(frozen=True)
class Examples:
    """Samples, in the form the model takes them. ``outputs`` is None for a model that gives its inputs back."""

    model: FittedModel
    inputs: Any
    outputs: Any
    structure: str
    """"rows", "sequence" or "grid"."""
    image_shape: tuple[int, ...] | None
    output_names: tuple[str, ...]

    def __len__(self) -> int:
        """How many samples there are."""
        return len(self.inputs)

    @property
    def paired(self) -> bool:
        """Whether an output belongs to each input."""
        return self.outputs is not None

    @property
    def sees_outputs(self) -> bool:
        """Whether the model looks at the output, through its mapping units, to give it back."""
        return _through_mapping(self.model)

    @cached_property
    def halves(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Rows that rivals learn from, and rows that all are measured on; of fields, all are in both."""
        if self.structure != "rows":
            some = np.unique(np.linspace(0, len(self) - 1, min(len(self), MOST_FIELDS)).astype(np.intp))
            return some, some
        order = np.random.default_rng(0).permutation(len(self))[:MOST_ROWS]
        half = len(order) // 2
        return np.sort(order[:half]), np.sort(order[half:])

    @cached_property
    def shown(self) -> NDArray[np.intp]:
        """Samples that are drawn, among those that are measured."""
        measured = self.halves[1]
        most = SHOWN_ROWS if self.structure == "rows" else SHOWN_FIELDS
        return measured[np.unique(np.linspace(0, len(measured) - 1, min(len(measured), most)).astype(np.intp))]

    def before(self, which: NDArray[np.intp]) -> list[Array]:
        """Some inputs."""
        return [np.asarray(sample) for sample in _each(_taken(self.inputs, which))]

    def after(self, which: NDArray[np.intp]) -> list[Array]:
        """The true outputs of some inputs."""
        return self.before(which) if self.outputs is None else list(_each(_taken(self.outputs, which)))

    def made(self, which: NDArray[np.intp]) -> list[Array]:
        """The model's outputs for some inputs."""
        X = _taken(self.inputs, which)
        if self.outputs is not None and self.sees_outputs:
            found = self.model.transfer(X, _taken(self.outputs, which), X)
        else:
            found = _given_back(self.model, X)
        return [sample.reshape(like.shape) for sample, like in zip(_each(found), self.after(which), strict=True)]

    def transferred(self, pair: int, which: NDArray[np.intp]) -> list[Array]:
        """Some inputs after the transformation of one pair."""
        one = np.array([pair])
        X, Y = _taken(self.inputs, one), _taken(self.outputs, one)
        return _each(self.model.transfer(X, Y, _taken(self.inputs, which)))

    def flow(self, which: NDArray[np.intp], shape: tuple[int, int]) -> Array:
        """Steps down and to the right (n, height, width, 2) of the pixels of some inputs, in their pairs."""
        X, Y = _taken(self.inputs, which), _taken(self.outputs, which)
        return np.asarray(self.model.flow(X, Y, shape=shape))

    @cached_property
    def limits(self) -> tuple[float, float]:
        """Values that are black and white."""
        seen = [sample.ravel() for part in (self.before, self.after) for sample in part(self.halves[1])]
        return range_of(np.concatenate(seen))

    @property
    def n_inputs(self) -> int:
        """Values of an input; of fields, channels."""
        return _width(self.before(np.arange(1))[0], self.structure)

    @property
    def n_outputs(self) -> int:
        """Values of an output; of fields, channels."""
        return _width(self.after(np.arange(1))[0], self.structure)

    def shape_of(self, sample: Array) -> tuple[int, ...] | None:
        """The shape of a sample's picture; None for one that is no picture."""
        if self.structure == "sequence":
            return None
        if self.structure == "grid":
            return sample.shape[:2]
        fits = self.image_shape is not None and int(np.prod(self.image_shape)) == sample.size
        return self.image_shape if fits else None

    def pictures(self, samples: list[Array]) -> list[Bytes] | None:
        """Samples as pictures, the first channel of fields; None where they are none."""
        if not samples or any(self.shape_of(sample) is None for sample in samples):
            return None
        side = PICTURE_SIDE if self.structure == "rows" else FIELD_SIDE
        drawn = []
        for sample in samples:
            values = sample[..., 0] if self.structure == "grid" and sample.ndim == 3 else sample
            shape = self.shape_of(sample)
            assert shape is not None
            drawn.append(shrink(to_pictures(values.reshape(1, -1), shape, self.limits), side)[0])
        return drawn


def examples_of(model: FittedModel, X: Any, y: Any, image_shape: Any, *, embedded: bool) -> Examples | None:
    """Validate ``X`` and ``y``, and return them in the model's format; None if the model has no outputs.

    ``embedded``: there is a map to show, so that a model that makes outputs can do without them.
    """
    offers = capabilities(model)
    if y is not None and not offers.makes_outputs:
        rule = f"is not for a {type(model).__name__}, which does not predict outputs"
        raise ValueError(error_message("report", "y", f"{len(y)} rows", rule, "Leave it out"))
    if offers.makes_outputs and not embedded and (X is None or y is None):
        name, missing = ("X", "inputs") if X is None else ("y", "outputs")
        rule = f"leaves out the {missing} for a {type(model).__name__}, which predicts outputs from inputs"
        raise ValueError(error_message("report", name, None, rule, "Pass both, X= and y="))
    if X is None or (y is None and (offers.makes_outputs or not offers.gives_back)):
        return None
    structure = str(model.structure) if offers.takes_fields else "rows"
    inputs = X if structure != "rows" or column_names(X) else rows_of(X, "X")
    outputs = y if structure != "rows" or y is None else rows_of(y, "y")
    if outputs is not None and len(outputs) != len(inputs):
        rule = f"is not one output for each of the {len(inputs)} inputs"
        raise ValueError(error_message("report", "y", f"{len(outputs)} rows", rule, "Pass pairs"))
    names = tuple(str(name) for name in column_names(X if y is None else y))
    examples = Examples(model, inputs, outputs, structure, None, names)
    if image_shape is None or structure != "rows":
        return examples
    widths = examples.n_inputs, examples.n_outputs
    fits = next((width for width in widths if int(np.prod(image_shape)) == width), widths[0])
    return Examples(model, inputs, outputs, structure, check_image_shape(image_shape, fits, "report"), names)


def rows_of(X: Any, name: str) -> Array:
    """Return a table of numbers as an array, or say that it is none."""
    if hasattr(X, "toarray"):
        X = X.toarray()
    rows = np.asarray(X)
    if name == "y" and rows.ndim == 1:
        rows = rows[:, None]
    if rows.ndim != 2 or rows.dtype.kind not in "biuf":
        seen = f"array of shape {rows.shape} and type {rows.dtype}"
        rule, remedy = "is not a table of numbers", "Pass what the model was fitted on"
        raise ValueError(error_message("report", name, seen, rule, remedy))
    return rows


def machine_of(model: FittedModel) -> Any:
    """Return the model itself; of a field, that of its patches."""
    return model.model_ if capabilities(model).takes_fields else model


def _through_mapping(model: FittedModel) -> bool:
    return capabilities(model).has_transfer and not capabilities(machine_of(model)).has_predictor


def _given_back(model: FittedModel, X: Any) -> Any:
    """Outputs that a model predicts of inputs, or the inputs again through their code."""
    offers = capabilities(model)
    if offers.has_predict:
        return model.predict(X)
    return model.denoise(X) if offers.has_denoise else model.reconstruct(X)


def _taken(samples: Any, which: NDArray[np.intp]) -> Any:
    """Some samples, in the form they came in: a frame keeps the names of its columns."""
    if hasattr(samples, "iloc"):
        return samples.iloc[which]
    return [samples[k] for k in which] if isinstance(samples, list | tuple) else samples[which]


def _each(samples: Any) -> list[Array]:
    whole = samples if isinstance(samples, list | tuple) else np.asarray(samples)
    return [np.asarray(sample) for sample in whole]


def _width(sample: Array, structure: str) -> int:
    axes = {"rows": 0, "sequence": 1, "grid": 2}[structure]
    return 1 if sample.ndim == axes else int(sample.shape[-1])
