r"""IMAGEBOT: a robot whose world is a picture, which it sees through a small window (Ghodsi 2005, 4.3.1).

The robot's pose is :math:`(x, y, \alpha, s)`: the middle of its window, the way it faces and the base-2 logarithm
of how many picture pixels lie under one pixel of the view. Pixel :math:`(u, v)` of the view looks at

.. math::

    \begin{pmatrix} x \\ y \end{pmatrix}
    + 2^{s} \begin{pmatrix} \cos\alpha & \sin\alpha \\ -\sin\alpha & \cos\alpha \end{pmatrix}
    \begin{pmatrix} u \\ v \end{pmatrix},

with y pointing down, :math:`\alpha` anticlockwise, and :math:`\alpha = 0` facing right, where the view is an upright
piece of the picture. Moves count pixels of the view, so they reach :math:`2^{s}` as far in the picture.

Poses live on a fine lattice of binary fractions (2^-20 of a pixel, 2^-30 of a degree and of an octave), on which
an action and its opposite cancel without rounding. So a pose that is reached twice is the same number twice, and
its view the same bits.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from sidelight.base.messages import error_message

from ._dataset import Dataset
from ._sheets import RandomState, check_count, check_noise

__all__ = ["ACTIONS", "PATHS", "Imagebot", "Pose", "built_in_picture", "imagebot", "parse_path"]

Array = NDArray[np.float64]

ACTIONS = ("forward", "backward", "left", "right", "turn left", "turn right", "zoom in", "zoom out")

# Which way an action goes, as the robot sees it: ahead, to its right, anticlockwise, outwards.
_EFFECTS = {
    "forward": (1, 0, 0, 0),
    "backward": (-1, 0, 0, 0),
    "left": (0, -1, 0, 0),
    "right": (0, 1, 0, 0),
    "turn left": (0, 0, 1, 0),
    "turn right": (0, 0, -1, 0),
    "zoom in": (0, 0, 0, -1),
    "zoom out": (0, 0, 0, 1),
}
_SHORT = dict(zip(("f", "b", "l", "r", "tl", "tr", "zi", "zo"), ACTIONS, strict=True))

PATHS: Mapping[str, str] = {
    "line": "F40 B20",
    "line-double-back": "F40 B20",
    "rotation": "TR16 TL8",
    "A": "F9 R3 B4 L3 F4 B9 F5 R3 B5",
    "A-single": "F9 R3 B9 F5 L2",
    "zoom": "F6 ZO8 B1 ZI8 F2 B6 F4 ZO8 B2",
}

_WORLD = (1536, 2048)
_PIXEL, _FINE = 2.0**20, 2.0**30
# Sums of differently rounded steps may differ by a few units of the lattice: this far apart is still one place.
_SAME = np.array([2.0**10, 2.0**10, 2.0**20, 2.0**20])
_SAMPLES_AT_ONCE = 2**20


class Pose(NamedTuple):
    """Where the robot is: middle of the window (pixels), angle (degrees, anticlockwise), log2 of its scale.

    See Also
    --------
    Imagebot : The robot.
    """

    x: float
    y: float
    angle: float = 0.0
    log_scale: float = 0.0


class Imagebot:
    """A robot that looks at a small window of a large picture and moves it with eight actions.

    Parameters
    ----------
    picture : array-like of shape (height, width), optional
        Grey values from 0 to 1; integers are taken for bytes and divided by 255. A picture smaller than the source's
        world of 2048 x 1536 is tiled to it by reflection, and beyond its edges the world goes on as their mirror.
        None gives a built-in picture (fallen leaves of all sizes), which is the same everywhere.
    view : int
        Width and height of the window in pixels.
    step : float
        Length of a move in pixels of the view.
    turn : float
        Angle of a turn in degrees.
    zoom : float
        Factor of one zoom (2**(1/8): eight of them double the scale).
    gain : dict of str to float, optional
        Factors of the step length of actions: ``{"backward": 2}`` moves back twice as far.
    noise : float
        Standard deviation of the pixel noise of a drive (values are kept within [0, 1]).
    random_state : int, RandomState or None
        Seed of the noise.

    See Also
    --------
    imagebot : Makes it.
    Pose : A place of the camera.

    Examples
    --------
    >>> robot = Imagebot(view=20)
    >>> there = robot.act(robot.act(robot.start, "zoom out"), "forward")
    >>> robot.act(robot.act(there, "backward"), "zoom in") == robot.start
    True
    >>> robot.drive("F2 B1")
    Dataset(imagebot: 4 rows x 400 columns (20x20 pictures); factors: actions, poses, states, trajectory)
    """

    def __init__(
        self,
        picture: ArrayLike | None = None,
        *,
        view: int = 100,
        step: float = 25.0,
        turn: float = 22.5,
        zoom: float = 2 ** (1 / 8),
        gain: Mapping[str, float] | None = None,
        noise: float = 0.0,
        random_state: RandomState = None,
    ) -> None:
        check_count("Imagebot", "view", view)
        lengths = {"step": step, "turn": turn, "zoom": zoom, "noise": noise}
        for name, value in {**lengths, **(gain or {})}.items():
            check_noise("Imagebot", name, value)
        if zoom < 1.0:
            raise ValueError(error_message("Imagebot", "zoom", zoom, "is not a factor from 1", "Use e.g. 2 ** (1 / 8)"))
        self.picture = built_in_picture() if picture is None else _world(picture)
        self.view, self.step, self.turn, self.zoom = int(view), float(step), float(turn), float(zoom)
        self.gain = {name: float(gain[name]) for name in _checked_names(gain)} if gain else {}
        self.noise, self.random_state = noise, random_state

    @property
    def start(self) -> Pose:
        """Default start of a trajectory: on the left, halfway down, facing right."""
        height, width = self.picture.shape
        return Pose(float(width // 8), float(height // 2))

    def act(self, pose: Pose, action: str) -> Pose:
        """Return the pose after an action."""
        pose = _snapped(pose)
        (name,) = _checked_names([action])
        ahead, aside, turns, zooms = (self.gain.get(name, 1.0) * part for part in _EFFECTS[name])
        length = self.step * 2.0**pose.log_scale
        cosine, sine = _direction(pose.angle)
        return Pose(
            pose.x + _snap(length * (ahead * cosine + aside * sine), _PIXEL),
            pose.y + _snap(length * (aside * cosine - ahead * sine), _PIXEL),
            (pose.angle + _snap(self.turn * turns, _FINE)) % 360.0,
            pose.log_scale + _snap(np.log2(self.zoom) * zooms, _FINE),
        )

    def observe(self, pose: Pose) -> Array:
        """Return what the robot sees, shape (view, view): the mean of bilinear samples spread over each pixel.

        A pixel of the view that covers k picture pixels a side is the mean of ceil(k)² samples, so that zooming out
        blurs as a lens does. At scale 1 and whole pixels the view is a piece of the picture, bit for bit.
        """
        x, y, angle, log_scale = np.round(np.array(_snapped(pose)) * _SAME) / _SAME
        scale = 2.0**log_scale
        fold = max(1, int(np.ceil(scale - 1e-9)))
        fine = self.view * fold
        offsets = ((np.arange(fine) + 0.5) / fold - self.view / 2) * scale
        cosine, sine = _direction(angle)
        seen = np.empty((self.view, self.view))
        # Whole rows of the view at a time bound the memory at any zoom.
        rows = max(1, _SAMPLES_AT_ONCE // (fine * fold))
        for first in range(0, self.view, rows):
            down = offsets[first * fold : (first + rows) * fold, None]
            samples = _bilinear(self.picture, x + cosine * offsets + sine * down, y - sine * offsets + cosine * down)
            seen[first : first + rows] = samples.reshape(-1, fold, self.view, fold).mean(axis=(1, 3))
        return seen

    def drive(self, actions: str | Sequence[str], start: Pose | None = None) -> Dataset:
        """Follow a list of actions, or a path such as ``"F9 R3 B4 L3"``, and keep every view.

        Parameters
        ----------
        actions : list of str, or str
            Names of :data:`ACTIONS`, or letters with counts: F, B, L, R, TL, TR, ZI and ZO.
        start : Pose, optional
            Where to begin; by default on the left, halfway down, facing right.

        Returns
        -------
        Dataset
            One row more than actions. ``X`` (n, view * view) in [0, 1]; factors ``"actions"`` (what was done at each
            row, None at the last), ``"poses"`` (n, 4), ``"states"`` (equal numbers are equal poses, counted in order
            of appearance) and ``"trajectory"`` (all 0).
        """
        names = parse_path(actions)
        poses = [_snapped(self.start if start is None else Pose(*start))]
        for name in names:
            poses.append(self.act(poses[-1], name))
        P = np.array(poses, dtype=np.float64)
        states, firsts = _states(P)
        X = np.stack([self.observe(poses[row]).ravel() for row in firsts])[states]
        if self.noise > 0:
            X = np.clip(X + self.noise * check_random_state(self.random_state).standard_normal(X.shape), 0.0, 1.0)
        factors = {
            "actions": np.array([*names, None], dtype=object),
            "poses": P,
            "states": states,
            "trajectory": np.zeros(len(P), dtype=np.int64),
        }
        description = (
            f"{len(names)} actions of a robot on a picture, {self.view}x{self.view} views, {len(firsts)} places."
        )
        return Dataset(X, factors, (self.view, self.view), "imagebot", description)


def imagebot(
    path: str | Sequence[str] = "A",
    *,
    picture: ArrayLike | None = None,
    view: int = 100,
    start: Pose | None = None,
    noise: float = 0.0,
    random_state: RandomState = None,
) -> Dataset:
    """Drive the image robot along a known or a given path.

    Parameters
    ----------
    path : str or list of str
        ``"line"`` (40 steps forward, 20 back), ``"line-double-back"`` (the same with steps back twice as long),
        ``"rotation"`` (a full turn right, half a turn left), ``"A"`` and ``"zoom"`` (an A in the plane, and one whose
        cross bars are zooms; both retrace their ways, so that what each action does is determined), ``"A-single"``
        (an A that leaves much undetermined), a path in letters such as ``"F9 R3 B4 L3"``, or a list of action names.
    picture : array-like of shape (height, width), optional
        The world; a built-in picture by default.
    view : int
        Width and height of a view in pixels.
    start : Pose, optional
        Where to begin.
    noise, random_state
        Standard deviation of the pixel noise, and its seed. Without noise nothing is random.

    Returns
    -------
    Dataset
        See :meth:`Imagebot.drive`.

    See Also
    --------
    sidelight.ActionRespectingEmbedding : The method for what was seen and done.

    Examples
    --------
    >>> data = imagebot("line", view=20)
    >>> data.X.shape, data.factors["states"].max()
    ((61, 400), np.int64(40))
    >>> data.factors["actions"][38:42]
    array(['forward', 'forward', 'backward', 'backward'], dtype=object)
    """
    gain = {"backward": 2.0} if isinstance(path, str) and path == "line-double-back" else None
    robot = Imagebot(picture, view=view, gain=gain, noise=noise, random_state=random_state)
    known = PATHS.get(path, path) if isinstance(path, str) else path
    return robot.drive(known, start)


def parse_path(path: str | Sequence[str]) -> list[str]:
    """Return the action names of a path in letters, such as ``"F9 zo8 B"``, or of a list of names.

    Examples
    --------
    >>> parse_path("F2 tr")
    ['forward', 'forward', 'turn right']
    """
    if not isinstance(path, str):
        return _checked_names(path)
    tokens = re.findall(r"([A-Za-z]+)(\d*)", path)
    if re.sub(r"[A-Za-z]+\d*|[\s,]+", "", path) or any(token.lower() not in _SHORT for token, _ in tokens):
        rule = f"is neither a known path ({', '.join(PATHS)}) nor letters with counts"
        raise ValueError(error_message("imagebot", "path", path, rule, "Write e.g. 'F9 R3 TL2 ZO8'"))
    return [_SHORT[token.lower()] for token, count in tokens for _ in range(int(count or 1))]


def _checked_names(names: Sequence[str] | Mapping[str, float]) -> list[str]:
    chosen = list(names)
    for name in chosen:
        if name not in _EFFECTS:
            remedy = f"Choose from {', '.join(ACTIONS)}"
            raise ValueError(error_message("Imagebot", "action", name, "is not an action of the robot", remedy))
    return chosen


def _snap(value: float, unit: float) -> float:
    """Round to a multiple of 1 / unit, halves away from zero, so that opposite steps stay opposite."""
    return float(np.copysign(np.floor(abs(value) * unit + 0.5) / unit, value))


def _snapped(pose: Pose) -> Pose:
    x, y, angle, log_scale = pose
    return Pose(_snap(x, _PIXEL), _snap(y, _PIXEL), _snap(angle, _FINE) % 360.0, _snap(log_scale, _FINE))


def _direction(angle: float) -> tuple[float, float]:
    """Cosine and sine, exactly 0 and 1 on the quarters and of one size on their mirror images."""
    quarter, rest = divmod(angle, 90.0)
    near = np.deg2rad(min(rest, 90.0 - rest))
    cosine, sine = (np.cos(near), np.sin(near)) if rest <= 45.0 else (np.sin(near), np.cos(near))
    turned = {0: (cosine, sine), 1: (-sine, cosine), 2: (-cosine, -sine), 3: (sine, -cosine)}
    return turned[int(quarter) % 4]


def _states(poses: Array) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Number equal poses in order of appearance; return the numbers and the first row of each."""
    keys = np.round(poses * _SAME).astype(np.int64)
    keys[:, 2] %= int(360 * _SAME[2])
    _, firsts, found = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(firsts)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return rank[found.ravel()].astype(np.int64), firsts[order].astype(np.int64)


