"""Made sets with known factors: pictures of a lit ball with a face and of garments, spectra of vowels, counts of genes.

``ball_pictures``: a ball of one unit, seen from the front; its surface has eyes, a mouth and hair; it is turned left
and right (pan), up and down (tilt), and lit from a direction (light).

``vowel_spectra``: nine vowels by three resonances (formants: means of Peterson and Barney's men, times the size of the
speaker and a deviation of their own), as logarithms of 26 mel bands, with tilt, loudness and noise.

``garment_pictures``: ten outlines with proportions, shades, stripes and places of their own.

``gene_counts``: kinds of cells that descend from each other, as logarithms of counts of their genes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["ball_pictures", "garment_pictures", "gene_counts", "vowel_spectra"]

_SIDE, _BANDS = 24, 26
_FORMANTS = np.array(
    [
        [270, 2290, 3010],
        [390, 1990, 2550],
        [530, 1840, 2480],
        [660, 1720, 2410],
        [730, 1090, 2440],
        [570, 840, 2410],
        [440, 1020, 2240],
        [300, 870, 2240],
        [640, 1190, 2390],
    ],
    dtype=float,
)
_SPOTS = (((-0.35, 0.25, 0.9), 40.0), ((0.35, 0.25, 0.9), 40.0), ((0.0, -0.4, 0.9), 25.0), ((0.0, 1.0, -0.2), 3.0))


def ball_pictures(n: int, seed: int) -> tuple[Any, dict[str, Any]]:
    """Pictures (n, 576), and pan, tilt and light (n,) in radians."""
    rng = np.random.default_rng(seed)
    pan, tilt, light = rng.uniform(-1.2, 1.2, n), rng.uniform(-0.5, 0.5, n), rng.uniform(-1.2, 1.2, n)
    side = np.linspace(-1, 1, _SIDE)
    x, y = np.meshgrid(side, -side)
    inside = x**2 + y**2 < 1
    z = np.sqrt(np.where(inside, 1 - x**2 - y**2, 0.0))
    normal = np.stack([x, y, z], axis=-1)[inside]
    pictures = np.zeros((n, _SIDE, _SIDE))
    for i in range(n):
        surface = normal @ (_turn(pan[i], 1) @ _turn(tilt[i], 0))
        albedo = np.ones(len(surface))
        for place, sharpness in _SPOTS:
            at = np.array(place) / np.linalg.norm(place)
            albedo *= 1 - 0.8 * np.exp(sharpness * (surface @ at - 1))
        towards = np.array([np.sin(light[i]), 0.3, np.cos(light[i])])
        pictures[i][inside] = albedo * (0.2 + np.maximum(normal @ towards, 0.0))
    return pictures.reshape(n, -1), {"pan": pan, "tilt": tilt, "light": light}


def _turn(angle: float, axis: int) -> Any:
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, 0, -s], [0, 1, 0], [s, 0, c]]) if axis == 1 else np.array([[1, 0, 0], [0, c, -s], [0, s, c]])


def vowel_spectra(n_each: int, seed: int, noise: float = 0.3) -> tuple[Any, Any]:
    """Log energies (9 n_each, 26) of mel bands, and the vowel of each row, in random order."""
    rng = np.random.default_rng(seed)
    vowel = rng.permutation(np.repeat(np.arange(9), n_each))
    n = len(vowel)
    size = np.exp(rng.normal(0, 0.07, n))[:, None]
    centres = _FORMANTS[vowel] * size * np.exp(rng.normal(0, 0.04, (n, 3)))
    widths = np.array([60, 90, 150]) * np.exp(rng.normal(0, 0.15, (n, 3)))
    tilt, loudness = rng.normal(-6, 1, n)[:, None], rng.normal(0, 3, n)[:, None]
    mel = np.linspace(_mel(100), _mel(4000), _BANDS + 2)
    edges, fine = 700 * (10 ** (mel / 2595) - 1), np.linspace(80, 4200, 400)
    decibels = tilt * np.log2(np.maximum(fine, 200) / 200) + loudness
    for centre, width in zip(centres.T[:, :, None], widths.T[:, :, None], strict=True):
        pole = -width / 2 + 1j * centre
        decibels = decibels + 20 * np.log10(np.abs(pole) ** 2 / np.abs((1j * fine - pole) * (1j * fine - pole.conj())))
    rising = (fine[:, None] - edges[:-2]) / np.diff(edges)[:-1]
    falling = (edges[2:] - fine[:, None]) / np.diff(edges)[1:]
    bands = 10 ** (decibels / 10) @ np.maximum(0, np.minimum(rising, falling))
    return np.log(bands + 1e-6) + rng.normal(0, noise, (n, _BANDS)), vowel


def _mel(hertz: float) -> float:
    return float(2595 * np.log10(1 + hertz / 700))


# Half widths of an outline from top to bottom, and how much one of a kind differs from the others
_OUTLINES = (
    ((0.30, 0.85, 0.45, 0.45, 0.45, 0.45), "shirt"),
    ((0.30, 0.95, 0.90, 0.45, 0.45, 0.45), "pullover"),
    ((0.25, 0.35, 0.30, 0.45, 0.60, 0.75), "dress"),
    ((0.40, 0.90, 0.85, 0.50, 0.55, 0.60), "coat"),
    ((0.45, 0.45, 0.45, 0.42, 0.40, 0.38), "trousers"),
    ((0.00, 0.15, 0.35, 0.60, 0.95, 0.90), "sandal"),
    ((0.00, 0.00, 0.40, 0.75, 0.95, 0.95), "sneaker"),
    ((0.35, 0.35, 0.40, 0.60, 0.90, 0.90), "boot"),
    ((0.20, 0.30, 0.85, 0.90, 0.90, 0.85), "bag"),
    ((0.25, 0.60, 0.40, 0.40, 0.42, 0.42), "top"),
)


def garment_pictures(n: int, seed: int, side: int = 28) -> tuple[Any, Any]:
    """Pictures (n, side²) of ten kinds of garments, and the kind of each."""
    rng = np.random.default_rng(seed)
    kind = rng.integers(0, len(_OUTLINES), n)
    outline = np.array([widths for widths, _ in _OUTLINES])[kind]
    outline = outline * np.exp(rng.normal(0, 0.12, (n, 1))) + rng.normal(0, 0.05, outline.shape)
    height, across, down = rng.uniform(0.75, 1.0, n), rng.normal(0, 0.05, n), rng.normal(0, 0.05, n)
    shade, period, slant = rng.uniform(0.35, 1.0, n), rng.uniform(0.15, 0.6, n), rng.uniform(-1, 1, n)
    striped = rng.random(n) < 0.3
    at = np.linspace(-1, 1, side)
    pictures = np.zeros((n, side, side))
    for i in range(n):
        y = (at - down[i]) / height[i]
        half = np.interp(y, np.linspace(-1, 1, outline.shape[1]), outline[i]) * (np.abs(y) <= 1)
        x = at[None, :] - across[i]
        inside = np.clip((half[:, None] - np.abs(x)) * side / 2, 0, 1)
        if kind[i] == 4:  # two legs
            inside *= np.clip((np.abs(x) - 0.12 * np.clip(y[:, None] + 0.4, 0, 1)) * side / 2, 0, 1)
        wave = 0.5 * np.cos(2 * np.pi * (y[:, None] + slant[i] * x) / period[i]) if striped[i] else 0.0
        pictures[i] = inside * shade[i] * (1 + wave)
    noisy = pictures + (pictures > 0) * rng.normal(0, 0.06, pictures.shape)
    return np.clip(255 * noisy, 0, 255).reshape(n, -1).astype(np.float32), kind


def gene_counts(n: int, seed: int, genes: int = 500, kinds: int = 16) -> tuple[Any, Any]:
    """Logarithms of 1 + counts per 10,000 (n, genes) of kinds of cells of different frequency; the kind of each."""
    rng = np.random.default_rng(seed)
    means = np.empty((kinds, genes))
    means[0] = rng.normal(0, 1.5, genes)
    for k in range(1, kinds):  # a kind differs from the one it descends from in a tenth of the genes
        means[k] = means[rng.integers(k)] + rng.normal(0, 1.2, genes) * (rng.random(genes) < 0.1)
    share = rng.dirichlet(np.full(kinds, 1.5))
    kind = rng.choice(kinds, n, p=share)
    programme = rng.normal(0, 0.4, (n, 2)) @ rng.normal(0, 0.3, (2, genes))
    rates = np.exp(means[kind] + programme)
    depth = 1500 * np.exp(rng.normal(0, 0.4, (n, 1)))
    counts = rng.poisson(depth * rates / rates.sum(axis=1, keepdims=True))
    return np.log1p(1e4 * counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)), kind
