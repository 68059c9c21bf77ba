"""What models of fields share: a patch model that brings the training options, and samples of sites with channels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted
from torch import nn

from sidelight.base.fitting import all_or_nothing, all_or_nothing_continued
from sidelight.base.messages import complain

from ._batches import Batch
from ._fields import STRUCTURES, Fields, as_fields, crops
from ._patches import Patches
from ._torch_model import Stream, TorchModel

__all__ = ["FieldModel", "of_model"]

Array = npt.NDArray[Any]
_LOOKED_AT = 200  # crops of held-out samples


def of_model(name: str) -> Any:
    """An option of a field that is its patch model's."""
    return property(lambda field: getattr(field._patch_model(), name))


class FieldModel(TorchModel):
    """One patch model at every site.

    A subclass has ``_default_model()`` and ``_patches()``, and names this class before that of its torch model.
    """

    _widths: tuple[int, ...] = (2,)
    """How many lists of samples a batch may have."""
    model: Any
    patch_size: int | tuple[int, int]
    structure: str = "grid"
    crop: int | None
    optimizer: Any = of_model("optimizer")
    learning_rate: Any = of_model("learning_rate")
    momentum: Any = of_model("momentum")
    weight_decay: Any = of_model("weight_decay")
    batch_size: Any = of_model("batch_size")
    max_iter: Any = of_model("max_iter")
    validation_fraction: Any = of_model("validation_fraction")
    patience: Any = of_model("patience")
    device: Any = of_model("device")
    checkpoint: Any = of_model("checkpoint")
    random_state: Any = of_model("random_state")
    verbose: Any = of_model("verbose")
    callback: Any = of_model("callback")

    @all_or_nothing
    def fit_batches(self, source: Any, *, held_out: Any = None) -> Self:
        """Learn from pairs ``(X, Y)`` of lists of samples that an iterable yields, or a callable makes.

        A batch is what ``fit`` takes: first guesses are a third part, a field without outputs has ``X`` alone. Each is
        one update with ``batch_size`` crops. The scale of channels is that of the first batch. Training ends with the
        iterable, or after ``max_iter`` updates. ``held_out``: one more batch, for early stopping;
        ``validation_fraction`` plays no part.
        """
        self._fit_source(source, held_out)
        return self

    @all_or_nothing_continued
    def partial_fit(self, X: Any, Y: Any = None) -> Self:
        """One update with ``batch_size`` crops of these samples; parameters and optimiser go on from where they are.

        The scale of channels is that of the first call. ``validation_fraction`` and ``checkpoint`` play no part.
        """
        self._continue_fields(X, Y)
        return self

    def _continue_fields(self, *parts: Any) -> None:
        self._check_parameters()
        self._check_stream()
        kinds = self._kinds(*parts) if hasattr(self, "parameters_") else self._begun(*parts)
        seed, number = self._seed(), getattr(self, "n_iter_", 0)
        self._go_on(iter([self._cut(kinds, self.batch_size, seed, number)]))

    def _begun(self, *parts: Any) -> list[Fields]:
        """Samples in frames that they define, for a patch model that has seen nothing."""
        self.model_ = clone(self._patch_model(fitted=False))
        return self._kinds(*parts, reset=True)

    def _opened(self, first: Any) -> list[Fields]:
        return self._begun(*self._members("source", first))

    def _members(self, name: str, batch: Any) -> tuple[Any, ...]:
        """Inputs, outputs and what else belongs to a batch."""
        if not isinstance(batch, tuple | list) or len(batch) not in self._widths:
            rule = "is not a pair of lists of samples"
            raise ValueError(complain(self, name, type(batch).__name__, rule, "Yield (X, Y)"))
        return tuple(batch)

    def _streamed(self, source: Iterator[Any], opening: Sequence[Any], seed: int, done: int) -> Iterator[Batch]:
        del opening
        for number, batch in enumerate(source):
            if number >= done:
                yield self._cut(self._kinds(*self._members("source", batch)), self.batch_size, seed, number)

    def _held(self, rows: Any, opening: Sequence[Any], seed: int) -> Batch:
        del opening
        return self._cut(self._kinds(*self._members("held_out", rows)), _LOOKED_AT, seed)

    def _cut(self, kinds: list[Fields], n: int, seed: int, number: int = 0) -> Batch:
        """Batch ``number`` of ``n`` crops."""
        return next(crops(kinds, self._crop(kinds[0]), n, seed, self._place(), done=number))

    def _fit_crops(self, module: nn.Module, seen: list[Fields], held: list[Fields] | None, seed: int) -> None:
        """Train on crops of framed samples."""
        size, place = self._crop(seen[0]), self._place()
        kept = None if held is None else self._cut(held, _LOOKED_AT, seed)
        stream = Stream(lambda done: crops(seen, size, self.batch_size, seed, place, done=done), kept)
        self._train(module, stream, seed)

    def _kinds(self, X: Any, Y: Any = None, *others: Any, reset: bool = False) -> list[Fields]:
        """Inputs, outputs and what else there is, checked and framed."""
        kinds = self._samples(X, Y, *others)
        inputs, outputs = kinds[0], kinds[min(1, len(kinds) - 1)]
        if reset:
            self.n_channels_in_, self.n_channels_out_, self.bare_ = inputs.channels, outputs.channels, outputs.bare
            self.input_frame_ = inputs.frame(scaled=self._inputs_scaled(inputs.sites()))
            self.output_frame_ = outputs.frame(scaled=self._real)
        self._with_channels("X", inputs, self.n_channels_in_)
        for name, part in zip(("Y", "guess"), kinds[1:], strict=False):
            self._with_channels(name, part, self.n_channels_out_)
        framed = [kind.changed(self.output_frame_.inside) for kind in kinds[1:]]
        return [inputs.changed(self.input_frame_.inside), *framed]

    def _samples(self, X: Any, Y: Any, *others: Any) -> list[Fields]:
        """Samples whose sizes and values belong together."""
        inputs = self._fields("X", X)
        found = [inputs]
        for name, part in zip(("Y", "guess"), (Y, *others), strict=False):
            found.append(self._checked(name, self._like(name, part, inputs)))
        return found

    def _checked(self, name: str, fields: Fields) -> Fields:
        for sample in fields.samples:
            self._check_values(name, sample.reshape(-1, fields.channels))
        return fields

    def _split(self, kinds: list[Fields]) -> tuple[list[Fields], list[Fields] | None]:
        """Fields to train on and fields held out: the last share of each that is long enough for both."""
        least = self._patches().height
        cuts = [int(h * (1 - self.validation_fraction)) for h, _ in kinds[0].shapes]
        fine = [least <= cut <= h - least for cut, (h, _) in zip(cuts, kinds[0].shapes, strict=True)]
        if not self.validation_fraction or not any(fine):
            return kinds, None
        cut_at = [cut if good else h for cut, good, (h, _) in zip(cuts, fine, kinds[0].shapes, strict=True)]
        seen, held = [], []
        for kind in kinds:
            pairs = [(s[:cut], s[cut:]) for s, cut in zip(kind.samples, cut_at, strict=True)]
            seen.append(Fields(tuple(first for first, _ in pairs), kind.structure, kind.bare, False))
            rest = tuple(last for _, last in pairs if len(last))
            held.append(Fields(rest, kind.structure, kind.bare, False))
        return seen, held

    def _crop(self, fields: Fields) -> tuple[int, int]:
        """Size of a crop: what was asked for, as far as the smallest sample goes, ending with a patch."""
        patches, smallest = self._patches(), np.array(fields.shapes).min(axis=0)
        sides = (patches.height, patches.width)
        wanted = [min(self.crop or 3 * side, int(limit)) for side, limit in zip(sides, smallest, strict=True)]
        height, width = (w - (w - side) % patches.stride for w, side in zip(wanted, sides, strict=True))
        return height, width

    def _places(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """How many patches a sample has, down and across or along a sequence, when it is continued to end with one."""
        patches = self._patches()
        beyond = (shape[0] - patches.height, shape[1] - patches.width)
        found = tuple(-(-part // patches.stride) + 1 for part in beyond)
        return found[: STRUCTURES[self.structure]]

    def _default_model(self) -> Any:
        raise NotImplementedError

    def _patches(self) -> Patches:
        raise NotImplementedError

    def _patch_model(self, *, fitted: bool = True) -> Any:
        if fitted and hasattr(self, "model_"):
            return self.model_
        return self._default_model() if self.model is None else self.model

    def _fields(self, name: str, samples: Any) -> Fields:
        """Samples, all of them at least as large as a patch."""
        fields = as_fields(self, name, samples, self.structure)
        patches = self._patches()
        for height, width in fields.shapes:
            if height < patches.height or width < patches.width:
                sites = f"{height} x {width}" if self.structure == "grid" else f"{height}"
                rule = f"is smaller than patch_size={self.patch_size}"
                remedy = "Give larger samples, or smaller patches"
                raise ValueError(complain(self, name, f"sample of {sites} sites", rule, remedy))
        return fields

    def _known(self, name: str, samples: Any) -> Fields:
        """Inputs with the channels of the fit."""
        check_is_fitted(self, "parameters_")
        return self._with_channels(name, self._fields(name, samples), self.n_channels_in_)

    def _with_channels(self, name: str, fields: Fields, channels: int) -> Fields:
        if fields.channels != channels:
            rule = f"does not match the {channels} channels of the fit"
            raise ValueError(complain(self, name, f"{fields.channels} channels", rule, "Give the same channels"))
        return fields

    def _like(self, name: str, samples: Any, inputs: Fields) -> Fields:
        """Samples as large as the inputs."""
        fields = self._fields(name, samples)
        if fields.shapes != inputs.shapes:
            rule = "does not have the sizes of X, sample by sample"
            raise ValueError(complain(self, name, f"samples of {fields.shapes}", rule, "Give one value per site of X"))
        return fields
