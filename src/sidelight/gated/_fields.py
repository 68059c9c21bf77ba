"""Sequences and images in one format: fields (height, width, channels); a sequence has width 1."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from sidelight.base.messages import error_message
from sidelight.base.types import Array, Function
from sidelight.base.validation import refuse_too_large
from sidelight.maps.frames import Frame

from ._batches import Batch, Place
from ._frames import frame_of

__all__ = ["STRUCTURES", "Fields", "Samples", "as_fields", "as_tensor", "crops"]


Samples = Array | list[Array]
"""Samples in the user's format: one array if all have the same size, or a list."""
STRUCTURES = {"sequence": 1, "grid": 2}
"""Axes of a sample without channels."""


@dataclass(frozen=True)
class Fields:
    """Samples (height, width, channels); ``bare``: they had no axis for channels; ``stacked``: they were one array."""

    samples: tuple[Array, ...]
    structure: str
    bare: bool
    stacked: bool

    @property
    def channels(self) -> int:
        return int(self.samples[0].shape[2])

    @property
    def shapes(self) -> list[tuple[int, ...]]:
        return [sample.shape[:2] for sample in self.samples]

    def sites(self) -> Array:
        """All sites of all samples, as rows (sites, channels)."""
        return np.concatenate([sample.reshape(-1, self.channels) for sample in self.samples])

    def changed(self, change: Function[Array], *others: Fields) -> Fields:
        """``change(sample, other samples)`` for each."""
        parts = (self.samples, *(other.samples for other in others))
        return replace(self, samples=tuple(change(*group) for group in zip(*parts, strict=True)))

    def frame(self, *, scaled: bool) -> Frame:
        """The frame of all sites."""
        return frame_of(self.sites(), scaled=scaled)

    def given(self, *, bare: bool) -> Samples:
        """Samples in the user's format: sequences without width, no channels if ``bare``, one array if it was one."""
        listed = [sample[:, 0] if self.structure == "sequence" else sample for sample in self.samples]
        listed = [sample[..., 0] if bare else sample for sample in listed]
        return np.stack(listed) if self.stacked else listed


def as_fields(owner: object, name: str, samples: object, structure: str) -> Fields:
    """Validate samples: finite numbers, all with the same channels."""
    axes = STRUCTURES[structure]
    if isinstance(samples, str) or not isinstance(samples, Sequence | np.ndarray) or len(samples) == 0:
        raise ValueError(
            error_message(owner, name, type(samples).__name__, "is no list of samples", "Give [first, ...]")
        )
    found = [np.asarray(sample) for sample in samples]
    for sample in found:
        if sample.ndim not in (axes, axes + 1) or sample.ndim != found[0].ndim or sample.size == 0:
            rule = f"is not one of a list of {structure} samples of {axes} axes, or {axes + 1} with channels"
            raise ValueError(error_message(owner, name, f"sample of shape {sample.shape}", rule, "Give [first, ...]"))
        if sample.dtype.kind not in "fiub" or not np.isfinite(sample).all():
            rule = "has values that are not finite numbers"
            raise ValueError(error_message(owner, name, f"sample of {sample.dtype}", rule, "Fill or drop them"))
        refuse_too_large(owner, name, sample)
    bare = found[0].ndim == axes
    if not bare and len({sample.shape[-1] for sample in found}) > 1:
        seen = f"{sorted({sample.shape[-1] for sample in found})} channels"
        raise ValueError(error_message(owner, name, seen, "differ from sample to sample", "Give the same channels"))
    dtype = np.float32 if all(sample.dtype == np.float32 for sample in found) else np.float64
    return Fields(tuple(_shaped(s.astype(dtype), axes, bare) for s in found), structure, bare, _is_stack(samples))


def _is_stack(samples: object) -> bool:
    return isinstance(samples, np.ndarray) and samples.dtype != object


def _shaped(sample: Array, axes: int, bare: bool) -> Array:
    whole = sample[..., None] if bare else sample
    return whole[:, None] if axes == 1 else whole


def as_tensor(sample: Array) -> Tensor:
    """A field (height, width, channels) as a tensor (1, channels, height, width)."""
    return torch.as_tensor(np.ascontiguousarray(np.moveaxis(sample, 2, 0)))[None]


def crops(
    fields: Sequence[Fields],
    size: tuple[int, int],
    n: int,
    seed: int,
    place: Place,
    *,
    done: int = 0,
) -> Iterator[Batch]:
    """Endless batches of ``n`` random crops of ``size``, cut from the same position of inputs, outputs and guesses.

    A batch depends only on the seed and its number, so a run can be resumed. Samples are drawn in proportion to the
    number of crops they allow.
    """
    places = np.array([[h - size[0] + 1, w - size[1] + 1] for h, w in fields[0].shapes])
    chances = places.prod(axis=1) / places.prod(axis=1).sum()
    for number in range(done, 1 << 62):
        rng = np.random.default_rng((seed, number))
        chosen = rng.choice(len(places), size=n, p=chances)
        corners = rng.integers(places[chosen])
        yield tuple(_cut(kind.samples, chosen, corners, size).to(*place) for kind in fields)


def _cut(samples: tuple[Array, ...], chosen: Array, corners: Array, size: tuple[int, int]) -> Tensor:
    h, w = size
    cut = np.stack([samples[s][i : i + h, j : j + w] for s, (i, j) in zip(chosen, corners, strict=True)])
    return torch.as_tensor(np.ascontiguousarray(np.moveaxis(cut, 3, 1)))