def _world(picture: ArrayLike) -> Array:
    """Return grey values in [0, 1], tiled by reflection to at least the source's world."""
    given = np.asarray(picture)
    grey = given.astype(np.float64) / (255.0 if given.dtype.kind in "ui" else 1.0)
    if grey.ndim != 2 or grey.size == 0 or not (np.min(grey) >= 0.0 and np.max(grey) <= 1.0):
        rule = "is not a (height, width) array of bytes, or of grey values from 0 to 1"
        raise ValueError(error_message("Imagebot", "picture", grey.shape, rule, "Give one grey picture"))
    missing = [(0, max(0, wanted - length)) for wanted, length in zip(_WORLD, grey.shape, strict=True)]
    return np.pad(grey, missing, mode="symmetric")


def _mirrored(index: NDArray[np.int64], length: int) -> NDArray[np.int64]:
    """Fold indices beyond the edges back, as a mirror does."""
    folded = index % (2 * length)
    return np.minimum(folded, 2 * length - 1 - folded)


def _bilinear(picture: Array, x: Array, y: Array) -> Array:
    """Sample at points, where pixel (row, column) has its middle at (column + 1/2, row + 1/2)."""
    height, width = picture.shape
    left, above = np.floor(x - 0.5), np.floor(y - 0.5)
    across, down = x - 0.5 - left, y - 0.5 - above
    columns, rows = left.astype(np.int64), above.astype(np.int64)
    near, far = _mirrored(columns, width), _mirrored(columns + 1, width)
    top, bottom = _mirrored(rows, height), _mirrored(rows + 1, height)
    upper = (1.0 - across) * picture[top, near] + across * picture[top, far]
    lower = (1.0 - across) * picture[bottom, near] + across * picture[bottom, far]
    sampled: Array = (1.0 - down) * upper + down * lower
    return sampled


