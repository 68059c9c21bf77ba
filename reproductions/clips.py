"""Patches of neighbouring frames of two video clips, and the best shift of each pair, found by trying all."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

LARGE = 20  # pixels of a side
REACH, EDGE = 3, 3  # pixels: largest shift that is tried; what errors of shifts leave out


def folder() -> Path:
    return Path(os.environ["SIDELIGHT_DATA"])


def clips() -> Clips:
    stored = np.load(folder() / "natural_video" / "video_gray.npz")
    return Clips(tuple(stored[name].astype(np.float32) / 255 for name in ("carphone", "bikes_half")))


@dataclass(frozen=True)
class Clips:
    """Frames (n, height, width) of each clip, and places (clip, frame, down, across) of patches in them."""

    frames: tuple[Any, ...]

    def places(self, n: int, rng: Any) -> Any:
        """Random places of a patch that three frames have."""
        which = rng.integers(len(self.frames), size=n)
        limits = np.array([[len(f) - 2, f.shape[1] - LARGE + 1, f.shape[2] - LARGE + 1] for f in self.frames])
        found = np.column_stack([which, rng.integers(limits[which])])
        cuts = [_cuts(frames) for frames in self.frames]
        return found[[not cuts[clip][frame : frame + 2].any() for clip, frame in found[:, :2]]]

    def split(self) -> tuple[Clips, Clips]:
        """The first three quarters of each clip, and the rest."""
        at = [3 * len(frames) // 4 for frames in self.frames]
        return self._cut(at), self._cut(at, rest=True)

    def folds(self) -> list[tuple[Clips, Clips]]:
        """Two ways to hold a quarter out: the last one, and the first one."""
        at = [len(frames) // 4 for frames in self.frames]
        return [self.split(), (self._cut(at, rest=True), self._cut(at))]

    def _cut(self, at: list[int], *, rest: bool = False) -> Clips:
        pairs = zip(self.frames, at, strict=True)
        return Clips(tuple(frames[cut:] if rest else frames[:cut] for frames, cut in pairs))

    def patches(self, places: Any, later: int) -> Any:
        """Patches (n, LARGE²) at places, some frames later."""
        found = np.empty((len(places), LARGE, LARGE), dtype=np.float32)
        grid = np.arange(LARGE)
        for clip, frames in enumerate(self.frames):
            mine = places[:, 0] == clip
            _, frame, down, across = places[mine].T
            rows, columns = (down[:, None] + grid)[:, :, None], (across[:, None] + grid)[:, None, :]
            found[mine] = frames[(frame + later)[:, None, None], rows, columns]
        return found.reshape(len(places), -1)

    def normed(self, n: int, seed: int) -> tuple[list[Any], Any]:
        """Three frames of random patches by the mean and contrast of the first one, and the contrast (n, 1)."""
        places = self.places(n, np.random.default_rng(seed))
        return by_contrast([self.patches(places, later) for later in range(3)])


def _cuts(frames: Any) -> Any:
    """Whether a scene ends after a frame."""
    change = np.abs(np.diff(frames, axis=0)).mean(axis=(1, 2))
    return change > 3 * np.median(change)


def by_contrast(parts: list[Any]) -> tuple[list[Any], Any]:
    """Patches by the mean and contrast of those of the first part, and the contrast (n, 1)."""
    mean, contrast = parts[0].mean(axis=1, keepdims=True), parts[0].std(axis=1, keepdims=True) + 0.03
    return [(part - mean) / contrast for part in parts], contrast


def turned(parts: list[Any], seed: int) -> list[Any]:
    """Each row's patches in one of eight orientations, by chance: two short clips have directions of their own."""
    which = np.random.default_rng(seed).integers(8, size=(len(parts[0]), 1, 1))
    found = [part.reshape(-1, LARGE, LARGE) for part in parts]
    found = [np.where(which & 1, part[:, ::-1], part) for part in found]
    found = [np.where(which & 2, part[:, :, ::-1], part) for part in found]
    return [np.where(which & 4, part.transpose(0, 2, 1), part).reshape(len(part), -1) for part in found]


def shifted(patches: Any, down: float, right: float) -> Any:
    """Patches (n, LARGE²) moved by whole or half pixels; what comes in repeats the border."""
    wide = np.pad(patches.reshape(-1, LARGE, LARGE), ((0, 0), (REACH, REACH), (REACH, REACH)), mode="edge")
    ends = [sorted({int(np.floor(step)), int(np.ceil(step))}) for step in (down, right)]
    begins = [(REACH - y, REACH - x) for y in ends[0] for x in ends[1]]
    return np.mean([wide[:, y : y + LARGE, x : x + LARGE] for y, x in begins], axis=0).reshape(-1, LARGE**2)


def best_shift(before: Any, after: Any, start: Any) -> tuple[Any, Any]:
    """Steps down and right (n, 2) that take ``before`` to ``after`` best, and ``start`` moved by them."""
    steps = np.arange(-2 * REACH, 2 * REACH + 1) / 2
    tried = sorted(((y, x) for y in steps for x in steps), key=lambda step: (np.hypot(*step), step))
    inside = np.pad(np.ones((LARGE - 2 * EDGE, LARGE - 2 * EDGE), bool), EDGE).ravel()
    least, found, moved = np.full(len(before), np.inf), np.zeros((len(before), 2)), start.copy()
    for step in tried:
        errors = ((shifted(before, *step) - after)[:, inside] ** 2).sum(axis=1)
        better = errors < least
        least[better], found[better] = errors[better], step
        moved[better] = shifted(start[better], *step)
    return found, moved
