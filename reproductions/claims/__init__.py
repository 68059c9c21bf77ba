"""What the sources claim, and whether it holds: a page of the docs for each source, its claims by reproduction.

A reproduction that is run again changes the numbers of its claims by itself (they are named, not copied); look at its
verdict then, in the file of its source, and write the pages with ``python -m reproductions --page``.
"""

from __future__ import annotations

from dataclasses import dataclass

from reproductions.claims import ours, s0_ch3, s0_ch4, s0_ch5_ch6, s1, s2, s4
from reproductions.claims.claim import VERDICTS, Claim, rows_in_the_setting_of_the_source, short, with_numbers

__all__ = [
    "PAGES",
    "VERDICTS",
    "Claim",
    "SourcePage",
    "claims_of",
    "rows_in_the_setting_of_the_source",
    "short",
    "with_numbers",
]


@dataclass(frozen=True)
class SourcePage:
    """A page of the docs: its file under docs/results, its title, and the claims of each reproduction on it."""

    file: str
    title: str
    claims: dict[str, tuple[Claim, ...]]


PAGES = (
    SourcePage("s0_ch3.md", "S0 chapter 3: kernel information embedding", s0_ch3.CLAIMS),
    SourcePage("s0_ch4.md", "S0 chapter 4: multiple relational embedding", s0_ch4.CLAIMS),
    SourcePage("s0_ch5_ch6.md", "S0 chapters 5 and 6: gated models", s0_ch5_ch6.CLAIMS),
    SourcePage("s1.md", "S1: joint embeddings", s1.CLAIMS),
    SourcePage("s2.md", "S2: coordination of mixtures", s2.CLAIMS),
    SourcePage("s4_ch1_ch2.md", "S4 chapters 1 and 2: spectral methods and hybrids", s4.SPECTRAL),
    SourcePage("s4_ch3.md", "S4 chapter 3: metrics", s4.METRICS),
    SourcePage("s4_ch4.md", "S4 chapter 4: actions", s4.ACTIONS),
    SourcePage("ours.md", "Experiments without a source", ours.CLAIMS),
)


def claims_of(name: str) -> tuple[Claim, ...]:
    """The claims that a reproduction is about; empty where nobody has written them."""
    return next((page.claims[name] for page in PAGES if name in page.claims), ())
