"""Samples (sequences or images) for a patch model: validated, split into training and held-out parts, scaled."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from torch import nn

from sidelight.base.messages import error_message
from sidelight.base.types import NamedValues
from sidelight.maps.frames import Frame

from ._architecture import Architecture
from ._batches import Batch, Place
from ._fields import STRUCTURES, Fields, as_fields, crops
from ._patches import Patches
from ._values import ValueKind

__all__ = ["FEWER", "JUDGED", "FieldFrames", "FieldLayout", "FieldReader"]


JUDGED, FEWER = 200, 50
"""Numbers of crops of held-out samples; fewer where training ends by itself and looks more often."""


@dataclass(frozen=True)
class FieldLayout:
    """Layout of patches on samples: size and ``stride`` of patches, ``structure`` of samples, kind of outputs."""

    height: int
    width: int
    stride: int
    structure: str
    residual: bool
    """Whether outputs are modelled as differences from the inputs."""

    @property
    def patches(self) -> Patches:
        """All patches of a sample."""
        return Patches(self.height, self.width, self.stride)

    @property
    def area(self) -> int:
        """Number of sites of a patch."""
        return self.height * self.width

    @property
    def patch_size(self) -> int | tuple[int, int]:
        """As the constructor takes it."""
        return self.height if self.structure == "sequence" or self.height == self.width else (self.height, self.width)

    @property
    def options(self) -> NamedValues:
        """The same by the names of constructor parameters."""
        return {"patch_size": self.patch_size} | {
            name: vars(self)[name] for name in ("stride", "structure", "residual")
        }

    def places(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """Numbers of patches of a padded sample: down and across an image, or along a sequence."""
        beyond = (shape[0] - self.height, shape[1] - self.width)
        found = tuple(-(-part // self.stride) + 1 for part in beyond)
        return found[: STRUCTURES[self.structure]]

    def crop(self, fields: Fields, wanted: int | None) -> tuple[int, int]:
        """Height and width of a crop: ``wanted`` or three patches, at most the smallest sample, ending with a patch."""
        smallest = np.array(fields.shapes).min(axis=0)
        sides = (self.height, self.width)
        asked = [min(wanted or 3 * side, int(limit)) for side, limit in zip(sides, smallest, strict=True)]
        height, width = (w - (w - side) % self.stride for w, side in zip(asked, sides, strict=True))
        return height, width

    def cut(self, kinds: list[Fields], crop: int | None, n: int, seed: int, place: Place, number: int = 0) -> Batch:
        """Batch ``number`` of ``n`` crops."""
        return next(crops(kinds, self.crop(kinds[0], crop), n, seed, place, done=number))

    def split(self, kinds: list[Fields], fraction: float) -> tuple[list[Fields], list[Fields] | None]:
        """Fields to train on and held-out fields: the last ``fraction`` of each field that is long enough for both."""
        least = self.height
        cuts = [int(h * (1 - fraction)) for h, _ in kinds[0].shapes]
        fine = [least <= cut <= h - least for cut, (h, _) in zip(cuts, kinds[0].shapes, strict=True)]
        if not fraction or not any(fine):
            return kinds, None
        cut_at = [cut if good else h for cut, good, (h, _) in zip(cuts, fine, kinds[0].shapes, strict=True)]
        seen, held = [], []
        for kind in kinds:
            pairs = [(s[:cut], s[cut:]) for s, cut in zip(kind.samples, cut_at, strict=True)]
            seen.append(Fields(tuple(first for first, _ in pairs), kind.structure, kind.bare, False))
            rest = tuple(last for _, last in pairs if len(last))
            held.append(Fields(rest, kind.structure, kind.bare, False))
        return seen, held

    def split_blocks(self, kinds: list[Fields]) -> tuple[list[Fields], list[Fields] | None]:
        """Fields to train on and held-out fields: every fifth block of each field, or every fifth of many short fields.

        A block is a twentieth of a field, or two patches. Blocks from all over a field, and not its end, because what
        changes slowly would otherwise be judged where it was never seen.
        """
        seen: list[Piece] = []
        held: list[Piece] = []
        for number, (h, _) in enumerate(kinds[0].shapes):
            length, begin = max(2 * self.height, h // _BLOCKS), 0
            for block in range(2, h // length, _EVERY) if h // length >= _EVERY else ():
                seen.append((number, begin, block * length))
                begin = (block + 1) * length
                held.append((number, block * length, begin))
            if h - begin >= 3 * self.height or begin == 0:
                seen.append((number, begin, h))
        if not held and len(seen) >= _EVERY:
            seen, held = [seen[i] for i in range(len(seen)) if i % _EVERY != 2], seen[2::_EVERY]
        if not held:
            return kinds, None
        return [_cut(kind, seen) for kind in kinds], [_cut(kind, held) for kind in kinds]


Piece = tuple[int, int, int]
"""Number of a field, first and last row."""
_BLOCKS, _EVERY = 20, 5


def _cut(fields: Fields, pieces: list[Piece]) -> Fields:
    """Pieces of fields, as fields."""
    samples = tuple(fields.samples[number][begin:end] for number, begin, end in pieces)
    return Fields(samples, fields.structure, fields.bare, False)


@dataclass(frozen=True)
class FieldFrames:
    """Channels of inputs and outputs and their frames; ``bare``: outputs have no axis for channels."""

    n_in: int
    n_out: int
    bare: bool
    inputs: Frame
    outputs: Frame

    @classmethod
    def of(cls, kinds: list[Fields], architecture: Architecture[nn.Module]) -> FieldFrames:
        """Those that samples define."""
        X, Y = kinds[0], kinds[min(1, len(kinds) - 1)]
        inputs = X.frame(scaled=architecture.scales_inputs(X.sites()))
        return cls(X.channels, Y.channels, Y.bare, inputs, Y.frame(scaled=architecture.values.is_real))


@dataclass(frozen=True)
class FieldReader:
    """Checks samples; ``owner`` is the estimator's name, ``is_conditional``: there are outputs beside inputs."""

    owner: str
    layout: FieldLayout
    values: ValueKind
    is_conditional: bool = True

    def samples(self, X: object, Y: object = None, *others: object) -> list[Fields]:
        """Inputs, outputs and first guesses whose sizes and values belong together; outputs as residuals if asked."""
        inputs = self.fields("X", X)
        if not self.is_conditional:
            return [self.checked("X", inputs)]
        named = zip(("y", "guess"), (Y, *others), strict=False)
        found = [self.checked(name, self.like(name, part, inputs)) for name, part in named]
        if self.layout.residual and inputs.channels != found[0].channels:
            rule = f"needs as many channels in y ({found[0].channels}) as in X ({inputs.channels})"
            raise ValueError(error_message(self.owner, "residual", True, rule, "Set residual=False"))
        return [inputs, *(self.difference(part, inputs) for part in found)]

    def inside(self, kinds: list[Fields], frames: FieldFrames) -> list[Fields]:
        """Samples, centred and scaled; they must have the channels of the frames."""
        self.with_channels("X", kinds[0], frames.n_in)
        for name, part in zip(("y", "guess"), kinds[1:], strict=False):
            self.with_channels(name, part, frames.n_out)
        return [kinds[0].changed(frames.inputs.inside), *(kind.changed(frames.outputs.inside) for kind in kinds[1:])]

    def difference(self, outputs: Fields, inputs: Fields) -> Fields:
        """Outputs minus inputs if outputs are residuals, else outputs unchanged."""
        return outputs.changed(np.subtract, inputs) if self.layout.residual else outputs

    def fields(self, name: str, samples: object) -> Fields:
        """Samples, all of them at least as large as a patch."""
        layout = self.layout
        fields = as_fields(self.owner, name, samples, layout.structure)
        for height, width in fields.shapes:
            if height < layout.height or width < layout.width:
                sites = f"{height} x {width}" if layout.structure == "grid" else f"{height}"
                rule = f"is smaller than patch_size={layout.patch_size}"
                remedy = "Give larger samples, or smaller patches"
                raise ValueError(error_message(self.owner, name, f"sample of {sites} sites", rule, remedy))
        return fields

    def like(self, name: str, samples: object, inputs: Fields) -> Fields:
        """Samples as large as the inputs."""
        fields = self.fields(name, samples)
        if fields.shapes != inputs.shapes:
            rule = "does not have the sizes of X, sample by sample"
            remedy = "Give one value per site of X"
            raise ValueError(error_message(self.owner, name, f"samples of {fields.shapes}", rule, remedy))
        return fields

    def checked(self, name: str, fields: Fields) -> Fields:
        """Fields whose values are of the kind that is modelled."""
        for sample in fields.samples:
            self.values.check(self.owner, name, sample.reshape(-1, fields.channels))
        return fields

    def with_channels(self, name: str, fields: Fields, channels: int) -> Fields:
        """Fields that have as many channels as those of the fit."""
        if fields.channels != channels:
            rule = f"does not match the {channels} channels of the fit"
            raise ValueError(
                error_message(self.owner, name, f"{fields.channels} channels", rule, "Give the same channels")
            )
        return fields
