"""Treatment of missing entries, as a value of the parameter ``missing``."""

from __future__ import annotations

from dataclasses import dataclass

from sidelight.base.messages import error_message
from sidelight.base.options import OptionValue
from sidelight.base.validation import check_choice, check_integer

__all__ = ["Missing"]

METHODS = ("refuse", "impute", "expected", "project")
_STARTS = ("neighbours", "nearest")


@dataclass(frozen=True, repr=False)
class Missing(OptionValue):
    """How missing entries (NaN) are treated, with options.

    For the parameter ``missing`` of :class:`KernelInformationEmbedding`, where a name alone stands for
    ``Missing(name)``.

    Parameters
    ----------
    method : "refuse", "impute", "expected" or "project", default="refuse"
        "refuse": raise an error. "impute": local regression on the nearest rows. "expected": the same, and the variance
        of the entries enters the kernel. "project": fill, embed, project, repeat (S0 3.1.5): fill the entries, fit the
        model, and replace them by ``inverse_transform(transform(X))``.
    rounds : int, default=1
        With "project": how often the model is fitted and the entries replaced, before the last fit. The source does it
        once; more rounds smooth more.
    start : "neighbours" or "nearest", default="neighbours"
        With "project": how entries are filled first. "neighbours": local regression, as "impute" does. "nearest": the
        nearest row of the trajectory that has the entry, the source's heuristic; needs ``fit(X, trajectory=...)``.

    See Also
    --------
    KernelInformationEmbedding : Takes it as ``missing``.
    Imputer : A table without gaps, with intervals.

    Examples
    --------
    >>> import numpy as np
    >>> from sidelight import KernelInformationEmbedding, Missing
    >>> from sidelight.datasets import s_curve
    >>> X = s_curve(100, random_state=0).X
    >>> X[::7, 1] = np.nan
    >>> model = KernelInformationEmbedding(missing=Missing("project", rounds=2)).fit(X)
    >>> bool(np.isfinite(model.filled_).all())
    True
    """

    method: str = "refuse"
    rounds: int = 1
    start: str = "neighbours"

    @property
    def fills(self) -> bool:
        """Whether missing entries are accepted, and so filled."""
        return self.method != "refuse"

    def check(self, owner: str, argument: str) -> None:
        """Raise ValueError for an unknown method, and for options out of range or without effect."""
        check_choice(owner, argument, self.method, METHODS)
        check_integer(owner, "missing.rounds", self.rounds, 1)
        check_choice(owner, "missing.start", self.start, _STARTS)
        for name, value, default in (("rounds", self.rounds, 1), ("start", self.start, "neighbours")):
            if self.method != "project" and value != default:
                rule = f"is for the method 'project', and this is {self.method!r}"
                raise ValueError(error_message(owner, f"missing.{name}", value, rule, "Leave it out"))
