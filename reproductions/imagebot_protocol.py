"""The image robot's experiments: ten pictures, the queries of table 4.2, and the ways of answering them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from sidelight import ActionRespectingEmbedding, SemidefiniteEmbedding
from sidelight.datasets import Dataset, Imagebot, Pose, data_home, imagebot

PICTURES = (
    "scipy_face", "hubble_deep_field", "motorcycle_left", "rocket", "sk_china", "sk_flower", "coffee",
    "camera", "astronaut", "scipy_ascent",
)  # fmt: skip
PATHS = ("line", "line-double-back", "rotation", "A", "zoom")
NEIGHBOURS = (4, 8)
STEPS = 200  # Newton steps of the programs without actions, some of which take thousands to the default gap
Predictor = Callable[[Any, str], Any]


@cache
def picture(name: str) -> Any:
    """One of the natural pictures, in [0, 1]."""
    home = data_home()
    if home is None:
        raise FileNotFoundError("The pictures are read from the folder that SIDELIGHT_DATA names.")
    with np.load(home / "natural_images" / "natural_gray.npz") as archive:
        return archive[name] / 255.0


def drive(path: str, name: str, noise: float = 0.0) -> Dataset:
    """A drive on a picture; the seed of the noise is the picture's place in the list."""
    return imagebot(path, picture=picture(name), noise=noise, random_state=PICTURES.index(name))


@dataclass(frozen=True)
class Queries:
    """Rows, actions and the state each leads to, of all whose result is a training state."""

    rows: Any
    actions: Any
    results: Any
    fresh: Any
    """Whether the action was never done at this place at all, in any row."""

    def accuracy(self, states: Any, predict: Predictor, *, fresh: bool = False) -> float:
        """Share of queries whose predicted row shows the right state."""
        asked = self.fresh if fresh else np.ones(len(self.rows), dtype=bool)
        right = []
        for action in np.unique(self.actions[asked]):
            chosen = asked & (self.actions == action)
            right.append(states[predict(self.rows[chosen], str(action))] == self.results[chosen])
        return float(np.mean(np.concatenate(right)))


def true_results(data: Dataset, path: str) -> dict[str, Any]:
    """Where each action leads from each state in the world (n_states,), -1 where no row has been."""
    robot = Imagebot(np.ones((1, 1)), gain={"backward": 2.0} if path == "line-double-back" else None)
    states, firsts = np.unique(data.factors["states"], return_index=True)
    poses = [Pose(*pose) for pose in data.factors["poses"][firsts]]
    place = {_key(pose): int(state) for pose, state in zip(poses, states, strict=True)}
    names = dict.fromkeys(data.factors["actions"][:-1])
    return {name: np.array([place.get(_key(robot.act(pose, name)), -1) for pose in poses]) for name in names}


def _key(pose: Pose) -> tuple[float, ...]:
    return tuple(np.round([pose.x, pose.y, pose.angle % 360.0, pose.log_scale], 3) + 0.0)


def queries(data: Dataset, path: str) -> Queries:
    """All (row, action) whose result is a training state, less the pairs (x_i, a_i) that the input states."""
    states, done = data.factors["states"], data.factors["actions"]
    said = set(zip(states[:-1].tolist(), done[:-1], strict=True))
    found = [
        (row, action, int(result[states[row]]), (int(states[row]), action) not in said)
        for action, result in true_results(data, path).items()
        for row in range(len(states))
        if result[states[row]] >= 0 and done[row] != action
    ]
    rows, actions, results, fresh = zip(*found, strict=True)
    return Queries(np.array(rows), np.array(actions), np.array(results), np.array(fresh))


def by_distances(Z: Any, actions: Any) -> Predictor:
    """The source's prediction (4.5, 4.6) on any embedding (n, r) in the order of the drive."""
    D = cdist(Z, Z)

    def predict(rows: Any, action: str) -> Any:
        begin = np.flatnonzero(actions[:-1] == action)
        return cdist(D[rows][:, begin], D[:, begin + 1]).argmin(axis=1)

    return predict


def by_linear_maps(Z: Any, actions: Any) -> Predictor:
    """The best affine map of each action, and the training point nearest to what it says."""
    raised = np.column_stack([Z, np.ones(len(Z))])

    def predict(rows: Any, action: str) -> Any:
        begin = np.flatnonzero(actions[:-1] == action)
        B = np.linalg.lstsq(raised[begin], Z[begin + 1], rcond=None)[0]
        return cdist(raised[rows] @ B, Z).argmin(axis=1)

    return predict


def respecting(data: Dataset, **options: Any) -> Any:
    """The embedding that knows the actions: the published program."""
    pairs = options.pop("pairs", None)
    model = ActionRespectingEmbedding(n_jobs=1, **{"merge": 0.3, **options})
    return model.fit(data.X, actions=data.factors["actions"], pairs=pairs)


def without_actions(data: Dataset) -> Any:
    """The same program, its neighbours from the order of the rows, without the rows of the actions."""
    return ActionRespectingEmbedding(merge=0.3, max_iter=STEPS, n_jobs=1).fit(
        data.X, trajectory=data.factors["trajectory"]
    )


def unfolded(data: Dataset, n_neighbors: int, **options: Any) -> Any:
    """Semidefinite embedding, with every dimension that it has (at most 20)."""
    q = min(len(data.X) - 1, 20)
    model = SemidefiniteEmbedding(q, n_neighbors=n_neighbors, max_iter=STEPS, n_jobs=1, **options)
    return np.asarray(model.fit(data.X).embedding_)


def published_sde(data: Dataset) -> Any:
    """The source's semidefinite embedding (table 1.3): its graph, distances kept exactly.

    Its k is not given, only that the graph must be connected: the smallest k from 4 on that connects it.
    """
    for k in range(NEIGHBOURS[0], len(data.X)):
        try:
            return unfolded(data, k, graph="nearest", equality=True)
        except ValueError as error:
            if "unconnected" not in str(error):
                raise
    raise AssertionError("all rows together are connected")
