"""One row of the table of families: a set, our number, the rivals' numbers, and who wins."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

__all__ = ["Row"]


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

    @property
    def best_rival(self) -> str:
        """The rival with the best number."""
        pick = min if self.lower_is_better else max
        return pick(self.rivals, key=self.rivals.__getitem__)

    @property
    def verdict(self) -> str:
        """Whether ours "wins", "ties" or "LOSES" against the best rival.

        >>> Row("iris", "k-NN", "error", 0.05, {"plain": 0.04}, lower_is_better=True).verdict
        'LOSES'
        """
        gain = self.ours - self.rivals[self.best_rival]
        gain = -gain if self.lower_is_better else gain
        return "ties" if abs(gain) <= self.tie + 1e-12 else "wins" if gain > 0 else "LOSES"

    def line(self) -> str:
        """The row as text."""
        rivals = ", ".join(f"{name} {value:.3f}" for name, value in self.rivals.items())
        return f"{self.verdict:5}  {self.task}; {self.data}: {self.measure} {self.ours:.3f} ({rivals})"

    def record(self) -> dict[str, Any]:
        """The row as JSON."""
        return asdict(self) | ({} if self.missing else {"best_rival": self.best_rival, "verdict": self.verdict})
