"""A claim of a source: its number, ours in its setting and by default, and whether it holds."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

Verdict = Literal["holds", "holds with luck", "does not hold", "open", "no claim"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
_NUMBER = re.compile(r"\{([^{}]+)\}")


@dataclass(frozen=True)
class Claim:
    """A row of the summary tables.

    Parameters
    ----------
    figure : str
        Where it stands in the source, as "fig. 3.1".
    claim : str
        What the source says, in a few words.
    source : str
        The number of the source; "a picture" where there is none.
    published, default : str
        Our number in the setting of the source, and by default. ``{what}`` stands for the number of the comparison of
        that name in the results of the reproduction.
    verdict : {"holds", "holds with luck", "does not hold", "open", "no claim"}
        "with luck": for some starts or draws only. "open": the setting of the source has not been run. "no claim":
        the source has no such experiment.
    because : str
        The reason, needed for every verdict but "holds".
    """

    figure: str
    claim: str
    source: str = "a picture"
    published: str = "not run"
    default: str = ""
    verdict: Verdict = "holds"
    because: str = ""

    def __post_init__(self) -> None:
        if self.verdict not in VERDICTS:
            raise ValueError(f"Claim: verdict={self.verdict!r} is unknown. Use one of {', '.join(VERDICTS)}.")
        if self.verdict != "holds" and not self.because:
            raise ValueError(f"Claim: because='' is empty for {self.figure} ({self.verdict}). Say why.")


def with_numbers(claim: Claim, comparisons: Iterable[Mapping[str, Any]]) -> Claim:
    """The claim with the numbers of its reproduction filled in.

    A number that is not among the comparisons, and a claim that holds although one of its numbers in the setting of
    the source missed its bar, are refused: the verdict has to be looked at again.
    """
    rows = list(comparisons)

    def number(match: re.Match[str]) -> str:
        found = [row for row in rows if row["what"] == match[1]]
        if not found:
            raise ValueError(f"Claim: {claim.figure} names {match[1]!r}, which is no comparison. Name one of the JSON.")
        return short(found[0]["ours"])

    named = set(_NUMBER.findall(claim.published))
    missed = [row["what"] for row in rows if row["what"] in named and row["passed"] is False]
    if missed and claim.verdict == "holds":
        raise ValueError(f"Claim: {claim.figure} holds, but {missed[0]!r} missed its bar. Look at the verdict again.")
    filled = {name: _NUMBER.sub(number, getattr(claim, name)) for name in ("published", "default", "because")}
    return replace(claim, **filled)


def rows_in_the_setting_of_the_source(claims: Iterable[Claim]) -> set[str]:
    """Names of the comparisons that the claims show as ours in the setting of the source."""
    return {name for claim in claims for name in _NUMBER.findall(claim.published)}


def short(value: float) -> str:
    """A number with three digits, or whole from a thousand on."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