@lru_cache(maxsize=1)
def built_in_picture() -> Array:
    """Return a picture of 1536 x 2048: fallen leaves, whose sizes follow the power law of natural scenes.

    Discs of radius r (density 1/r³, 8 to 200 pixels) with a shade, a grain and a slope of light each cover one
    another. The array is read-only and made once.
    """
    random = np.random.RandomState(20)
    height, width = _WORLD
    picture = np.full(_WORLD, 0.5)
    radii = 1.0 / np.sqrt(random.uniform(1 / 200**2, 1 / 8**2, size=6000))
    middles = random.uniform(size=(6000, 2)) * _WORLD
    shades, slopes = random.uniform(0.05, 0.95, size=6000), random.uniform(-0.2, 0.2, size=(6000, 2))
    for radius, (row, column), shade, (fall, lean) in zip(radii, middles, shades, slopes, strict=True):
        reach = int(radius) + 1
        rows = np.arange(max(0, int(row) - reach), min(height, int(row) + reach + 1))[:, None]
        columns = np.arange(max(0, int(column) - reach), min(width, int(column) + reach + 1))
        down, across = (rows - row) / radius, (columns - column) / radius
        patch = picture[rows[0, 0] : rows[-1, 0] + 1, columns[0] : columns[-1] + 1]
        np.copyto(patch, shade + fall * down + lean * across, where=down**2 + across**2 <= 1.0)
    grain = random.standard_normal(_WORLD)
    blurred = (grain + np.roll(grain, 1, axis=0) + np.roll(grain, 1, axis=1) + np.roll(grain, (1, 1), axis=(0, 1))) / 4
    picture = np.clip(picture + 0.06 * blurred, 0.0, 1.0)
    picture.flags.writeable = False
    return picture
