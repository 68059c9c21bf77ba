r"""The Gram program of action respecting embedding: places, neighbours, and pairs tied by actions (S4 4.2).

    maximise tr K,   d²_ij ≤ |x_i - x_j|²  for η_ij or [ηᵀη]_ij,     d²_{i+1, j+1} = d²_ij  for a_i = a_j

η_ij: each of i, j lies in the other's ball, which reaches to the farthest row within ``window`` steps
(4.1; as printed, |k - i| < T and a strict >, no row has a neighbour at T = 1, so |k - i| ≤ T and ≥).

**Places.** Equal rows are one place. So are two rows that the same action reaches from one place, or from which the
same action leads to one place (their distance is 0 by 4.4): places are merged until each action is one-to-one. If no
two rows are equal, the rows may be noisy: then rows nearer than ``merge`` times the shortest step at either are one
place too. The contribution of noise to all squared distances is estimated as the median over merged rows and
subtracted, and merging is repeated until nothing changes. A merger of rows that are farther apart than a step is not
made. The squared distance of two places is that of their means, which follows from squared distances alone:
``d̄²_ab - ½ d̄²_aa - ½ d̄²_bb``.

**Classes.** Pairs (i, j) and (i+1, j+1) are joined for every two steps of one action; a connected component is a class
of equal distances, and has one unknown. Its bound is the smallest of its members'.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components, shortest_path

from sidelight.base.messages import error_message
from sidelight.base.types import Array, SparseMatrix
from sidelight.neighbours.graph import joined_graph
from sidelight.neighbours.search import nearest_precomputed
from sidelight.objectives.action_gram import TiedProgram, tied_program
from sidelight.objectives.gram import GramProgram, gram_program
from sidelight.side.actions import Actions
from sidelight.solvers.eigen import landmark_scaling

from ._gram_start import START_RANK, with_spare_columns

__all__ = [
    "ActionProblem",
    "action_problem",
    "distance_classes",
    "equal_places",
    "find_places",
    "folds_unlike_rows",
    "merge_until_one_to_one",
    "neighbours_by_actions",
    "neighbours_by_distance",
    "place_squares",
    "row_squares",
]


_LANDMARKS, _ROUNDS, _NEAREST = 500, 10, 10
_MAIN = 0.05  # share of variance: narrower columns of the start are mostly artefacts of bent shortest paths


@dataclass(frozen=True)
class ActionProblem:
    """A program over places, the start of its solver (n_places, r), and the pairs (n_places, n_places) it bounds.

    ``n_pieces``: pieces that only the distance of their nearest places holds together, which was added as a bound.
    """

    program: TiedProgram | GramProgram
    start: Array
    near: Array
    n_pieces: int = 1


def find_places(squares: Array, actions: Actions, merge: float) -> Array:
    """Return the place of each row (n,), numbered in order of appearance.

    Parameters
    ----------
    squares : array of shape (n, n)
        Squared distances between rows.
    actions : Actions
        Steps between them.
    merge : float
        Share of the shortest step at either of two rows, below which they are one place; 0: only equal rows are.
    """
    equal = _equal(squares)
    places = merge_until_one_to_one(equal_places(squares), actions)
    if merge == 0 or not len(actions.steps) or np.triu(equal, 1).any():
        return places  # equal rows say that there is no noise
    noise = 0.0
    for _ in range(_ROUNDS):
        clear = np.maximum(squares - noise, 0.0)
        step = _shortest_steps(clear, actions)
        both = np.minimum(step[:, None], step)
        close = np.triu((clear <= merge**2 * both) | equal, 1)
        found = merge_until_one_to_one(_joined(np.argwhere(close), len(squares)), actions)
        together = np.triu(found[:, None] == found, 1)
        if not together.any() or (clear[together] > both[together]).any() or np.array_equal(found, places):
            return places
        places, noise = found, float(np.median(squares[together]))
    return places


def equal_places(squares: Array) -> Array:
    """The place of each row (n,) if rows are one place only where they are equal, from squared distances (n, n)."""
    return _joined(np.argwhere(np.triu(_equal(squares), 1)), len(squares))


def folds_unlike_rows(squares: Array, places: Array, actions: Actions) -> bool:
    """Whether some place holds rows that are farther apart than the shortest step at either: an action slipped."""
    step = _shortest_steps(squares, actions, least=1e-24 * float(squares.max()))
    together = np.triu(places[:, None] == places, 1)
    return bool((squares[together] > np.minimum(step[:, None], step)[together]).any())


def row_squares(points: Array) -> Array:
    """Squared distances (n, n) between rows: by a matrix product, and from differences where digits would cancel."""
    norms = np.einsum("ij,ij->i", points, points)
    S = norms[:, None] + norms - 2 * (points @ points.T)
    lost = np.argwhere(np.triu(1e-6 * (norms[:, None] + norms) > S, 1))
    many = max(1, 2**22 // points.shape[1])
    for start in range(0, len(lost), many):
        i, j = lost[start : start + many].T
        D = points[i] - points[j]
        S[i, j] = np.einsum("ij,ij->i", D, D)
    S = np.triu(np.maximum(S, 0.0), 1)
    return np.asarray(S + S.T)


def merge_until_one_to_one(places: Array, actions: Actions) -> Array:
    """Merge places until each action is one-to-one: the place (n,) of each row, from ``places`` (n,) to begin with."""
    named = actions.codes >= 0
    codes, steps = actions.codes[named], actions.steps[named]
    while True:
        begins, ends = places[steps[:, 0]], places[steps[:, 1]]
        links = np.concatenate(
            [_same_key(a * len(actions.names) + codes, b) for a, b in ((begins, ends), (ends, begins))]
        )
        if not len(links):
            return places
        places = _in_order(_joined(links, int(places.max()) + 1)[places])


def place_squares(squares: Array, places: Array) -> Array:
    """Squared distances (n_places, n_places) between the means of the rows of each place."""
    n = int(places.max()) + 1
    if n == len(places):
        return squares
    share = 1.0 / np.bincount(places)[places]
    P = csr_array(coo_array((share, (places, np.arange(len(places)))), shape=(n, len(places))))
    M = np.asarray(P @ np.asarray(P @ squares).T)
    within = M.diagonal()
    M = np.maximum(M - 0.5 * (within[:, None] + within), 0.0)
    np.fill_diagonal(M, 0.0)
    return np.asarray(0.5 * (M + M.T))


def neighbours_by_actions(squares: Array, places: Array, actions: Actions, window: int) -> Array:
    """Which pairs of places (n_places, n_places) are neighbours or share one, by the steps between them (4.1).

    Parameters
    ----------
    squares : array of shape (n_places, n_places)
        Squared distances between places.
    places : array of shape (n,)
        The place of each row.
    actions : Actions
        Steps between rows.
    window : int
        T, the number of steps that a ball reaches.
    """
    following = np.full(len(places), -1)
    following[actions.steps[:, 0]] = actions.steps[:, 1]
    radius = np.zeros(len(squares))
    rows = reached = np.arange(len(places))
    for _ in range(window):
        reached = following[reached]
        rows, reached = rows[reached >= 0], reached[reached >= 0]
        here, there = places[rows], places[reached]
        length = squares[here, there]
        np.maximum.at(radius, here, length)
        np.maximum.at(radius, there, length)
    near = squares <= np.minimum(radius[:, None], radius) * (1 + 1e-12)
    np.fill_diagonal(near, False)
    return _or_shared(csr_array(near.astype(np.float64)))


def neighbours_by_distance(squares: Array) -> Array:
    """Which pairs of places without an order are neighbours or share one: mutual nearest, pieces joined by links."""
    D = np.sqrt(squares)
    graph = joined_graph(D, nearest_precomputed(D, k=min(_NEAREST, len(D) - 1), own=True), precomputed=True)
    return _or_shared(csr_array((np.ones(graph.nnz), graph.indices, graph.indptr), shape=graph.shape))


def distance_classes(places: Array, actions: Actions) -> Array:
    """The class of each pair of places (0, 1), (0, 2), ...: 0 to C - 1."""
    n = int(places.max()) + 1
    one, other = [np.empty(0, dtype=np.int64)], [np.empty(0, dtype=np.int64)]
    for code in range(len(actions.names)):
        moves = np.unique(places[actions.steps[actions.codes == code]], axis=0)
        i, j = np.triu_indices(len(moves), 1)
        for ends, lists in ((moves[:, 0], one), (moves[:, 1], other)):
            lists.append(np.minimum(ends[i], ends[j]) * n + np.maximum(ends[i], ends[j]))
    label = _joined(np.column_stack([np.concatenate(one), np.concatenate(other)]), n * n)
    i, j = np.triu_indices(n, 1)
    return np.unique(label[i * n + j], return_inverse=True)[1]


def action_problem(
    squares: Array, near: Array, tied: Array | None, known: Array, *, argument: str = "pairs"
) -> ActionProblem:
    """Return the program of places.

    Parameters
    ----------
    squares : array of shape (n, n)
        Squared distances between places.
    near : array of bool, of shape (n, n)
        Pairs that must not be farther apart than these.
    tied : array of shape (n (n - 1) / 2,) or None
        The class of each pair; None: no ties.
    known : array of shape (m, 3)
        Places i and j, and their squared distance.
    argument : str, default="pairs"
        The user's argument that a message about ``known`` names.
    """
    n = len(squares)
    i, j = np.triu_indices(n, 1)
    held = near[i, j]
    classes = np.arange(len(i)) if tied is None else tied
    members = np.bincount(classes)
    bounds = np.full(len(members), np.inf)
    np.minimum.at(bounds, classes[held], squares[i, j][held])
    equal = np.zeros(len(members), dtype=bool)
    if len(known):
        low, high = np.sort(known[:, :2].astype(np.int64), axis=1).T
        _refuse_too_long(argument, known, _paths(n, i, j, bounds[classes])[low, high])
        at = classes[low * n - low * (low + 1) // 2 + high - low - 1]
        bounds[at], equal[at] = known[:, 2], True
    n_pieces = _link_pieces(squares, i, j, bounds, classes)
    rows = np.flatnonzero(np.isfinite(bounds))
    paths = _paths(n, i, j, bounds[classes])
    reach = np.full(len(members), np.inf)
    np.minimum.at(reach, classes, paths[i, j] ** 2)
    start = _start(n, i, j, np.sqrt(reach[classes]))
    if tied is None:
        pairs = np.column_stack([i, j])[rows]
        plain = gram_program(pairs, bounds[rows], n, equal=equal[rows])
        return ActionProblem(plain, start, near, n_pieces)
    reach = np.maximum(np.where(np.isfinite(reach), reach, 1.0), 1e-9 * float(bounds[rows].max(initial=1.0)))
    program = tied_program(tied, n, classes=rows, bounds=bounds[rows], reach=reach, equal=equal[rows])
    return ActionProblem(program, start, near, n_pieces)


def _link_pieces(squares: Array, i: Array, j: Array, bounds: Array, classes: Array) -> int:
    """Bound the distance of the nearest places of unconnected pieces (in place); return how many pieces there were."""
    n, found = len(squares), 0
    while True:
        at = np.isfinite(bounds[classes])
        piece = _joined(np.column_stack([i[at], j[at]]), n)
        found = found or int(piece.max()) + 1
        between = np.flatnonzero((piece[i] == 0) != (piece[j] == 0))
        if not len(between):
            return found
        link = between[int(np.argmin(squares[i, j][between]))]
        bounds[classes[link]] = squares[i[link], j[link]]


def _refuse_too_long(argument: str, known: Array, reach: Array) -> None:
    """Raise ValueError if a known distance is longer than the path of bounds between its places."""
    excess = np.sqrt(known[:, 2]) / reach
    worst = int(np.argmax(excess))
    if excess[worst] > 1 + 1e-9:
        a, b = known[worst, :2].astype(np.int64)
        rule = f"contradicts the bounds: places {a} and {b} would be {excess[worst]:.3g} times too far apart"
        remedy = "Give distances in a unit in which a step is no longer than the observations differ"
        raise ValueError(error_message("ActionRespectingEmbedding", argument, f"{len(known)} distances", rule, remedy))


def _or_shared(near: SparseMatrix) -> Array:
    """Pairs (n, n) that are neighbours or share a neighbour."""
    both = (near + near @ near).toarray() > 0
    np.fill_diagonal(both, False)
    return np.asarray(both)


def _paths(n: int, i: Array, j: Array, bounds: Array) -> Array:
    """Longest distances (n, n) that the bounds allow: shortest paths, inf where there is none."""
    at = np.isfinite(bounds)
    lengths = np.sqrt(np.maximum(bounds[at], 1e-18 * float(bounds[at].max(initial=0.0)) + 1e-300))
    ends = i[at].astype(np.int32), j[at].astype(np.int32)  # SciPy before 1.13 takes no others here
    return np.asarray(shortest_path(csr_array(coo_array((lengths, ends), shape=(n, n))), directed=False))


def _start(n: int, i: Array, j: Array, lengths: Array) -> Array:
    """Classical scaling of the longest distances that the bounds allow (pairs i, j), with spare columns."""
    D = np.zeros((n, n))
    D[i, j] = np.where(np.isfinite(lengths), lengths, 0.0)
    D += D.T
    rows = np.unique(np.linspace(0, n - 1, min(n, _LANDMARKS)).astype(np.int64))
    start = landmark_scaling(D[rows], rows, START_RANK)
    squares = (start**2).sum(axis=0)
    return with_spare_columns(start[:, squares > _MAIN * float(squares.sum())])


def _equal(squares: Array) -> Array:
    """Pairs of equal rows (n, n)."""
    return np.asarray(squares <= 1e-24 * float(squares.max()))


def _shortest_steps(squares: Array, actions: Actions, *, least: float = -1.0) -> Array:
    """The shortest step to or from each row (n,), squared, of those longer than ``least``; inf where there is none."""
    step = np.full(len(squares), np.inf)
    lengths = squares[actions.steps[:, 0], actions.steps[:, 1]]
    lengths = np.where(lengths > least, lengths, np.inf)
    np.minimum.at(step, actions.steps[:, 0], lengths)
    np.minimum.at(step, actions.steps[:, 1], lengths)
    return step


def _same_key(keys: Array, values: Array) -> Array:
    """Pairs of different values (m, 2) that have the same key."""
    order = np.argsort(keys, kind="stable")
    links = np.column_stack([values[order[:-1]], values[order[1:]]])[keys[order[:-1]] == keys[order[1:]]]
    return np.asarray(links[links[:, 0] != links[:, 1]])


def _joined(links: Array, n: int) -> Array:
    """Connected component of each of n items under links (m, 2), numbered in order of appearance."""
    ends = links.astype(np.int32)
    graph = coo_array((np.ones(len(ends), dtype=bool), (ends[:, 0], ends[:, 1])), shape=(n, n))
    return _in_order(connected_components(csr_array(graph), directed=False)[1])


def _in_order(labels: Array) -> Array:
    """Labels renumbered in order of appearance."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    place = np.empty(len(first), dtype=np.int64)
    place[np.argsort(first, kind="stable")] = np.arange(len(first))
    return place[inverse]
