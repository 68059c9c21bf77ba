"""What every reproduction needs: comparisons with the source, a figure, and both on disk."""

from __future__ import annotations

import copy
import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sidelight.maps.interpolation import smooth_part

if TYPE_CHECKING:
    from matplotlib.figure import Figure

RESULTS = Path(__file__).parent / "results"


def with_published_map(model: Any) -> Any:
    """A copy of the model whose backward map is the source's kernel regression, not exact at training rows (3.23)."""
    published = copy.copy(model)
    published.backward_ = smooth_part(model.backward_)
    return published


@dataclass(frozen=True)
class Comparison:
    """A number of ours beside what the source says (``passed=None``: there is no bar)."""

    what: str
    ours: float
    source: str = "not given"
    bar: str = ""
    passed: bool | None = None


@dataclass
class Outcome:
    """What came out of a reproduction. The first comparison is its headline."""

    setting: str
    figure: Figure
    caption: str
    comparisons: list[Comparison] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    details: dict[str, Any] = field(default_factory=dict)

    @property
    def passed(self) -> bool:
        """Whether every comparison that has a bar met it."""
        return all(comparison.passed is not False for comparison in self.comparisons)

    def at_least(self, what: str, ours: float, bar: float, source: str = "not given") -> None:
        """Add a number that must not be smaller than ``bar``."""
        self.comparisons.append(Comparison(what, float(ours), source, f"≥ {bar:g}", bool(ours >= bar)))

    def at_most(self, what: str, ours: float, bar: float, source: str = "not given", *, name: str = "") -> None:
        """Add a number that must not be larger than ``bar`` (shown by ``name``, where it has one)."""
        shown = f"≤ {name} ({bar:.4g})" if name else f"≤ {bar:g}"
        self.comparisons.append(Comparison(what, float(ours), source, shown, bool(ours <= bar)))

    def within(self, what: str, ours: float, low: float, high: float, source: str = "not given") -> None:
        """Add a number that must lie between two others."""
        bar = f"{low:g} to {high:g}"
        self.comparisons.append(Comparison(what, float(ours), source, bar, bool(low <= ours <= high)))

    def note(self, what: str, ours: float, source: str = "not given") -> None:
        """Add a number without a bar."""
        self.comparisons.append(Comparison(what, float(ours), source))


def write(folder: Path, name: str, title: str, source: str, outcome: Outcome, seconds: float) -> Path:
    """Write ``NAME.png`` and ``NAME.json`` into a folder; return the path of the latter."""
    folder.mkdir(parents=True, exist_ok=True)
    outcome.figure.savefig(folder / f"{name}.png", dpi=150, metadata={"Software": None})
    headline = outcome.comparisons[0]
    content = {
        "name": name,
        "title": title,
        "source": source,
        "setting": outcome.setting,
        "source_number": headline.source,
        "our_number": headline.ours,
        "bar": headline.bar,
        "passed": outcome.passed,
        "command": f"python -m reproductions {name}",
        "seconds": round(seconds, 1),
        "notes": outcome.notes,
        "caption": outcome.caption,
        "comparisons": [asdict(comparison) for comparison in outcome.comparisons],
        "details": outcome.details,
    }
    path = folder / f"{name}.json"
    path.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n")
    return path


def table(outcome: Outcome) -> str:
    """The comparisons as lines of text."""
    header = ("what", "ours", "source", "bar", "")
    rows = [header, *(_cells(comparison) for comparison in outcome.comparisons)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(header))]
    lines = ["  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]
    lines.insert(1, "  " + "-" * (sum(widths) + 2 * (len(widths) - 1)))
    return "\n".join(line.rstrip() for line in lines)


def _cells(comparison: Comparison) -> tuple[str, ...]:
    verdict = "" if comparison.passed is None else ("met" if comparison.passed else "NOT MET")
    return comparison.what, f"{comparison.ours:.4g}", comparison.source, comparison.bar, verdict
