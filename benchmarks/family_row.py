"""The table of families: what a draw of a set gave (``Cell``), where draws come from (``Task``), and rows of means."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from scipy.stats import t as student

__all__ = ["Cell", "Row", "Task", "mean_rows"]

_CERTAIN = 0.975  # that a mean is on its side of a border of the verdict, by Student's t of so many draws


@dataclass(frozen=True)
class Cell:
    """What one draw of a set gave for one question: ``numbers`` of "ours" and of rivals, by name.

    ``data`` is the set if it is not the task's own; ``tie`` is the difference of means that still counts as a tie.
    """

    task: str
    measure: str
    numbers: Mapping[str, float]
    lower_is_better: bool = False
    tie: float = 0.005
    data: str = ""


@dataclass(frozen=True)
class Task:
    """A set and what is asked of it: ``measure(seed)`` gives the cells of one draw; seeds count from ``first`` on.

    ``name`` tells tasks of one family apart; ``measure`` raises ``family_sets.Missing`` where the set is not installed.
    """

    name: str
    data: str
    measure: Callable[[int], Iterable[Cell]]
    first: int = 0
    draws: int = 10


@dataclass(frozen=True)
class Row:
    """Our number and those of rivals on one set.

    Parameters
    ----------
    data, task, measure : str
        The set, what is asked, and the unit of the answer.
    ours : float
    rivals : dict of name to float
    lower_is_better : bool
    tie : float
        Differences up to it count as a tie.
    seeds : int
        How many draws the numbers are the mean of.
    missing : str
        Why there are no numbers; "" if there are.
    worst : float
        Our worst draw.
    error : float
        Standard error of the mean difference between ours and the best rival over draws; NaN for one draw.
    best : str
        The rival that ours is compared with; "": the one with the best number.
    margin : float
        By how much ours is better than that rival in the mean of the draws that both have; NaN: difference of means.
    """

    data: str
    task: str
    measure: str
    ours: float = float("nan")
    rivals: Mapping[str, float] = field(default_factory=dict)
    lower_is_better: bool = False
    tie: float = 0.005
    seeds: int = 1
    missing: str = ""
    worst: float = float("nan")
    error: float = float("nan")
    best: str = ""
    margin: float = float("nan")

    @property
    def best_rival(self) -> str:
        """The rival that is hardest to beat."""
        if self.best:
            return self.best
        pick = min if self.lower_is_better else max
        return pick(self.rivals, key=self.rivals.__getitem__)

    @property
    def gain(self) -> float:
        """By how much ours is better than the best rival; negative where it is worse."""
        if np.isfinite(self.margin):
            return self.margin
        gain = self.ours - self.rivals[self.best_rival]
        return -gain if self.lower_is_better else gain

    @property
    def verdict(self) -> str:
        """Whether ours "wins", "ties" or "LOSES" against the best rival.

        >>> Row("iris", "k-NN", "error", 0.05, {"plain": 0.04}, lower_is_better=True).verdict
        'LOSES'
        """
        gain = self.gain
        return "ties" if abs(gain) <= self.tie + 1e-12 else "wins" if gain > 0 else "LOSES"

    @property
    def settled(self) -> bool:
        """Whether more draws would hardly change the verdict: the difference is t standard errors from its border.

        t is the 0.975 quantile of Student's distribution: 4.3 for three draws, 2.3 for ten.

        >>> Row("iris", "k-NN", "share", 0.9, {"plain": 0.7}, seeds=3, error=0.02).settled
        True
        >>> Row("iris", "k-NN", "share", 0.9, {"plain": 0.84}, seeds=3, error=0.02).settled
        False
        >>> Row("iris", "k-NN", "share", 0.9, {"plain": 0.84}, seeds=10, error=0.02).settled
        True
        """
        if self.seeds < 2:
            return False
        needed = float(student.ppf(_CERTAIN, self.seeds - 1)) * self.error
        return bool(abs(abs(self.gain) - self.tie) >= needed)

    def line(self) -> str:
        """The row as text."""
        rivals = ", ".join(f"{name} {value:.3f}" for name, value in self.rivals.items())
        draws = f"{self.seeds} draw{'s' * (self.seeds > 1)}"
        return f"{self.verdict:5}  {self.task}; {self.data}: {self.measure} {self.ours:.3f} ({rivals}; {draws})"

    def record(self) -> dict[str, Any]:
        """The row as JSON."""
        if self.missing:
            return asdict(self)
        judged = {"best_rival": self.best_rival, "verdict": self.verdict, "settled": self.settled}
        return asdict(self) | judged


def mean_rows(draws: Iterable[tuple[str, Iterable[Cell]]]) -> list[Row]:
    """Means over draws, each the set's name and its cells; a row for each set, task and measure, in order.

    A rival that was measured in some draws only has the mean of those, and ours is compared with it by those.
    """
    found: dict[tuple[str, str, str], list[Cell]] = {}
    for data, cells in draws:
        for cell in cells:
            found.setdefault((cell.data or data, cell.task, cell.measure), []).append(cell)
    return [_mean_row(*key, cells) for key, cells in found.items()]


def _mean_row(data: str, task: str, measure: str, cells: list[Cell]) -> Row:
    first, sign = cells[0], -1.0 if cells[0].lower_is_better else 1.0
    ours = [cell.numbers["ours"] for cell in cells]
    rivals = {who: _of(cells, who) for who in dict.fromkeys(who for cell in cells for who in cell.numbers)}
    rivals.pop("ours")
    gains = {
        who: [sign * (cell.numbers["ours"] - cell.numbers[who]) for cell in cells if who in cell.numbers]
        for who in rivals
    }
    best = min(gains, key=lambda who: float(np.mean(gains[who])))
    return Row(
        data,
        task,
        measure,
        float(np.mean(ours)),
        {who: float(np.mean(values)) for who, values in rivals.items()},
        lower_is_better=first.lower_is_better,
        tie=first.tie,
        seeds=len(cells),
        worst=float(max(ours) if first.lower_is_better else min(ours)),
        error=_error(gains[best], ours),
        best=best,
        margin=float(np.mean(gains[best])),
    )


def _of(cells: list[Cell], who: str) -> list[float]:
    return [cell.numbers[who] for cell in cells if who in cell.numbers]


def _error(gains: list[float], ours: list[float]) -> float:
    """Standard error of the mean gain; of one draw that both have, the spread of ours; NaN for a single draw."""
    if len(gains) > 1:
        return float(np.std(gains, ddof=1) / np.sqrt(len(gains)))
    return float(np.std(ours, ddof=1)) if len(ours) > 1 else float("nan")
